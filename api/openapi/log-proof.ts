import { z } from '@hono/zod-openapi';

/** That a receipt is in the transparency log. Both services have it. */
export const LogProofBody = z
  .object({
    origin: z.string().openapi({ description: 'The log’s name.' }),
    index: z.int().min(0).openapi({ description: 'The leaf’s index in the log.' }),
    tlog_proof: z
      .string()
      .openapi({ description: 'The text of a C2SP tlog-proof: the inclusion proof and the cosigned checkpoint.' }),
  })
  .nullable()
  .openapi('LogProof', {
    description:
      'Proves that the receipt is in the transparency log, as witnesses saw it; null until they have cosigned a checkpoint that covers it. The leaf is the receipt, verbatim, or `receipt-hash/v1` with its hash. Once given, a leaf’s proof never changes.',
  });

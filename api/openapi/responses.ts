import { z } from '@hono/zod-openapi';
import { type FaultStatus, faultRef } from './faults.ts';
import { headerRefs } from './headers.ts';

const Problem = z
  .object({ field: z.string(), rule: z.string(), message: z.string(), offset: z.int().optional() })
  .openapi('Problem', { description: 'One broken rule.' });

export const ErrorBody = z
  .looseObject({
    error: z.string().openapi({ description: 'A stable code.' }),
    message: z.string().openapi({ description: 'What was wrong, with which value, and what to do.' }),
    field: z.string().optional().openapi({ description: 'The parameter or member that was wrong.' }),
    problems: z
      .array(Problem)
      .max(100)
      .optional()
      .openapi({ description: 'Every rule that was broken, or the first hundred.' }),
    problems_total: z
      .int()
      .optional()
      .openapi({ description: 'How many problems there are in all; given when not all of them are listed.' }),
    withdrawn_at: z.iso.datetime().optional().openapi({ description: 'Of a piece that was withdrawn.' }),
    reason: z
      .string()
      .nullish()
      .openapi({ description: 'The reason, as a stable word; for a piece, why it was withdrawn.' }),
  })
  .openapi('Error', { example: { error: 'not_found', message: 'there is nothing at this address' } });

export const ProblemDetails = ErrorBody.safeExtend({
  type: z.string(),
  title: z.string().optional(),
  status: z.int(),
  detail: z.string().openapi({ description: 'The same as `message`.' }),
}).openapi('ProblemDetails', {
  description: 'An error as RFC 9457 has it, for those who ask with `Accept: application/problem+json`.',
  example: {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'there is nothing at this address',
    error: 'not_found',
    message: 'there is nothing at this address',
  },
});

/** Responses for faults, to spread beside the successful ones. Those that any operation may return are added to all. */
export function faults(...statuses: FaultStatus[]) {
  return Object.fromEntries(statuses.map((status) => [status, faultRef(status)])) as Record<
    FaultStatus,
    { $ref: string }
  >;
}

/** A JSON response. */
export function ok<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** A JSON response about a new record with its own URL. */
export function created<T extends z.ZodType>(schema: T, description: string) {
  return { ...ok(schema, description), headers: headerRefs({ Location: 'Location' }) };
}

/** A JSON request body, required by default. */
export function body<T extends z.ZodType>(schema: T, required = true) {
  return { required, content: { 'application/json': { schema } } };
}

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

/** The header that makes a write safe to retry. */
export const IDEMPOTENCY = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .openapi({ description: 'A name for this write. A repeat within 24 hours is not carried out twice.' }),
});

import { z } from '@hono/zod-openapi';

/** The header that makes a write safe to retry. */
export const IDEMPOTENCY = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .openapi({ description: 'A name for this write: sent again within 24 hours it is not done twice.' }),
});

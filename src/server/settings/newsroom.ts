import * as z from 'zod';
import { duration } from './variable.ts';

/** What the server remembers of those who work on papers. */
export const newsroom = z
  .object({
    /**
     * How long the log of activity keeps who changed what of a paper. Older rows are deleted, because they say from which
     * network a person worked; what was published stays in the ledger for ever.
     */
    ACTIVITY_KEPT: duration('400d', 86_400, 3_650),
  })
  .transform((env) => ({ activityKept: env.ACTIVITY_KEPT }));

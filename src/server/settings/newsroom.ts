import * as z from 'zod';
import { duration } from './variable.ts';

/** What the server remembers about people who work on papers, and about reads of pages. */
export const newsroom = z
  .object({
    /**
     * How long the log of activity keeps who changed what of a paper. Older rows are deleted, because they show from
     * which network a person worked; published pieces stay in the ledger for ever.
     */
    ACTIVITY_KEPT: duration('400d', 86_400, 3_650),
    /**
     * `on`: counts how often pages are read, as sums of a day without cookies, addresses or anything else about readers.
     */
    PAGE_COUNTS: z.enum(['on', 'off'], { error: 'must be on or off' }).default('off'),
  })
  .transform((env) => ({ activityKept: env.ACTIVITY_KEPT, pageCounts: env.PAGE_COUNTS === 'on' }));

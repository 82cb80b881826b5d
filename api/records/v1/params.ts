import { z } from '@hono/zod-openapi';
import { SIGNAL_TYPES } from '../../../src/records/signal.ts';
import type { TrackedName } from '../../../src/records/tracked-values.ts';
import { parseSpan } from '../../../src/time.ts';

/** A hostname in the path; what is none is refused by `requireHost`. */
export const domainParam = z.object({
  domain: z.string().openapi({
    param: { name: 'domain', in: 'path' },
    description: 'A hostname, in Unicode or in A-labels.',
    example: 'example.com',
  }),
});

/** The same as a filter. */
export const domainFilter = z
  .string()
  .optional()
  .openapi({ description: 'Only of this hostname; one that is not under watch is refused.' });

/** What is looked at, and what changes are of. */
const TYPES: readonly TrackedName[] = [...SIGNAL_TYPES, 'CERTIFICATE'];

export const typeParam = z
  .string()
  .transform((text) => text.toUpperCase())
  .pipe(z.enum(TYPES, { error: `must be one of ${TYPES.join(', ')}` }))
  .optional()
  .openapi({
    type: 'string',
    enum: [...TYPES],
    description: 'Only of this type. In capitals or not.',
  });

/** Words to look for; without a letter or a digit among them nothing could be found. */
export const wordsParam = z
  .string('must be 1 to 253 characters, as in ?q=example')
  .trim()
  .max(253, 'must have at most 253 characters')
  .regex(/[\p{L}\p{N}]/u, 'must have a letter or a digit')
  .openapi({ type: 'string', minLength: 1, maxLength: 253 });

const TIME = 'must be a day or a time of the calendar, as in 2026-11-20 or 2026-11-20T09:30:00Z (a + goes as %2B)';

/** A time in a query, in ms: the beginning or the end of what is given, a day being all of that UTC day. */
function timeParam(edge: 'from' | 'until', description: string, example?: string) {
  return z
    .string()
    .transform((text, context) => {
      const span = parseSpan(text);
      if (span !== null) return span[edge];
      context.addIssue(TIME);
      return z.NEVER;
    })
    .optional()
    .openapi({ type: 'string', description, ...(example === undefined ? {} : { example }) });
}

export const sinceParam = timeParam(
  'from',
  'From this time on: a UTC day (from its beginning) or a time with its zone.',
  '2026-11-01',
);
/** The first millisecond that is not within. */
export const untilParam = timeParam('until', 'Up to this time: a UTC day (to its end) or a time with its zone.');
/** The first millisecond after the time asked for. */
export const asOfParam = timeParam(
  'until',
  'As it stood at this time: a UTC day (at its end) or a time with its zone. The newest without it.',
);

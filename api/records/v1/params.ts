import { z } from '@hono/zod-openapi';
import { SIGNAL_TYPES } from '../../../src/proof/records/signal.ts';
import { parseSpan } from '../../../src/proof/time.ts';
import type { TrackedName } from '../../../src/records/tracked-values.ts';
import { cursorParam, limitParam } from '../../responses/paging.ts';

/** A hostname in the path. `requireHost` rejects invalid ones. */
export const domainParam = z.object({
  domain: z.string().openapi({
    param: { name: 'domain', in: 'path' },
    description: 'A hostname, in Unicode or A-labels.',
    example: 'example.com',
  }),
});

export const ChangeCursor = z.tuple([z.int().min(0)]);

export const domainFilter = z.string().optional().describe('Only this hostname; an unwatched one is rejected.');

/** The observed signals, and the certificate, to which changes refer. */
const TYPES: readonly TrackedName[] = [...SIGNAL_TYPES, 'CERTIFICATE'];

export const typeParam = z
  .string()
  .transform((text) => text.toUpperCase())
  .pipe(z.enum(TYPES, { error: `must be one of ${TYPES.join(', ')}` }))
  .optional()
  .openapi({
    type: 'string',
    enum: [...TYPES],
    description: 'Only this type, case-insensitive.',
  });

/** Search words. Without a letter or a digit there is nothing to search for. */
export const wordsParam = z
  .string('must be 1 to 253 characters, as in ?q=example')
  .trim()
  .max(253, 'must have at most 253 characters')
  .regex(/[\p{L}\p{N}]/u, 'must have a letter or a digit')
  .openapi({ type: 'string', minLength: 1, maxLength: 253 });

const TIME = 'must be a date or a time, as in 2026-11-20 or 2026-11-20T09:30:00Z (encode + as %2B)';

/** A time in a query, in ms: the start or the end of the given time, where a date is that whole UTC day. */
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
  'From this time: a UTC date (from its start) or a time with its zone.',
  '2026-11-01',
);
/** The first millisecond after the span. */
export const untilParam = timeParam('until', 'Until this time: a UTC date (to its end) or a time with its zone.');
export const spanQuery = z.object({
  type: typeParam,
  since: sinceParam,
  until: untilParam,
  limit: limitParam(100, 1_000),
  cursor: cursorParam,
});

/** Which changes of rotating names a request asks for. */
export const rawParam = z
  .string()
  .regex(/^1$/, 'must be 1, which asks for each answer of names that rotate')
  .transform(() => 'answers' as const)
  .optional()
  .openapi({
    type: 'string',
    enum: ['1'],
    description: 'Each answer of names whose addresses rotate, instead of the changes of their sets.',
  });

/** Asks for the price instead of a preview. The lane reads it before the request is checked. */
export const payParam = z
  .string()
  .regex(/^1$/, 'must be 1, which asks for the price (402) instead of a preview')
  .optional()
  .describe('Asks for the price (402) instead of a preview. Without effect beside a key or a payment.');
export const preferHeader = z.object({
  prefer: z.string().optional().describe('`payment` asks for the price, as `pay=1` does.'),
});

export const asOfParam = z
  .string()
  .transform((text, context) => {
    const span = parseSpan(text);
    if (span !== null) return { text, span };
    context.addIssue(TIME);
    return z.NEVER;
  })
  .optional()
  .openapi({
    type: 'string',
    description:
      'As of this time: a UTC date (its end) or a time with its zone, not in the future. The latest without it.',
  });

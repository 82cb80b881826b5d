import { z } from '@hono/zod-openapi';

/** Which faults an operation may answer with, besides those that every one may. */
type FaultStatus = 400 | 401 | 403 | 404 | 409 | 410 | 413 | 415 | 422 | 429 | 501;

const Problem = z
  .object({ field: z.string(), rule: z.string(), message: z.string(), offset: z.int().optional() })
  .openapi('Problem', { description: 'One broken rule.' });

export const ErrorBody = z
  .looseObject({
    error: z.string().openapi({ description: 'A code that stays the same.' }),
    message: z.string().openapi({ description: 'What was wrong, with which value, and what to do.' }),
    field: z.string().optional().openapi({ description: 'The parameter or member that was wrong.' }),
    problems: z.array(Problem).optional(),
    withdrawn_at: z.iso.datetime().optional(),
    reason: z.string().nullish(),
  })
  .openapi('Error', { example: { error: 'not_found', message: 'there is nothing at this address' } });

const ProblemDetails = ErrorBody.extend({
  type: z.string(),
  title: z.string().optional(),
  status: z.int(),
  detail: z.string(),
}).openapi('ProblemDetails', { description: 'The same as RFC 9457 has it.' });

const WORDS: Record<FaultStatus | 405 | 500 | 503, string> = {
  400: '`invalid_request`: a parameter or the body is malformed; `field` names it.',
  401: '`key_required`, `key_invalid`: no key, or one that is unknown or revoked.',
  403: '`wrong_paper`, `level_too_low`, `terms_unsigned`: the key may not do this here.',
  404: '`not_found`: no such paper or piece. A private paper looks the same.',
  405: '`method_not_allowed`: `Allow` names those that are.',
  409: '`conflict`: the slug is taken, or the revision was made from an older one.',
  410: '`withdrawn`: the piece was on air and was taken off.',
  413: '`too_large`: the body is over 1 MiB.',
  415: '`unsupported_media_type`: the body is not JSON.',
  422: '`refused_by_door`: the piece breaks the desk’s rules; `problems` has every one.',
  429: '`rate_limited`: `Retry-After` says when to try again, in seconds.',
  500: '`internal`: the log has it under `X-Request-Id`.',
  501: '`not_implemented`: a format that is not offered.',
  503: '`unavailable`: try again after `Retry-After` seconds.',
};

/** Responses for faults, to be spread beside the good ones. */
export function faults(...statuses: FaultStatus[]) {
  const all = [...statuses, 401, 403, 404, 429, 500, 503] as const;
  const entries = [...new Set(all)].sort().map((status) => [
    status,
    {
      description: WORDS[status],
      content: { 'application/json': { schema: ErrorBody }, 'application/problem+json': { schema: ProblemDetails } },
    },
  ]);
  return Object.fromEntries(entries) as Record<
    FaultStatus,
    { description: string; content: { 'application/json': { schema: typeof ErrorBody } } }
  >;
}

/** A JSON answer. */
export function ok<T extends z.ZodType>(schema: T, description: string) {
  return { description, content: { 'application/json': { schema } } };
}

/** A JSON body that must be there. */
export function body<T extends z.ZodType>(schema: T, required = true) {
  return { required, content: { 'application/json': { schema } } };
}

/** Open to all; a key reads its own desk, private papers included. */
export const PUBLIC: Record<string, string[]>[] = [{}, { bearer: [] }, { header: [] }];
/** Wants a key. */
export const KEYED: Record<string, string[]>[] = [{ bearer: [] }, { header: [] }];

/** The envelope of a list (wire.md, section 3). */
export function listSchema<T extends z.ZodType>(id: string, name: string, row: T) {
  return z
    .object({
      desk: z.string().openapi({ description: 'The paper’s slug.' }),
      nameplate: z.string(),
      count: z.int().min(0).openapi({ description: 'Rows in this answer.' }),
      [name]: z.array(row),
      next_cursor: z.string().nullable().openapi({ description: 'Where the list goes on, or null.' }),
    })
    .openapi(id);
}

/** Options of a list that a cursor goes through. */
export const IDEMPOTENCY = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .openapi({ description: 'A name for this write: sent again within 24 hours it is not done twice.' }),
});

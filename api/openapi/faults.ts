import { entriesOf } from '../../src/proof/narrow.ts';
import type { FaultCode } from '../../src/shared/fault.ts';
import { FAULT_STATUS } from '../middleware/fault.ts';
import { headerRefs } from './headers.ts';

/** Statuses of faults that any operation may return. A query that is not UTF-8 also gets 400. */
export const EVERYWHERE = [400, 401, 403, 404, 405, 429, 431, 500, 503] as const;

/** An Idempotency-Key that another request used (IETF, draft-ietf-httpapi-idempotency-key-header). */
export const KEY_REUSED = [
  'the Idempotency-Key was the key of another request within 24 hours, and nothing was done; give each write a key of its own.',
  'Idempotency-Key: "5f6e" was the key of another request within 24 hours; give each write a key of its own',
  { field: 'Idempotency-Key' },
] as const;

/** The name of each status's response among the components. */
const NAMES = {
  400: 'InvalidRequest',
  401: 'Unauthorized',
  402: 'PaymentRequired',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Withdrawn',
  413: 'TooLarge',
  415: 'UnsupportedMediaType',
  421: 'Misdirected',
  422: 'Unprocessable',
  429: 'RateLimited',
  431: 'HeadersTooLarge',
  500: 'Internal',
  501: 'NotImplemented',
  503: 'Unavailable',
} as const;

export type FaultStatus = keyof typeof NAMES;

type Code = FaultCode | 'internal' | 'headers_too_large';

/** The values of `error`: what each means, an example of its message, and of further members. */
export type Faults = Partial<Record<Code, readonly [meaning: string, message: string, more?: object]>>;

const STATUS: Record<Code, number> = { ...FAULT_STATUS, internal: 500, headers_too_large: 431 };

/** Headers beside X-Request-Id: their names on the wire, and among the components. */
const HEADERS: Partial<Record<FaultStatus, Record<string, string>>> = {
  401: { 'WWW-Authenticate': 'Challenge' },
  402: { 'PAYMENT-REQUIRED': 'PaymentRequired', 'Preference-Applied': 'PreferenceApplied' },
  405: { Allow: 'Allow' },
  429: { 'Retry-After': 'RetryAfter' },
  503: { 'Retry-After': 'RetryAfter' },
};

/** Faults that every service describes alike. */
export const COMMON_FAULTS = {
  method_not_allowed: [
    'the address takes other methods; `Allow` names them.',
    'PATCH is not allowed here; use GET, HEAD, OPTIONS',
  ],
  unsupported_media_type: [
    'the body has a type that this route does not take, or it is compressed.',
    'the body is "text/plain"; send JSON, with Content-Type: application/json',
  ],
  headers_too_large: [
    'the address and headers are larger than 16 KiB in all. The connection is closed.',
    'the address and headers of the request are larger than 16384 bytes (16 KiB); send shorter ones, or fewer',
  ],
  internal: [
    'a defect in this server. Its log has the details under the response’s X-Request-Id.',
    'internal error; the server’s log has it under X-Request-Id',
  ],
} satisfies Faults;

/** A reference to the response of a fault. */
export function faultRef(status: FaultStatus): { $ref: string } {
  return { $ref: `#/components/responses/${NAMES[status]}` };
}

/** The responses of a service's faults, by the names that `faultRef` uses. Each code has an example of that name. */
export function faultResponses(faults: Faults): Record<string, object> {
  const byStatus = Object.groupBy(entriesOf(faults), ([code]) => STATUS[code]);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, codes = []]) => {
      const known = Number(status) as FaultStatus;
      return [NAMES[known], responseOf(known, codes)];
    }),
  );
}

function responseOf(status: FaultStatus, codes: [string, NonNullable<Faults[Code]>][]): object {
  const bodies = codes.map(([error, [, message, more]]) => ({ error, message, ...more }));
  const problems = bodies.map((body) => ({ type: 'about:blank', status, detail: body.message, ...body }));
  const json = (schema: string, shown: { error: string }[]) => ({
    schema: { $ref: `#/components/schemas/${schema}` },
    examples: Object.fromEntries(shown.map((value) => [value.error, { value }])),
  });
  return {
    description: codes.map(([code, [meaning]]) => `\`${code}\`: ${meaning}`).join('\n\n'),
    headers: headerRefs({ 'X-Request-Id': 'RequestId', ...HEADERS[status] }),
    content: {
      'application/json': json('Error', bodies),
      // Node answers 431 before `Accept` can be read.
      ...(status === 431 ? {} : { 'application/problem+json': json('ProblemDetails', problems) }),
    },
  };
}

import type { FaultCode } from '../../src/fault.ts';
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
  422: 'Unprocessable',
  429: 'RateLimited',
  431: 'HeadersTooLarge',
  500: 'Internal',
  501: 'NotImplemented',
  503: 'Unavailable',
} as const;

export type FaultStatus = keyof typeof NAMES;

/** The error responses of one status. */
export interface FaultAnswer {
  /** The possible values of `error`, each with its meaning and an example message. */
  codes: Partial<
    Record<FaultCode | 'internal' | 'headers_too_large', readonly [meaning: string, message: string, more?: object]>
  >;
  /** Headers beside X-Request-Id: their names on the wire, and among the components. */
  headers?: Record<string, string>;
  /** Members beside `error` and `message` in the examples of codes that have none of their own. */
  more?: object;
  /** Whether it is sent before `Accept` can be read, and so never in the format of RFC 9457. */
  isBare?: boolean;
}

/** Faults that every service describes alike. */
export const COMMON_FAULTS = {
  405: {
    codes: {
      method_not_allowed: [
        'the address takes other methods; `Allow` names them.',
        'PATCH is not allowed here; use GET, HEAD, OPTIONS',
      ],
    },
    headers: { Allow: 'Allow' },
  },
  415: {
    codes: {
      unsupported_media_type: [
        'the body has a type that this route does not take, or it is compressed.',
        'the body is "text/plain"; send JSON, with Content-Type: application/json',
      ],
    },
  },
  431: {
    codes: {
      headers_too_large: [
        'the address and headers are larger than 16 KiB in all. The connection is closed.',
        'the address and headers of the request are larger than 16384 bytes (16 KiB); send shorter ones, or fewer',
      ],
    },
    isBare: true,
  },
  500: {
    codes: {
      internal: [
        'a defect here. The log has it under the answer’s X-Request-Id.',
        'internal error; the server’s log has it under X-Request-Id',
      ],
    },
  },
} satisfies Partial<Record<FaultStatus, FaultAnswer>>;

/** A reference to the response of a fault. */
export function faultRef(status: FaultStatus): { $ref: string } {
  return { $ref: `#/components/responses/${NAMES[status]}` };
}

/** The responses of a service's faults, by the names that `faultRef` uses. Each code has an example of that name. */
export function faultResponses(answers: Partial<Record<FaultStatus, FaultAnswer>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      NAMES[Number(status) as FaultStatus],
      responseOf(Number(status), answer),
    ]),
  );
}

function responseOf(status: number, { codes, headers = {}, more = {}, isBare = false }: FaultAnswer): object {
  const examples = Object.entries(codes).map(
    ([code, [, message, own = more]]) => [code, { value: { error: code, message, ...own } }] as const,
  );
  const problems = examples.map(([code, { value }]) => {
    const problem = { type: 'about:blank', status, detail: value.message, ...value };
    return [code, { value: problem }] as const;
  });
  const json = (schema: string, shown: (readonly [string, object])[]) => ({
    schema: { $ref: `#/components/schemas/${schema}` },
    examples: Object.fromEntries(shown),
  });
  return {
    description: Object.entries(codes)
      .map(([code, [meaning]]) => `\`${code}\`: ${meaning}`)
      .join('\n\n'),
    headers: headerRefs({ 'X-Request-Id': 'RequestId', ...headers }),
    content: {
      'application/json': json('Error', examples),
      ...(isBare ? {} : { 'application/problem+json': json('ProblemDetails', problems) }),
    },
  };
}

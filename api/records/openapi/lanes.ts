import type { Access } from '../../../src/records/meter/lane.ts';
import type { Operation } from '../../openapi/document.ts';
import type { FaultStatus } from '../../openapi/faults.ts';

const whole = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
});
const credits = (description: string, example: number) => ({
  description,
  schema: { type: 'number', minimum: 0 },
  example,
});
const text = (description: string, example?: string) => ({
  description,
  schema: { type: 'string' },
  ...(example === undefined ? {} : { example }),
});

/** Meter headers of keyed responses; the plan decides which are present (protocol 9.4). */
const METER = {
  'X-Service-Usage': whole('Requests counted this month (UTC).', 1_204),
  'X-Service-Usage-Day': whole('Requests counted today (UTC).', 12),
  'X-Service-Usage-Period': text('The month, YYYY-MM (UTC).', '2026-11'),
  'X-Service-Daily-Allowance': whole('Included requests for today.', 1_000),
  'X-Service-Daily-Remaining': whole('Included requests left today.', 988),
  'X-Service-Daily-Reset': whole('Unix seconds of the next 00:00 UTC.', 1_795_305_600),
  'X-Service-Credits-Allowance': credits('Daily credit plan: today’s included requests at 0.05 credits each.', 50),
  'X-Service-Credits-Used': credits(
    'Daily credit plan: all of today’s requests at 0.05 credits each, also those on bought credits.',
    0.6,
  ),
  'X-Service-Credits-Remaining': credits(
    'Daily credit plan: included credits left today. At 0, requests use the balance.',
    49.4,
  ),
  'X-Service-Credits-Reset': whole('Daily credit plan: Unix seconds of the next 00:00 UTC.', 1_795_305_600),
  'X-Service-Allowance': whole('Legacy monthly plan: included requests this month.', 30_000),
  'X-Service-Remaining': whole('Legacy monthly plan: included requests left this month.', 28_796),
  'X-Service-Reset': whole('Legacy monthly plan: Unix seconds of the next month.', 1_796_083_200),
  'X-Service-Burst': whole('Current daily burst multiple; 1 is the account’s own daily share.', 1),
  'X-Service-Credits-Balance': credits(
    'Bought credits left. Requests beyond the included ones cost 0.05 each. Never reset.',
    12.5,
  ),
  RateLimit: text('Requests left in the key’s minute (IETF draft).', '"minute";r=87;t=42'),
  'RateLimit-Policy': text('The rate limit of the key (IETF draft).', '"minute";q=100;w=60'),
};

/** Headers of keyless responses (protocol 9.3). */
const KEYLESS = {
  'X-RateLimit-Limit': whole('Requests per 15 seconds and address.', 1),
  'X-RateLimit-Remaining': whole('Requests left.', 0),
  'X-RateLimit-Reset': whole('Unix seconds of the next allowed request.', 1_795_255_215),
};

const PAID = {
  'X-PAYMENT-RESPONSE': text('Outcome of an x402 version 1 payment: JSON in base64.'),
  'PAYMENT-RESPONSE': text('Outcome of an x402 version 2 payment: JSON in base64.'),
};

/** Headers of successful responses on each group of lanes, by their name on the wire. */
export const HEADERS_OF = { meter: names(METER), keyless: names(KEYLESS), paid: names(PAID) };

export const HEADERS: Record<string, object> = {
  ETag: {
    description: 'The entity tag of this response. Responses to a key have none.',
    schema: { type: 'string' },
    example: '"VFB3rkHqIc2zQ6aJ0n6r1w"',
  },
  PaymentRequired: text('The x402 version 2 price menu: JSON in base64. Absent where payments are not accepted.'),
  PreferenceApplied: text('The preference that was honoured (RFC 7240).', 'payment'),
  ...Object.fromEntries(
    Object.entries({ ...METER, ...KEYLESS, ...PAID }).map(([name, header]) => [componentOf(name), header]),
  ),
};

function names(headers: Record<string, object>): Record<string, string> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, componentOf(name)]));
}

function componentOf(name: string): string {
  return name.replaceAll('-', '');
}

type Way = Record<string, string[]>;

interface AccessWords {
  words: string;
  ways: Way[];
  /** Statuses that the lane adds to those of the route. */
  faults: FaultStatus[];
  headers: Record<string, string>;
}

const keys = (...levels: string[]): Way[] => [{ bearer: levels }, { key: levels }];
const PAYMENTS: Way[] = [{ payment: [] }, { paymentV2: [] }];

/** Every access in words, and as OpenAPI security requirements (protocol 9.2). */
export const ACCESS_WORDS: Record<Access, AccessWords> = {
  public: { words: 'Open to everyone and not metered.', ways: [{}, ...keys()], faults: [], headers: {} },
  lookup: {
    words:
      'Keyless: a preview, one request every 15 seconds per address. Keyed: one unit. Or paid per call (x402): `pay=1` or `Prefer: payment` asks for the price.',
    ways: [{}, ...keys('account', 'service', 'operator'), ...PAYMENTS],
    faults: [402, 409],
    headers: { ...HEADERS_OF.keyless, ...HEADERS_OF.meter, ...HEADERS_OF.paid, 'PAYMENT-REQUIRED': 'PaymentRequired' },
  },
  read: {
    words: 'Takes a key of an account, for one unit, or a payment per call (x402).',
    ways: [...keys('account', 'service', 'operator'), ...PAYMENTS],
    faults: [402, 409],
    headers: { ...HEADERS_OF.meter, ...HEADERS_OF.paid },
  },
  export: {
    words: 'Takes a key of an account, for one unit. Payments are not accepted.',
    ways: keys('account', 'service', 'operator'),
    faults: [402],
    headers: HEADERS_OF.meter,
  },
  usage: { words: 'Takes a key of an account and is not metered.', ways: keys('account'), faults: [], headers: {} },
  queue: {
    words: 'Takes a scanner’s or an operator’s key.',
    ways: keys('scanner', 'operator'),
    faults: [],
    headers: {},
  },
  operator: { words: 'Takes an operator’s key.', ways: keys('operator'), faults: [], headers: {} },
};

export function accessOf(operation: Operation): Access {
  return operation['x-access'] as Access;
}

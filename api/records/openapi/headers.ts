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

/** The meter's headers, of keyed answers; which of them come depends on the plan (spec, "Meter headers"). */
const METER = {
  'X-Service-Usage': whole('Requests counted this month (UTC).', 1_204),
  'X-Service-Usage-Day': whole('Requests counted today (UTC).', 12),
  'X-Service-Usage-Period': text('The month, YYYY-MM (UTC).', '2026-11'),
  'X-Service-Daily-Allowance': whole('Included requests for today.', 1_000),
  'X-Service-Daily-Remaining': whole('Included requests left today.', 988),
  'X-Service-Daily-Reset': whole('Unix seconds of the next 00:00 UTC.', 1_795_305_600),
  'X-Service-Credits-Allowance': credits(
    'Daily credit plan: included credits for today, which is the day’s included requests at 0.05 each.',
    50,
  ),
  'X-Service-Credits-Used': credits(
    'Daily credit plan: all of today’s requests at 0.05 each, those on bought credits too.',
    0.6,
  ),
  'X-Service-Credits-Remaining': credits(
    'Daily credit plan: what is left of today’s included credits; requests go on past 0 while the balance lasts.',
    49.4,
  ),
  'X-Service-Credits-Reset': whole('Daily credit plan: Unix seconds of the next 00:00 UTC.', 1_795_305_600),
  'X-Service-Allowance': whole('Legacy monthly plan: included requests this month.', 30_000),
  'X-Service-Remaining': whole('Legacy monthly plan: included requests left this month.', 28_796),
  'X-Service-Reset': whole('Legacy monthly plan: Unix seconds of the next month.', 1_796_083_200),
  'X-Service-Burst': whole('Daily burst multiple in force; 1 means the day is the account’s own share.', 1),
  'X-Service-Credits-Balance': credits(
    'Bought credits that are left: drawn, 0.05 a request, when the included requests are spent; no reset.',
    12.5,
  ),
  RateLimit: text('What is left of the key’s minute (IETF draft).', '"minute";r=87;t=42'),
  'RateLimit-Policy': text('The key’s rate (IETF draft).', '"minute";q=100;w=60'),
};

/** Of keyless answers (spec, "Rate-limit headers"). */
const KEYLESS = {
  'X-RateLimit-Limit': whole('Requests in 15 seconds from one address.', 1),
  'X-RateLimit-Remaining': whole('Of these, how many are left.', 0),
  'X-RateLimit-Reset': whole('Unix seconds when the next one may come.', 1_795_255_215),
};

/** Of paid answers. */
const PAID = {
  'X-PAYMENT-RESPONSE': text('What became of a payment of x402 version 1: JSON in base64.'),
  'PAYMENT-RESPONSE': text('What became of a payment of x402 version 2: JSON in base64.'),
};

/** Which headers good answers carry on each group of lanes, by name on the wire. */
export const HEADERS_OF = { meter: names(METER), keyless: names(KEYLESS), paid: names(PAID) };

/** All of them as components, by the names that `HEADERS_OF` refers to. */
export const HEADERS: Record<string, object> = {
  ETag: {
    description: 'The mark of this answer. An answer to a key has none.',
    schema: { type: 'string' },
    example: '"VFB3rkHqIc2zQ6aJ0n6r1w"',
  },
  PaymentRequired: text('The price menu of x402 version 2: JSON in base64. Absent where payments are not taken.'),
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

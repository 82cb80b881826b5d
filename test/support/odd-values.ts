import type { Schema } from './contract.ts';

/** Texts that are already percent-encoded, or invalid as such. */
export const RAW = ['%', '%zz', '%FF', '%E0%A4', '%C0%AF', '%00', 'a%2Fb', '%F0%9F%98%80', '%ED%A0%80'];

/** Values of a parameter at, below and above its limits, and of other types, before percent-encoding. */
export function oddTexts({ minimum, maximum, maxLength }: Schema): string[] {
  const near = (limit: number | undefined) => (limit === undefined ? [] : [limit - 1, limit, limit + 1].map(String));
  const long = maxLength === undefined ? [] : [maxLength, maxLength + 1].map((length) => 'x'.repeat(length));
  return [
    ...near(minimum),
    ...near(maximum),
    ...long,
    '',
    ' ',
    '0',
    '-1',
    '+1',
    '1.5',
    '1e3',
    '99999999999999999999',
    '٣',
    'NaN',
    'null',
    'true',
    '[]',
    '{"a":1}',
    'two words',
    '2026-02-30',
    '2026-11-20',
    '9999-12-31',
    '2026-11-20T06:30:00Z',
    '2026-13-01T00:00:00Z',
    `'; DROP TABLE pieces; --`,
    '"quoted" OR NEAR(a*) -b:c',
    '<script>',
    'ü',
    'e\u0301',
    '日本語',
    '👩‍🚀',
    '\u202e',
    '\ufffe',
    'x'.repeat(4_000),
    'WyIyMDI2LTExLTIwIl0',
    '__proto__',
    'constructor',
  ];
}

/** Values of a body's member. */
export function oddMembers({ minimum, maximum, maxLength }: Schema): unknown[] {
  const near = (limit: number | undefined) => (limit === undefined ? [] : [limit - 1, limit, limit + 1]);
  const long = maxLength === undefined ? [] : [maxLength, maxLength + 1].map((length) => 'x'.repeat(length));
  return [
    ...near(minimum),
    ...near(maximum),
    ...long,
    null,
    true,
    0,
    -1,
    1.5,
    2 ** 53,
    '',
    ' ',
    'x',
    'two\nlines',
    '\0',
    '\ud800',
    'e\u0301',
    'x'.repeat(30_000),
    [],
    {},
    ['x'],
    [null],
    [[[[]]]],
    { a: { b: { c: {} } } },
  ];
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

/** Whole bodies that are not valid records. */
export const ODD_BODIES: readonly (string | Uint8Array)[] = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '"text"',
  '[]',
  '[{}]',
  '{}',
  '{',
  '{"a":1,}',
  "{'a':1}",
  'NaN',
  '{"a":1e999}',
  '\ufeff{}',
  '{"__proto__":{"headline":"x"}}',
  '{"constructor":{"prototype":{}}}',
  '{"":""}',
  nested(33),
  nested(100_000),
  `{"headline":${nested(40)}}`,
  `{"a":"${'x'.repeat(1024 * 1024)}"}`,
  Uint8Array.of(0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00),
  Uint8Array.of(0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d),
  Uint8Array.of(0x00),
];

/** Content types for a valid body. */
export const ODD_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/jsonp',
  'json',
  'application/xml',
  '',
];

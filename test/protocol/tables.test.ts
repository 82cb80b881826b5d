import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FAULT_STATUS } from '../../api/middleware/fault.ts';
import { HEADERS_OF } from '../../api/records/openapi/lanes.ts';
import { HEADER as LEDGER, parseLedgerLine } from '../../src/desk/ingest/ledger-lines.ts';
import { GENERATION } from '../../src/proof/proof-form.ts';
import { KNOWN_STATUSES, SIGNAL_TYPES, UNKNOWN_STATUSES } from '../../src/proof/records/signal.ts';
import { type Access, type Carried, laneOf } from '../../src/records/meter/lane.ts';
import { REASONS } from '../../src/records/meter/payment.ts';
import { GONE, RETRIES } from '../../src/shared/outbound/retry.ts';

// The lists of docs/protocol.md against those of the code: neither may have one more.

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');

function section(number: string): string {
  const start = page.indexOf(`\n### ${number} `);
  assert.notEqual(start, -1, number);
  return page.slice(start, page.indexOf('\n##', start + 1));
}

/** The cells of a section's tables, without their heads. */
function rows(number: string): string[][] {
  return [...section(number).matchAll(/^\| (.*) \|$/gm)]
    .map(([, row = '']) => row.split(' | ').map((cell) => cell.trim()))
    .filter(([first]) => !/^-+$/.test(first ?? ''))
    .slice(1);
}

const codesIn = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const sorted = (list: Iterable<string>) => [...list].sort();

test('8.5 has every error, with its status', () => {
  const listed = rows('8.5').flatMap(([status, codes]) => codesIn(codes).map((code) => [code, Number(status)]));
  assert.equal(new Set(listed.map(([code]) => code)).size, listed.length);
  assert.deepEqual(Object.fromEntries(listed), { ...FAULT_STATUS, internal: 500 });
});

test('9.2 says what every access and every level of key gets', () => {
  const words = { unmetered: 'unmetered', operator: 'open', keyed: 'keyed', public: 'free' } as Record<string, string>;
  const got = (carried: Carried, access: Access) => {
    const decision = laneOf(carried, access);
    if ('lane' in decision) return words[decision.lane] ?? decision.lane;
    return { level_too_low: '403', key_required: '401', export_needs_account: '403', key_invalid: '401' }[
      decision.refused
    ];
  };
  const none = { key: 'none', payment: false } as const;
  const paying = { key: 'none', payment: true } as const;
  const table = rows('9.2');
  assert.equal(table.length, 7);
  for (const [head = '', without = '', ...byLevel] of table) {
    const access = (/^\w+/.exec(head)?.[0] ?? '') as Access;
    const levels = (['account', 'service', 'scanner', 'operator'] as const).map((key) =>
      got({ key, payment: true }, access),
    );
    assert.deepEqual(byLevel, levels, access);
    assert.equal(got({ key: 'bad', payment: true }, access), '401');
    const all = [none, paying, { ...none, asksToPay: true }].map((carried) => got(carried, access));
    for (const lane of all) assert(without.includes(String(lane)), `${access}: ${lane}`);
  }
});

test('9.4 has every header of the meter, and 9.3 of the keyless lane', () => {
  // `-Used` stands for the same header with another last word.
  const listed = rows('9.4').flatMap(([headers]) => {
    const [first = '', ...more] = codesIn(headers);
    return [first, ...more.map((name) => (name.startsWith('-') ? first.replace(/-[^-]+$/, name) : name))];
  });
  assert.deepEqual(sorted(listed), sorted(Object.keys(HEADERS_OF.meter)));
  for (const header of Object.keys(HEADERS_OF.keyless)) assert(section('9.3').includes(`\`${header}`), header);
});

test('9.5 has every reason of a refused payment', () => {
  const step = /402 with `reason`: (.*)\./.exec(section('9.5'))?.[1];
  assert.deepEqual(sorted(codesIn(step)), sorted(Object.keys(REASONS)));
});

test('5.2 has every signal and status', () => {
  const [types = '', statuses = ''] = section('5.2').split('A signal is');
  assert.deepEqual(sorted(codesIn(types).filter((code) => /^[A-Z_]+$/.test(code))), sorted(SIGNAL_TYPES));
  const line = statuses.split('\n').find((text) => text.startsWith('- `status`')) ?? '';
  const all = [...KNOWN_STATUSES, ...UNKNOWN_STATUSES];
  assert.deepEqual(
    sorted(new Set(codesIn(line).filter((code) => code !== 'status' && code !== 'values'))),
    sorted(all),
  );
});

test('4.5 has every member of a generation', () => {
  assert(section('4.5').includes(`{${Object.keys(GENERATION).join(', ')}}`));
});

test('10 has every delay of a webhook', () => {
  const text = page.slice(page.indexOf('\n## 10. '), page.indexOf('\n## 11. '));
  const [, seconds, first, second, list = ''] =
    /after (\d+) seconds, (\d+) minutes, (\d+) minutes, and ([\d, and]+) hours/.exec(text) ?? [];
  const hours = list.match(/\d+/g)?.map((hour) => Number(hour) * 3_600) ?? [];
  assert.deepEqual(
    [Number(seconds), Number(first) * 60, Number(second) * 60, ...hours],
    RETRIES.map((ms) => ms / 1_000),
  );
  assert(text.includes(`; ${GONE} switches`));
});

test('11.1 has the version of the export, and every type of line is read', () => {
  assert(section('11.1').includes(JSON.stringify(LEDGER)));
  const types = rows('11.1').flatMap(([type]) => codesIn(type));
  assert.equal(types.length, 6);
  for (const type of [...types, 'media-part', 'log-key', 'leaf', 'head', 'cosignature', 'end']) {
    assert.equal(parseLedgerLine(JSON.stringify({ type }), 'line 1').type, type);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tapeWords } from '../../src/parts/client/records/tape-words.ts';

const DOMAIN = 'example.com';

for (const [rest, what, values] of [
  ['A changed: 192.0.2.1 → 192.0.2.2', 'A changed', ['192.0.2.1', '192.0.2.2']],
  ['TXT added: k: v', 'TXT added', ['k: v']],
  ['AAAA removed', 'AAAA removed', []],
  ['TXT added: ', 'TXT added', ['']],
] as const) {
  test(`a line of the tape in its parts: ${rest}`, () => {
    assert.deepEqual(tapeWords(DOMAIN, `${DOMAIN} ${rest}`), { what, values });
  });
}

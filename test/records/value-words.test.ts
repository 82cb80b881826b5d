import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateText } from '../../src/records/tracked-values.ts';
import { valueMatch, valueWords } from '../../src/records/value-search.ts';
import { certificate } from '../support/probes.ts';

test('values are split into labels, words and addresses', () => {
  for (const [value, words] of [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['10 mx1.google.com', '10 mx1 google com'],
    ['v=spf1 include:_spf.google.com ip4:192.0.2.0/24 -all', 'v spf1 include spf google com 192.0.2.0 24 all'],
    ['google-site-verification=aB_c', 'google site verification ab c'],
    ['0 issue "letsencrypt.org"', '0 issue letsencrypt org'],
    [certificateText(certificate('a')), `${'a'.repeat(64)} cn r11 o let s encrypt c us`],
    [`x${'y'.repeat(100)}`, `x${'y'.repeat(63)}`],
    ['', ''],
  ] as const) {
    assert.equal(valueWords(value), words, value);
  }
  assert.equal(valueWords('w '.repeat(1_000)).split(' ').length, 200);
});

test('a question is quoted words and nothing else', () => {
  assert.deepEqual(valueMatch('mx1.google.com'), { whole: '("mx1 google com")', begun: '("mx1 google com"*)' });
  assert.deepEqual(valueMatch("Let's Encrypt"), {
    whole: '("let s" AND "encrypt")',
    begun: '("let s" AND "encrypt"*)',
  });
  assert.deepEqual(valueMatch('a'), { whole: '("a")', begun: null });
  assert.deepEqual(valueMatch('NOT "x* OR NEAR('), {
    whole: '("not" AND "x" AND "or" AND "near")',
    begun: '("not" AND "x" AND "or" AND "near"*)',
  });
  assert.equal(valueMatch('“”'.replace(/./g, '"')), null);
  assert.ok((valueMatch('a.'.repeat(126))?.whole.length ?? 0) < 100);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cell, csvLine } from '../../src/shared/csv.ts';
import * as fc from '../support/properties.ts';

/** Reads lines of CSV by RFC 4180. */
function parsed(text: string): string[][] {
  const rows: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] as string;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === ',' || text.startsWith('\r\n', at)) {
      rows.at(-1)?.push(cell);
      cell = '';
      if (sign !== ',') {
        rows.push([]);
        at++;
      }
    } else cell += sign;
  }
  assert.equal(cell, '');
  return rows.slice(0, -1);
}

test('every cell round-trips, and none begins a formula', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '\n=1',
      '＝1',
      '＋1',
      '－1',
      '＠SUM(A1)',
      '"',
      ',',
      '\r\n',
      '"=1",',
    ),
  );
  const cell = fc.oneof(text, fc.integer(), fc.constant(null), fc.array(text, { maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }), (rows) => {
      const read = parsed(rows.map((cells: Cell[]) => csvLine(cells)).join(''));
      assert.deepEqual(
        read.map((cells) => cells.length),
        rows.map((cells) => cells.length),
      );
      for (const [at, cells] of rows.entries()) {
        for (const [index, given] of cells.entries()) {
          const got = read[at]?.[index] ?? '';
          if (typeof given === 'number') assert.equal(got, String(given));
          else {
            assert.doesNotMatch(got, /^[=+\-@\t\r\n＝＋－＠]/);
            const whole = given === null ? '' : typeof given === 'string' ? given : JSON.stringify(given);
            assert.equal(
              got.replace(/^'(?=[=+\-@\t\r\n＝＋－＠])/, ''),
              whole.replace(/^'(?=[=+\-@\t\r\n＝＋－＠])/, ''),
            );
          }
        }
      }
    }),
  );
});

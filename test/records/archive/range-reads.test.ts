import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { readObservations, writeObservations } from '../../../src/records/archive/observation-file.ts';
import { pathOf } from '../../../src/records/hostname.ts';
import { tempFolder } from '../../support/app-context.ts';
import { filesIn, listed, monthOf, sourceOf } from './archived.ts';

/** What an archived observation costs, with the 32 bytes of its seed. */
const ROW_MAX = 220;
const SEED = 32;
/** What the history of a name costs a month. */
const REQUESTS_MAX = 20;
const BYTES_MAX = 1_000_000;

test('a month costs few bytes a row; a name few requests of few bytes, and one that is not there two', async (t) => {
  const file = filesIn(tempFolder(t))();
  const month = [...monthOf(200)];
  const { bytes } = await writeObservations(month, file);
  assert.equal(bytes, statSync(file).size);
  assert(bytes / month.length + SEED <= ROW_MAX, `${bytes / month.length + SEED} bytes a row`);

  for (const hostname of new Set([month[0], month[2_999], month.at(-1)].map((one) => one?.hostname ?? ''))) {
    const { source, asked, total } = sourceOf(file);
    // Footers are cached by the identity of the bytes.
    const fresh = { ...source, id: `${file} ${hostname}` };
    const found = [];
    for await (const { row: _, ...one } of readObservations(fresh, { path: pathOf(hostname) })) found.push(one);
    assert.deepEqual(
      found,
      month.filter((one) => one.hostname === hostname),
    );
    // The seeds of a name are one more.
    assert(asked.length + 1 <= REQUESTS_MAX, `${asked.length} requests`);
    assert(total() <= BYTES_MAX, `${total()} bytes`);
    for (const path of ['com.none', 'example.d0000000a', 'zzz']) {
      asked.length = 0;
      assert.deepEqual(await listed(readObservations(fresh, { path })), []);
      assert(asked.length <= 2, `${path}: ${asked.length} requests`);
    }
  }
});

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { SECOND } from '../../src/proof/time.ts';
import { fileScope } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { ENGINES, sumsIn, sumsOf } from './engines.ts';
import { CLOSED, changesIn, LOOKED_UP, rowsIn, type SignedArchive, signedArchive } from './signed-archive.ts';

/** About so many observations are signed and archived. `.ci/wide engines` has ten million. */
const ROWS = Number(process.env.ENGINE_ROWS ?? 30_000);

let signed: SignedArchive;
let wanted: string[][][] = [];
const tell = (line: string): void => console.error(`${new Date().toISOString()} ${line}`);

const scope = fileScope();
before(
  async () => {
    if (ONLY_WIDE !== false) return;
    signed = await signedArchive(scope, ROWS, tell);
    const start = performance.now();
    wanted = await sumsOf(rowsIn(signed), changesIn(signed), { ...LOOKED_UP, closed: CLOSED });
    const { rows, seconds, processor, bytes, rss } = signed;
    tell(`${rows} rows: ${Math.round(seconds.signed)} s to sign, ${Math.round(seconds.archived)} s to archive`);
    tell(
      `${processor.signed.toFixed(2)} ms of processor time to sign a row, ${processor.archived.toFixed(2)} to archive it`,
    );
    tell(`the service reads them in ${Math.round((performance.now() - start) / SECOND)} s`);
    tell(
      `${bytes.row.toFixed(1)} bytes a row of a month, ${bytes.archived.toFixed(1)} archived in all, ${bytes.left.toFixed(1)} left in the database; the archiver had ${rss} MB at most`,
    );
  },
  { timeout: 2 ** 31 - 1 },
);

test('the archive has each observation that was signed once', { skip: ONLY_WIDE }, () => {
  const { rows } = signed;
  assert.deepEqual(wanted[0]?.[0]?.slice(0, 2), [rows, (rows * (rows + 1)) / 2].map(String));
});

test('no memory of the archiver grows with the rows', { skip: ONLY_WIDE }, () => {
  assert.ok(signed.rss < 400, `${signed.rss} MB`);
});

for (const engine of Object.values(ENGINES)) {
  test(`${engine.name} finds the counts and sums of the service in ${ROWS} rows`, {
    skip: ONLY_WIDE || engine.missing,
  }, async (t) => {
    const { path, value } = LOOKED_UP;
    const start = performance.now();
    assert.deepEqual(await engine.ask(t, signed.archive, sumsIn(engine.dialect, path, value)), wanted);
    tell(`${engine.name}: ${Math.round((performance.now() - start) / SECOND)} s`);
  });
}

import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { SECOND } from '../../src/proof/time.ts';
import { fileScope } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { ENGINES, sumsIn, sumsOf } from './engines.ts';
import { madeUpArchive } from './made-up-archive.ts';
import { CLOSED, changesIn, LOOKED_UP, type ReadArchive, rowsIn, signedArchive } from './signed-archive.ts';

/** About so many observations are signed, stored and archived day by day, and so many made up. See `.ci/wide engines`. */
const SIGNED = Number(process.env.ENGINE_SIGNED ?? 30_000);
const MADE_UP = Number(process.env.ENGINE_ROWS ?? 100_000);

const tell = (line: string): void => console.error(`${new Date().toISOString()} ${line}`);
const scope = fileScope();

async function signedRows(): Promise<ReadArchive> {
  const signed = await signedArchive(scope, SIGNED, tell);
  const { rows, seconds, processor, bytes } = signed;
  tell(`${rows} rows: ${Math.round(seconds.signed)} s to sign, ${Math.round(seconds.archived)} s to archive`);
  tell(
    `${processor.signed.toFixed(2)} ms of processor time to sign a row, ${processor.archived.toFixed(2)} to archive it`,
  );
  tell(
    `${bytes.row.toFixed(1)} bytes a row of a month, ${bytes.archived.toFixed(1)} archived in all, ${bytes.left.toFixed(1)} left in the database`,
  );
  return signed;
}

for (const [kind, about, made] of [
  ['signed', SIGNED, signedRows],
  ['made-up', MADE_UP, () => madeUpArchive(scope, MADE_UP, tell)],
] as const) {
  describe(`${about} ${kind} rows`, { skip: ONLY_WIDE || (about === 0 && 'none are wanted') }, () => {
    let archive: ReadArchive;
    let wanted: string[][][] = [];
    before(
      async () => {
        archive = await made();
        tell(`the archiver had ${archive.rss} MB at most`);
        const start = performance.now();
        wanted = await sumsOf(rowsIn(archive), changesIn(archive), { ...LOOKED_UP, closed: CLOSED });
        tell(`the service reads them in ${Math.round((performance.now() - start) / SECOND)} s`);
      },
      { timeout: 2 ** 31 - 1 },
    );

    test('the archive has each observation once', () => {
      const { rows } = archive;
      assert.deepEqual(wanted[0]?.[0]?.slice(0, 2), [rows, (rows * (rows + 1)) / 2].map(String));
    });

    test('no memory of the archiver grows with the rows', () => {
      assert.ok(archive.rss < 400, `${archive.rss} MB`);
    });

    for (const engine of Object.values(ENGINES)) {
      test(`${engine.name} finds the counts and sums of the service`, { skip: engine.missing }, async (t) => {
        const { path, value } = LOOKED_UP;
        const start = performance.now();
        assert.deepEqual(await engine.ask(t, archive.archive, sumsIn(engine.dialect, path, value)), wanted);
        tell(`${engine.name}: ${Math.round((performance.now() - start) / SECOND)} s`);
      });
    }
  });
}

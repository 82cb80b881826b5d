import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sha256 } from '../../../src/proof/basis.ts';
import { DAY, dayOf } from '../../../src/proof/time.ts';
import type { Row } from '../../../src/records/archive/local-files.ts';
import type { ArchiveObject } from '../../../src/records/archive/manifest.ts';
import { bucketHash, parseHostname } from '../../../src/records/hostname.ts';
import { ArchiveManifest } from '../../../src/records/jobs/archive-manifest.ts';
import { ArchiveObjects } from '../../../src/records/jobs/archive-objects.ts';
import { eraseName } from '../../../src/records/jobs/erasure.ts';
import { RUN_FLAGS } from '../../../src/records/jobs/run-process.ts';
import { appContextIn, envIn, type Scope, tempFolder } from '../../support/app-context.ts';
import { folderPlace } from '../../support/archive.ts';
import { probe } from '../../support/probes.ts';
import { PROGRAM } from '../../support/program.ts';
import { recordProbes } from '../../support/records-fixture.ts';
import { ONLY_WIDE } from '../../support/wide.ts';
import { monthOf } from './archived.ts';

/** What an archiver may have in memory at most, in MB, where a bucket of a month has half a million rows. */
const PROMISED = 400;
/** Of a month that is closed. */
const START = Math.floor(Date.now() / DAY) * DAY - 70 * DAY;
const ERASED = 'name0.example';
const BUCKET = bucketHash(ERASED, ERASED).slice(0, 1);
type Texts = (name: string, day: number) => Pick<Row, 'body' | 'circumstances'>;

/** An archive of so many rows of one bucket, by days. `run` runs its archiver, and returns the most memory it had, in MB. */
async function filled(t: Scope, { rows, days, textsOf }: { rows: number; days: number; textsOf: Texts }) {
  const folder = tempFolder(t);
  const more = { ARCHIVE_URL: join(folder, 'archive') };
  const clock = { now: START };
  const app = appContextIn(t, folder, clock, more);
  const place = folderPlace(more.ARCHIVE_URL);
  const objects = new ArchiveObjects(app, place, () => {});
  const manifest = new ArchiveManifest(app, place, objects, () => {});
  recordProbes(app, clock, [probe(ERASED, START, { A: ['192.0.2.1'] })]);
  clock.now = Date.now();
  const first = START - (new Date(START).getUTCDate() - 1) * DAY;
  const added: ArchiveObject[] = [];
  for (let day = 0; day < days; day++) {
    const draft = { kind: 'observations_open' as const, period: dayOf(first + day * DAY), bucket: BUCKET };
    added.push(await objects.put(draft, rowsOf(Math.floor(rows / days), first, day, textsOf), 1));
  }
  objects.clear();
  await manifest.commit(manifest.base(), { through: 1, added });
  return {
    megabytes: added.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6,
    erase: () => eraseName(app, parseHostname(ERASED), 'asked'),
    run: (flags: readonly string[]) => memoryOf(flags, { ...process.env, ...envIn(folder, more) }),
  };
}

async function* rowsOf(names: number, first: number, day: number, textsOf: Texts): AsyncGenerator<Row> {
  const hostnames = Array.from({ length: names }, (_, n) => `name${n}.example`).sort((a, b) => (a < b ? -1 : 1));
  for (const [n, hostname] of hostnames.entries()) {
    const receipt = `of ${hostname} ${day}\n\n`;
    yield {
      ...{ seq: 2 + day * names + n, hostname, observed_at: first + day * DAY + n, signed_at: null },
      ...{ ...textsOf(hostname, day), receipt, receipt_hash: sha256(receipt.slice(0, -1)), seed: randomBytes(32) },
    };
  }
}

/** The most memory that `archive run` had, in MB, with flags of Node. */
async function memoryOf(flags: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const args = [...flags, PROGRAM, 'archive', 'run'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  let most = 0;
  const watch = setInterval(() => {
    try {
      const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      most = Math.max(most, (Number(kilobytes) * 1_024) / 1e6);
    } catch {
      // It has ended.
    }
  }, 20);
  const [code] = await once(child, 'exit');
  clearInterval(watch);
  assert.equal(code, 0);
  return most;
}

const skip = process.platform !== 'linux' && 'reads /proc';

test('the memory of an archiver does not grow with its objects', { skip: ONLY_WIDE || skip }, async (t) => {
  // What nothing compresses, so that few rows make a large object, and a heap that has no room for it.
  const textsOf = () => ({
    body: JSON.stringify({ domain: randomBytes(10_000).toString('base64') }),
    circumstances: '[]',
  });
  const run = async (rows: number) => {
    const { megabytes, erase, run } = await filled(t, { rows, days: 2, textsOf });
    erase();
    return { megabytes, memory: await run(['--max-old-space-size=64', '--max-semi-space-size=2']) };
  };
  const [one, two] = [await run(2_500), await run(9_000)];
  const grown = two.megabytes - one.megabytes;
  const said = `${one.memory} MB, and ${two.memory} MB with ${Math.round(grown)} MB more of objects`;
  t.diagnostic(said);
  assert.ok(grown > 60, said);
  assert.ok(two.memory - one.memory < 0.4 * grown, said);
});

test('an archiver of half a million rows a bucket keeps its promise', { skip: skip || ONLY_WIDE }, async (t) => {
  const [{ body = '', circumstances = '' } = {}] = monthOf(1, 1);
  // The values of each name are its own, and a serial changes daily.
  const textsOf: Texts = (name, day) => {
    const own = sha256(name).slice(-48);
    const shown = body.replaceAll('d0000000.example', name).replaceAll(/ [0-9a-f]{48}/g, (_, at: number) => {
      return ` ${own.slice(8)}${String(at).padStart(8, '0')}`;
    });
    return { body: shown.replace(/ 2026100\d{3} /, ` ${2026100100 + day} `), circumstances };
  };
  const { erase, run } = await filled(t, { rows: 500_000, days: 28, textsOf });
  const month = await run(RUN_FLAGS);
  erase();
  const erasure = await run(RUN_FLAGS);
  t.diagnostic(`${Math.round(month)} MB, and ${Math.round(erasure)} MB to erase a name`);
  assert.ok(month < PROMISED, `${month} MB`);
  assert.ok(erasure < PROMISED, `${erasure} MB to erase a name`);
});

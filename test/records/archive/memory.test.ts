import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
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
import { without } from '../../support/log-peers.ts';
import { probe } from '../../support/probes.ts';
import { PROGRAM } from '../../support/program.ts';
import { recordProbes } from '../../support/records-fixture.ts';
import { BUCKET, startVersitygw, storeEnv } from '../../support/s3-server.ts';
import { ONLY_WIDE } from '../../support/wide.ts';
import { monthOf } from './archived.ts';

/** What a process may have in memory at most, in MB, where a bucket of a month has half a million rows. */
const PROMISED = 400;
/** The first day of a month that is closed. */
const START = Date.parse(`${dayOf(Date.now() - 70 * DAY).slice(0, 7)}-01`);
const ERASED = 'name0.example';
const PART = bucketHash(ERASED, ERASED).slice(0, 1);
type Texts = (name: string, day: number) => Pick<Row, 'body' | 'circumstances'>;

interface Wanted {
  rows: number;
  days: number;
  textsOf: Texts;
  /** Where the archive is: a folder, without any. */
  place?: Record<string, string>;
}

/**
 * An archive of so many rows of one bucket, by days, of which the first is to have a dump. `run` runs a command, and
 * returns the most memory it had, in MB.
 */
async function filled(t: Scope, { rows, days, textsOf, place: given }: Wanted) {
  const folder = tempFolder(t);
  const own = { ARCHIVE_URL: join(folder, 'archive'), DUMPS_URL: join(folder, 'dumps') };
  const more = { ...own, ...given };
  const clock = { now: START };
  const app = appContextIn(t, folder, clock, more);
  const place = app.archive ?? assert.fail('an archive');
  const objects = new ArchiveObjects(app, place, () => {});
  const manifest = new ArchiveManifest(app, place, objects, () => {});
  recordProbes(app, clock, [probe(ERASED, START, { A: ['192.0.2.1'] })]);
  clock.now = Date.now();
  const names = namesOf(Math.floor(rows / days));
  app.store.records.watch(names.map(parseHostname), clock.now);
  const added: ArchiveObject[] = [];
  for (let day = 0; day < days; day++) {
    const draft = { kind: 'observations_open' as const, period: dayOf(START + day * DAY), bucket: PART };
    added.push(await objects.put(draft, rowsOf(names, day, textsOf), 1));
  }
  objects.clear();
  await manifest.commit(manifest.base(), { through: 1, added });
  return {
    megabytes: added.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6,
    erase: () => eraseName(app, parseHostname(ERASED), 'asked'),
    run: (flags: readonly string[], ...command: string[]) =>
      memoryOf([...flags, PROGRAM, ...command], { ...process.env, ...envIn(folder, more) }),
  };
}

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `name${n}.example`).sort();

async function* rowsOf(hostnames: readonly string[], day: number, textsOf: Texts): AsyncGenerator<Row> {
  for (const [n, hostname] of hostnames.entries()) {
    const receipt = `of ${hostname} ${day}\n\n`;
    yield {
      ...{ seq: 2 + day * hostnames.length + n, hostname, observed_at: START + day * DAY + n, signed_at: null },
      ...{ ...textsOf(hostname, day), receipt, receipt_hash: sha256(receipt.slice(0, -1)), seed: randomBytes(32) },
    };
  }
}

/** The most memory that a command had, in MB. An audit of these rows has faults. */
async function memoryOf(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
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
  assert.equal(code, args.includes('--archive') || args.includes('verify') ? 1 : 0);
  return most;
}

const skip = process.platform !== 'linux' && 'reads /proc';

/** How much more memory commands need of a larger archive, with a heap that has no room for an object, in MB. */
async function growth(t: TestContext, commands: readonly string[][], isErased: boolean) {
  // What nothing compresses, so that few rows make a large object.
  const textsOf: Texts = (name) => {
    const shown = { domain: name, unicode: name, registrable_domain: name, summary: {} };
    return { body: JSON.stringify({ ...shown, more: randomBytes(10_000).toString('base64') }), circumstances: '[]' };
  };
  const run = async (rows: number) => {
    const { megabytes, erase, run } = await filled(t, { rows, days: 2, textsOf });
    if (isErased) erase();
    const memory: number[] = [];
    for (const command of commands)
      memory.push(await run(['--max-old-space-size=64', '--max-semi-space-size=2'], ...command));
    return { megabytes, memory };
  };
  const [one, two] = [await run(2_500), await run(9_000)];
  const objects = two.megabytes - one.megabytes;
  assert.ok(objects > 60, `${objects} MB`);
  const more = two.memory.map((most, n) => most - (one.memory[n] ?? 0));
  t.diagnostic(`${JSON.stringify([one.memory, two.memory])} MB, with ${Math.round(objects)} MB more of objects`);
  return { objects, more };
}

test('the memory of an archiver does not grow with its objects', { skip: ONLY_WIDE || skip }, async (t) => {
  const { objects, more } = await growth(t, [['archive', 'run']], true);
  assert.ok((more[0] ?? 0) < 0.4 * objects);
});

test('nor does that of dumps and audits', { skip: skip || ONLY_WIDE }, async (t) => {
  const commands = [
    ['dumps', 'run'],
    ['audit', '--archive'],
    ['archive', 'verify'],
  ];
  const { objects, more } = await growth(t, commands, false);
  assert.deepEqual(
    commands.filter((_, n) => (more[n] ?? 0) > 0.25 * objects),
    [],
  );
});

// The values of each name are its own, and a serial changes daily.
const [{ body = '', circumstances = '' } = {}] = monthOf(1, 1);
const monthTexts: Texts = (name, day) => {
  const own = sha256(name).slice(-48);
  const shown = body.replaceAll('d0000000.example', name).replaceAll(/ [0-9a-f]{48}/g, (_, at: number) => {
    return ` ${own.slice(8)}${String(at).padStart(8, '0')}`;
  });
  return { body: shown.replace(/ 2026100\d{3} /, ` ${2026100100 + day} `), circumstances };
};

/** The commands that read or write a month of half a million rows a bucket keep the promise. */
async function requirePromise(t: TestContext, place?: Record<string, string>): Promise<void> {
  const rows = Number(process.env.MEMORY_ROWS ?? 500_000);
  const { erase, run } = await filled(t, { rows, days: 28, textsOf: monthTexts, ...(place && { place }) });
  const needed: [what: string, megabytes: number][] = [];
  const note = async (what: string, ...args: [flags: readonly string[], ...command: string[]]) => {
    needed.push([what, Math.round(await run(...args))]);
    t.diagnostic(needed.at(-1)?.join(': ') ?? '');
  };
  await note('to make a dump, from days', RUN_FLAGS, 'dumps', 'run');
  await note('to archive a month', RUN_FLAGS, 'archive', 'run');
  await note('audit --archive', [], 'audit', '--archive');
  await note('archive verify', [], 'archive', 'verify');
  erase();
  await note('to erase a name', RUN_FLAGS, 'archive', 'run');
  assert.deepEqual(
    needed.filter(([, megabytes]) => megabytes >= PROMISED),
    [],
  );
}

test(
  'half a million rows a bucket: archiver, dumps and audits keep their promise',
  {
    skip: skip || ONLY_WIDE,
  },
  (t) => requirePromise(t),
);

test('they keep it where the archive is in a bucket', {
  skip: skip || ONLY_WIDE || without('versitygw'),
}, async (t) => {
  const endpoint = await startVersitygw(t, tempFolder(t));
  await requirePromise(t, {
    ...{ ...storeEnv(endpoint), PUBLISH_URL: '' },
    ARCHIVE_URL: `s3://${BUCKET}/records?endpoint=${endpoint}`,
  });
});

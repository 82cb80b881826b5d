import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY, dayOf, MINUTE } from '../../../src/proof/time.ts';
import { Archiver } from '../../../src/records/jobs/archiver.ts';
import { openAppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { ClockGuard } from '../../../src/signing/clock/clock-guard.ts';
import { envIn, tempFolder } from '../../support/app-context.ts';
import { Killed, killedAt } from '../../support/archive.ts';
import { clockOffBy, skipWithoutFaketime } from '../../support/faketime.ts';
import { certificate, probe } from '../../support/probes.ts';
import { PROGRAM } from '../../support/program.ts';
import { type RecordsStand, recordsStand } from '../../support/records-fixture.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

const NAMES = ['example.org', 'www.example.org', 'quiet.example'];
const DAYS = 92;
const START = Math.floor(Date.now() / DAY) * DAY - (DAYS + 2) * DAY + DAY / 2;
const END = START + (DAYS + 1) * DAY;

interface Long extends RecordsStand {
  key: string;
  archive: string;
}

/** Three months of daily looks at a few names, and a server of them. */
async function stand(t: TestContext): Promise<Long> {
  const archive = join(tempFolder(t), 'archive');
  mkdirSync(archive);
  const many = '1000000';
  const settings = { ARCHIVE_URL: archive, KEYED_PER_MINUTE: many, KEYED_DAILY: many, KEYED_EXPORTS: many };
  const opened = await recordsStand(t, settings, START);
  opened.app.store.database.transact(() => {
    for (let day = 0; day < DAYS; day++) {
      for (const [n, name] of NAMES.entries()) {
        // One of them is looked at now and then.
        if (n === 2 && day % 20 !== 0) continue;
        const answers = { A: [`192.0.2.${Math.floor(day / 7)}`], SOA: [`ns. host. ${day} 1 1 1 1`] };
        opened.enter(probe(name, START + day * DAY + n * 1_000, answers, certificate(String(day >> 4))));
      }
    }
  });
  opened.clock.now = END;
  return { ...opened, key: opened.keyOf('account'), archive };
}

/** Answers of the server: of some days in a round, and of all of them at the end. */
async function answers({ url, key }: Long, days: number[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const name of NAMES) {
    const at = `/v1/domains/${name}`;
    const paths = [
      ...days.map((day) => `${at}?as_of=${dayOf(START + day * DAY)}`),
      ...days.map((day) => `${at}/series?limit=9&since=${dayOf(START + day * DAY)}`),
      ...[`${at}/history`, `${at}/provenance?limit=200`, `/v1/exports/domains/${name}.csv`],
      `/v1/exports/domains/${name}/evidence.json`,
    ];
    for (const path of paths) {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
      const text = await answer.text();
      // Proofs of the log grow with it.
      found.set(path, `${answer.status} ${path.includes('evidence') ? '' : text}`);
    }
  }
  return found;
}

const SOME = [0, 17, 45, 80];

test('three months go to the archive by a process that is killed all the time, and no answer differs', {
  skip: ONLY_WIDE,
}, async (t) => {
  const one = await stand(t);
  const all = Array.from({ length: DAYS }, (_, n) => n);
  const [before, whole] = [await answers(one, SOME), await answers(one, all)];
  const { archive } = one.app.store.records;
  let [kills, refused] = [0, 0];
  for (let round = 0, isDone = false; !isDone; round++) {
    assert.ok(round < 1_500, `manifest ${archive.newest()?.generation}`);
    // A minute later each time, and now and then by a clock that was set back, by so much that it is seen.
    const now = END + round * MINUTE - (round % 5 === 3 ? 4 * DAY : 0);
    const app = openAppContext(one.app.settings, () => now);
    app.clock.check = new ClockGuard(app);
    const place = app.archive ?? assert.fail();
    try {
      const at = 1 + ((round * 97) % 200);
      const archiver = new Archiver(app, killedAt(place, at, round % 2 === 0), { assertHeld() {} });
      let isMore = true;
      while (isMore) isMore = await archiver.step();
      isDone = now > END;
    } catch (error) {
      if (error instanceof Killed) kills++;
      else if (error instanceof Fault && /clock/.test(error.message)) refused++;
      else throw error;
    } finally {
      app.close();
    }
    if (round % 10 === 0) assert.deepEqual(await answers(one, SOME), before);
  }
  t.diagnostic(`${kills} kills, ${refused} by a clock that was set back, manifest ${archive.newest()?.generation}`);
  assert.ok(kills > 10 && refused > 0);
  assert.equal(archive.through(), one.app.store.records.nextSeq() - 1);
  assert.equal(one.app.store.records.observationTotals().count, NAMES.length);
  assert.deepEqual(await answers(one, all), whole);
  assert.deepEqual((await auditApp(one.app, { archive: true, trees: false })).faults, []);
});

test('processes that are killed with clocks that differ, one of a year ahead, change no answer', {
  skip: ONLY_WIDE || skipWithoutFaketime(),
}, async (t) => {
  const one = await stand(t);
  const before = await answers(one, SOME);
  const folder = join(one.app.settings.dataDir, '..');
  const env = { ...process.env, ...envIn(folder, { ARCHIVE_URL: one.archive }) };
  const { archive } = one.app.store.records;
  const year = 365 * 86_400;
  for (const [n, off] of [0, 60, -86_400, 120, 0, year, 180].entries()) {
    const child = spawn(process.execPath, [PROGRAM, 'archive', 'run'], {
      env: { ...env, ...clockOffBy(off) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    const generation = archive.newest()?.generation ?? 0;
    const exited = once(child, 'exit');
    // Killed in the midst of its work; the last ones may end.
    while (child.exitCode === null && n < 5 && (archive.newest()?.generation ?? 0) < generation + 9) await sleep(5);
    if (n < 5) child.kill('SIGKILL');
    await exited;
    t.diagnostic(`${off} s: manifest ${archive.newest()?.generation}, ${child.exitCode} ${said.slice(0, 300)}`);
    assert.deepEqual(await answers(one, SOME), before, `${off} s`);
  }
  assert.deepEqual((await auditApp(one.app, { archive: true, trees: false })).faults, []);
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LOCKED_REST } from '../../src/shared/workers/poll.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import type { Answer } from '../support/http.ts';
import { HOST, LOOKUP } from '../support/paid-fixture.ts';
import { probe } from '../support/probes.ts';
import { failuresIn, run } from '../support/program.ts';
import { TIMES } from '../support/properties.ts';
import { receiver } from '../support/receiver.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { send } from '../support/send.ts';
import { storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { PAPER, standIn, within } from './fixture.ts';
import { documented, span } from './table.ts';

// What a program does to a server whose database it locks against writes. Reads need no lock.

/** How long the lock is held, in ms: longer than a writer waits for it. `.ci/wide` holds it for a minute. */
const HELD = TIMES === 1 ? 14_000 : 60_000;
/** How long the same is measured without it. */
const COMPARED = 5_000;
/** How much longer than without the lock anything may take, in ms: a busy machine, and one look at the lock. */
const LEEWAY = 1_500;

/** Holds the write lock of a database. Returns what gives it up. */
async function lock(t: TestContext, file: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('lock-child.ts', import.meta.url)), file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.end();
    await once(child, 'exit');
  };
}

interface Timed {
  path: string;
  ms: number;
  status: number;
}

/** Reads everything again and again for so long. */
async function readFor(ms: number, reads: Record<string, () => Promise<Answer>>): Promise<Timed[]> {
  const end = performance.now() + ms;
  const seen: Timed[] = [];
  await Promise.all(
    Object.entries(reads).map(async ([path, read]) => {
      while (performance.now() < end) {
        const start = performance.now();
        const { status } = await read();
        seen.push({ path, status, ms: performance.now() - start });
        await sleep(50);
      }
    }),
  );
  return seen;
}

function p99(seen: Timed[]): number {
  const sorted = seen.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

/** What was read with anything but a 200. */
function failed(seen: Timed[]): string[] {
  return [...new Set(seen.filter(({ status }) => status !== 200).map(({ path, status }) => `${path} ${status}`))];
}

test('while another process holds the write lock everything is read as fast as ever, and nothing is lost', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const hook = await receiver(t);
  const clock = { now: Date.now() - 60_000 };
  const app = appContextIn(t, folder, clock, { WEBHOOK_PRIVATE: 'allow' });
  recordProbes(app, clock, [probe(HOST, clock.now, { A: ['192.0.2.1'] })]);
  const metrics = await freePort();
  const stand = await standIn(t, folder, { METRICS_PORT: String(metrics), WEBHOOK_PRIVATE: 'allow' });
  const { url, records } = stand.serving;
  const headers = { authorization: `Bearer ${stand.key}` };
  const made = await send(url, {
    method: 'POST',
    path: `/${PAPER}/api/v1/webhooks`,
    headers,
    body: { url: `http://127.0.0.1:${hook.port}/hook` },
  });
  assert.equal(made.status, 201, made.text);
  const reads: Record<string, () => Promise<Answer>> = {};
  for (const path of ['/', '/stories/high-water/', '/api/v1/stories', '/api/v1/search?q=white', '/feed.json'])
    reads[path] = () => send(url, { path: `/${PAPER}${path}` });
  reads['an agent’s list'] = () => send(url, { path: `/${PAPER}/api/v1/stories?limit=5`, headers });
  for (const path of ['/health', '/ready']) reads[`desk ${path}`] = () => send(url, { path });
  for (const path of ['/health', '/ready', `/t/${HOST}`, '/changes.json'])
    reads[`records ${path}`] = () => send(records, { path, headers: { accept: 'text/html' } });
  reads.metrics = () => send(`http://127.0.0.1:${metrics}`, { path: '/metrics' });
  const delay = async () => Number((await stand.health()).event_loop_delay_max_ms);

  const without = await readFor(COMPARED, reads);
  assert.deepEqual(failed(without), []);
  // Its event is due when the lock is taken.
  assert.equal(await stand.filing('just-before'), '201');
  const before = await delay();
  await stand.logged();
  const give = await lock(t, join(folder, 'var/broadsheet.db'));
  const start = performance.now();
  const refusals: { answer: Answer; ms: number }[] = [];
  const writes = (async () => {
    for (let n = 0; performance.now() - start < HELD - 7_000; n++) {
      await Promise.all(
        [0, 1, 2, 3].map(async (one) => {
          const asked = performance.now();
          const answer = await send(url, {
            method: 'POST',
            path: `/${PAPER}/api/v1/stories`,
            headers,
            body: { ...storyBody(`meanwhile-${n}-${one}`), air: true },
          });
          refusals.push({ answer, ms: performance.now() - asked });
        }),
      );
    }
  })();
  // It is counted, and what is counted is written.
  const lookup = () => send(records, { path: LOOKUP });
  const [meanwhile, seen, looked] = await Promise.all([readFor(HELD, reads), stand.reading(), lookup(), writes]);
  const held = Number((await stand.health()).write_lock_held_ms);
  const worst = await delay();
  // These wait while the lock is given up.
  const late = Promise.all(['late-1', 'late-2', 'late-3'].map((slug) => stand.filing(slug)));
  await sleep(500);
  await give();

  t.diagnostic(
    `${HELD / 1_000} s: reads p99 ${Math.round(p99(meanwhile))} ms (without ${Math.round(p99(without))}), event loop ${worst} ms (${before}), filings refused after ${Math.round(Math.max(...refusals.map(({ ms }) => ms)))} ms at most`,
  );
  assert.deepEqual(failed(meanwhile), []);
  assert.ok(p99(meanwhile) <= p99(without) * 3 + LEEWAY, `reads take ${p99(meanwhile)} ms, not ${p99(without)}`);
  assert.ok(worst <= before * 3 + LEEWAY, `the event loop stood still for ${worst} ms, not ${before}`);
  assert.ok(held > HELD / 2, `the lock was held for ${HELD} ms, not ${held}`);
  assert.ok(refusals.length > 3);
  for (const { answer, ms } of refusals) {
    assert.equal(answer.status, 503, answer.text);
    assert.ok(Number(answer.headers['retry-after']) > 0);
    assert.ok(ms < HELD, `a filing waited for ${ms} ms`);
  }
  assert.equal(looked.status, 503, looked.text);
  assert.equal((await lookup()).status, 200, 'a lookup that was refused is not counted');
  assert.deepEqual(await late, ['201', '201', '201']);
  assert.equal((await stand.health()).write_lock_held_ms, 0);
  assert.equal(await stand.filing('afterwards'), '201');
  const log = await stand.logged();
  const told = [...log.keys()].filter((one) => one !== 'the event loop was held up');
  for (const [message, times] of log) assert.ok(times <= 3, `“${message}” is logged ${times} times`);

  // All of them once, in any order.
  const aired = ['just-before', 'late-1', 'late-2', 'late-3', 'afterwards'];
  const airedBy = () => hook.got.map(({ body }) => aired.find((slug) => body.includes(`"${slug}"`)));
  assert.ok(await within(60_000, () => aired.every((slug) => airedBy().includes(slug))), `told: ${airedBy()}`);
  const ids = hook.got.map(({ headers: sent }) => sent['webhook-id']);
  assert.equal(new Set(ids).size, ids.length, 'no delivery is sent twice');
  const { error, message } = JSON.parse(refusals[0]?.answer.text ?? '{}') as { error: string; message: string };
  await stand.assertKept(aired);
  documented({
    failure: 'Another process holds the database’s write lock',
    readers: `${seen}, as fast as ever; a record whose lookup is counted: ${looked.status}`,
    writers: `503 \`${error}\`: “${message}”`,
    told: `\`/health\`: \`write_lock_held_ms\`; log: ${told.map((one) => `“${one}”`).join(' and ')}`,
    after: `what waits for the lock is done; jobs are tried again after ${span(LOCKED_REST)}; nothing is sent twice`,
  });
});

test('a server that is stopped while another process holds the write lock ends, and its next start is sound', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const stand = await standIn(t, folder);
  assert.equal(await stand.filing('before'), '201');
  const give = await lock(t, join(folder, 'var/broadsheet.db'));
  const waits = stand.filing('while-it-ends');
  await sleep(1_000);
  const ended = stand.serving.stop();
  const { child } = stand.serving;
  assert.ok(await within(40_000, () => (child.exitCode ?? child.signalCode) !== null), 'it ends');
  await give();
  assert.match(await waits, /^503 /);
  const { code, stderr } = await ended;
  assert.deepEqual([code, failuresIn({ stderr })], [0, []]);
  const audit = await run(t, folder, ['audit'], { ORIGIN: stand.serving.url });
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
});

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { clockIn } from '../../src/proof/clock-note.ts';
import { tempFolder } from '../support/app-context.ts';
import { clockOffBy, skipWithoutFaketime } from '../support/faketime.ts';
import { freePort } from '../support/free-port.ts';
import { run, type Serving, serve, serveAtOnce, until } from '../support/program.ts';
import { send } from '../support/send.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { documented } from './table.ts';

// A server that is started while the clock of its machine is wrong, and what heals it. The same library gives its clock
// to the commands that are run beside it.

const PAPER = 'tide-table';
const DAY = 86_400;
const skip = skipWithoutFaketime();

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

function deskOf(serving: Serving, key: string) {
  const at = (path: string) => send(serving.url, { path: `/${PAPER}${path}` });
  return {
    async file(slug: string): Promise<Answer> {
      const request = { method: 'POST', path: `/${PAPER}/api/v1/stories`, headers: { authorization: `Bearer ${key}` } };
      const { status, text } = await send(serving.url, { ...request, body: { ...storyBody(slug), air: true } });
      return { status, body: JSON.parse(text) as Record<string, unknown> };
    },
    async reading(): Promise<string> {
      const paths = { front: '/', story: '/stories/high-water/', search: '/api/v1/search?q=white' };
      const seen = await Promise.all(
        Object.entries(paths).map(async ([name, path]) => `${name} ${(await at(path)).status}`),
      );
      return seen.join(', ');
    },
    async publishedAt(slug: string): Promise<number> {
      const { stories } = JSON.parse((await at('/api/v1/stories')).text) as {
        stories: { slug: string; published_at: string }[];
      };
      return Date.parse(stories.find((one) => one.slug === slug)?.published_at ?? '');
    },
    page: async (path: string) => (await at(path)).text,
    subscribe: (email: string) =>
      send(serving.url, { method: 'POST', path: `/${PAPER}/api/v1/subscribers`, body: { email, cadence: 'daily' } }),
    health: async (url = serving.url) =>
      JSON.parse((await send(url, { path: '/health' })).text) as Record<string, unknown>,
  };
}

test('a clock that was ahead by a year at the start: what it dated is corrected, and all of it holds', {
  skip: ONLY_WIDE || skip,
}, async (t) => {
  const folder = tempFolder(t);
  const key = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER)?.admin ?? '';
  const settings = { PORT: String(await freePort()), RECORDS_PORT: String(await freePort()), LOG_LEVEL: 'error' };
  const stranger = tempFolder(t);
  const policy = join(stranger, 'policy');
  const command = (...args: string[]) =>
    run(t, folder, args, { ...settings, ORIGIN: `http://127.0.0.1:${settings.PORT}` });
  const monitor = (url: string) =>
    run(t, stranger, ['monitor', `${url}/${PAPER}/`, '--policy', policy, '--state', join(stranger, 'state.json')]);

  const ahead = await serve(t, folder, { ...settings, ...clockOffBy(365 * DAY) });
  const wrong = deskOf(ahead, key);
  assert.equal((await wrong.file('ahead')).status, 201, 'nothing shows that the clock is wrong');
  assert.ok((await wrong.publishedAt('ahead')) > Date.now() + 364 * DAY * 1_000);
  await until(async () => ((await fetch(`${ahead.url}/log/policy`)).ok ? true : null));
  writeFileSync(policy, await (await fetch(`${ahead.url}/log/policy`)).text());
  await until(async () => ((await monitor(ahead.url)).code === 0 ? true : null));
  await ahead.stop();

  // What is in the content folder waits for the clock.
  const serving = await serveAtOnce(t, folder, settings);
  const desk = deskOf(serving, key);
  const refused = await desk.file('refused');
  assert.equal(refused.status, 503);
  const said = `“${String(refused.body.message)}”`.replace(/\d{4}-\d\d-\S+?Z/g, '…');
  const readers = await desk.reading();
  assert.equal((await desk.subscribe('ana@example.org')).status, 202, 'what is not signed goes on');
  for (const url of [serving.url, serving.records])
    assert.match(String((await desk.health(url)).clock_fault), /newest record/);
  assert.partialDeepStrictEqual((await desk.health()).signing, { signs: false, why: 'clock' });
  assert.match(serving.said.stderr, /nothing is signed: the clock is wrong/);
  const { findings } = JSON.parse((await command('doctor', '--json')).stdout) as {
    findings: { name: string; state: string; cure?: string }[];
  };
  const found = findings.find(({ name }) => name === 'clock');
  assert.equal(found?.state, 'fault');
  assert.match(found?.cure ?? '', /clock correct/);
  for (const args of [
    ['air', 'ahead', '--paper', PAPER],
    ['withdraw', 'ahead', '--paper', PAPER, '--reason', 'It was wrong.'],
    ['key', 'rotate'],
  ]) {
    const { code, stderr } = await command(...args);
    if (args[0] !== 'air') assert.match(stderr, /nothing is signed: the clock here says/, args.join(' '));
    assert.equal(code, args[0] === 'air' ? 0 : 1);
  }

  const alone = await command('clock', 'correct');
  assert.deepEqual([alone.code, alone.stdout], [1, '']);
  assert.match(alone.stderr, /no other machine answered; say what time it is, as in --now /);
  for (const wrong of ['yesterday', '2026-11-26', '2026-13-40T12:00Z'])
    assert.match((await command('clock', 'correct', '--now', wrong)).stderr, /--now "\S+": write a date and a time/);
  const corrected = await command('clock', 'correct', '--now', new Date().toISOString());
  assert.match(
    corrected.stdout,
    /^the true time is \S+; what was dated later counts as of then:\n {2}tide-table: receipts no. \d+ to \d+\n/,
  );
  assert.equal(corrected.code, 0, corrected.stderr);
  const after = await until(async () => {
    const answer = await desk.file('after');
    return answer.status === 201 ? answer : null;
  });
  assert.equal(after.status, 201, 'without a restart');
  for (const slug of ['ahead', 'after']) {
    assert.ok(Math.abs((await desk.publishedAt(slug)) - Date.now()) < DAY * 1_000, `${slug} has a true time`);
  }
  const proof = `/stories/ahead/proof.json`;
  const shown = await until(async () => {
    const text = await desk.page(proof);
    return text.includes('"clock"') ? (JSON.parse(text) as { clock: string[] }) : null;
  });
  assert.equal(clockIn(shown.clock[0] ?? '')?.paper, PAPER);
  assert.match(await desk.page('/stories/ahead/'), /clock ran ahead/);
  assert.doesNotMatch(await desk.page('/stories/after/'), /clock ran ahead/);
  const verified = await command('verify', `${serving.url}/${PAPER}/stories/ahead/`);
  assert.match(
    verified.stdout,
    /revision 1 says \S+, by a clock that ran ahead: a signed correction says that it was filed at \S+ at the latest/,
  );
  assert.equal(verified.code, 0, verified.stderr);
  const seen = await until(async () => {
    const outcome = await monitor(serving.url);
    return outcome.stdout === '' ? null : outcome;
  });
  assert.match(
    seen.stdout,
    /^\S+: leaf \d+ corrects the clock, which ran ahead: tide-table: receipts \d+ to \d+ are of \S+ at the latest/,
  );
  assert.equal(seen.code, 0);
  assert.deepEqual(await monitor(serving.url), { code: 0, signal: null, stdout: '', stderr: '' }, 'it says so once');
  assert.equal((await command('doctor', '--json')).stdout.includes('clock correct'), false);
  assert.equal((await serving.stop()).code, 0);
  assert.equal((await command('press')).code, 0);
  const audit = await command('audit');
  assert.equal(audit.code, 0, audit.stdout + audit.stderr);
  assert.match((await command('clock', 'correct')).stdout, /^nothing to correct/);
  documented({
    failure: 'Clock was ahead by a year, and is right again',
    readers,
    writers: `503 \`unavailable\`: ${said}`,
    told: '`/health`: `clock_fault`; `doctor`: clock; log: “nothing is signed: the clock is wrong”, once',
    after:
      'after `clock correct` the next filing: 201, with the true time; `audit` finds nothing, and pages, proofs, `verify` and monitors say which receipts have a wrong time',
  });
});

test('a clock before 1970 is refused in words, and everything that is not signed works', {
  skip: skip || ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const key = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER)?.admin ?? '';
  const years = Math.ceil((Date.now() / 1_000 + 5 * 365 * DAY) / DAY);
  const early = clockOffBy(-years * DAY);
  const settings = { PORT: String(await freePort()), LOG_LEVEL: 'error' };
  const press = await run(t, folder, ['press'], { ...settings, ORIGIN: `http://127.0.0.1:${settings.PORT}` });
  assert.equal(press.code, 0, press.stderr);
  const serving = await serveAtOnce(t, folder, { ...settings, ...early });
  const desk = deskOf(serving, key);
  const refused = await desk.file('early');
  assert.equal(refused.status, 503);
  assert.match(
    String(refused.body.message),
    /^nothing is signed: the clock here says 19\S+, which is before this program was written: set it/,
  );
  const readers = await desk.reading();
  assert.equal(readers, 'front 200, story 200, search 200');
  assert.equal((await desk.subscribe('ana@example.org')).status, 202);
  const command = await run(t, folder, ['withdraw', 'high-water', '--paper', PAPER, '--reason', 'Late.'], early);
  assert.match(command.stderr, /nothing is signed: the clock here says 19/);
  assert.equal(command.code, 1);
  assert.doesNotMatch(serving.said.stderr, /"level":50.*(?:TypeError|RangeError)/);
  assert.equal((await serving.stop()).code, 0);
});

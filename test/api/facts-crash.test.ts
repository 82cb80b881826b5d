import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { run, serve } from '../support/program.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'tide-table';
const KEY = 'port-tonnage';

interface Answer {
  status: number;
  body: { error?: string; fact?: { version: number; statement: string }; problems?: { rule: string }[] };
}

/** A server of a small paper, and requests to it with an admin key. */
async function desk(t: Parameters<typeof serve>[0] & { after(fn: () => unknown): void }) {
  const folder = tempFolder(t);
  const keys = (await enterPapers(folder, [{ slug: PAPER }])).get(PAPER) ?? assert.fail();
  let serving = await serve(t, folder, { CARDS: 'off' });
  const api = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${serving.url}/${PAPER}/api/v1/${path}`, {
      method,
      headers: { 'x-nrf-key': keys.admin, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  return {
    folder,
    file: (slug: string, statement: string, air = false) => {
      const [first, ...rest] = storyBody(slug).cited_facts;
      const cited_facts = [{ ...first, statement, claim_key: KEY }, ...rest];
      return api('POST', 'stories', { ...storyBody(slug), cited_facts, air });
    },
    correct: (version: number, statement: string) =>
      api('PUT', `facts/${KEY}`, { version, statement, note: 'It was wrong.' }),
    async kill() {
      serving.child.kill('SIGKILL');
      await serving.ended;
    },
    async restart() {
      serving = await serve(t, folder, { CARDS: 'off' });
    },
    async audited<T>(read: (app: ReturnType<typeof openAppContext>) => T): Promise<T> {
      const app = openAppContext(readSettings(envIn(folder)));
      try {
        assert.deepEqual((await auditApp(app, { trees: false, media: false })).faults, []);
        return read(app);
      } finally {
        app.close();
      }
    },
  };
}

test('of twenty pieces that record one key at once one wins; of fifty corrections of one version, by two processes', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { folder, file, correct, audited } = await desk(t);
  const filed = await Promise.all(Array.from({ length: 20 }, (_, n) => file(`piece-${n}`, `It moved ${n}.`)));
  const first = filed.filter(({ status }) => status === 201);
  assert.equal(first.length, 1);
  for (const { status, body } of filed.filter(({ status }) => status !== 201))
    assert.deepEqual([status, body.problems?.map(({ rule }) => rule)], [422, ['fact_differs']]);

  const command = (n: number) =>
    run(t, folder, [
      'fact',
      'correct',
      KEY,
      '--paper',
      PAPER,
      '--from',
      '1',
      '--statement',
      `By ${n}.`,
      '--note',
      'Wrong.',
    ]);
  const commands = Array.from({ length: 4 }, (_, n) => command(n));
  // Commands start slowly: the requests are sent while they run.
  const sent = Array.from({ length: 46 }, async (_, n) => {
    await new Promise((resolve) => setTimeout(resolve, n * 40));
    return correct(1, `It moved ${n} more.`);
  });
  const answers = await Promise.all(sent);
  const outcomes = await Promise.all(commands);
  const won = answers.filter(({ status }) => status === 200).length + outcomes.filter(({ code }) => code === 0).length;
  assert.equal(won, 1);
  for (const { status, body } of answers.filter(({ status }) => status !== 200))
    assert.deepEqual([status, body.error], [409, 'conflict']);
  for (const { code, stderr } of outcomes.filter(({ code }) => code !== 0))
    assert.match(stderr, /version 1 of port-tonnage is not the newest/, String(code));
  assert.equal(await audited((app) => app.store.desk.archive(PAPER).factVersions(KEY).length), 2);
});

test('a server killed amid filings and corrections kept what it answered, each whole or not at all', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { file, correct, kill, restart, audited } = await desk(t);
  assert.equal((await file('first', 'It moved 1.', true)).status, 201);
  let version = 1;
  for (const delay of [5, 20, 60, 120, 250]) {
    const answered: { version: number; statement: string }[] = [];
    const correcting = (async () => {
      for (let n = 0; ; n++) {
        const { status, body } = await correct(version, `It moved ${version} and ${n}, after ${delay}.`);
        if (status !== 200 || body.fact === undefined) throw new Error(JSON.stringify(body));
        answered.push(body.fact);
        version = body.fact.version;
      }
    })();
    const filing = (async () => {
      for (let n = 0; ; n++) await file(`piece-${delay}-${n}`, answered.at(-1)?.statement ?? 'It moved 1.');
    })();
    const working = Promise.allSettled([correcting, filing]);
    await new Promise((resolve) => setTimeout(resolve, delay * 4));
    await kill();
    await working;
    const versions = await audited((app) => app.store.desk.archive(PAPER).factVersions(KEY));
    for (const fact of answered) assert.equal(versions[fact.version - 1]?.statement, fact.statement);
    // The last correction may be there though nobody heard of it.
    assert.ok(versions.length - version <= 1, `${versions.length} versions, ${version} answered`);
    version = versions.length;
    await restart();
  }
});

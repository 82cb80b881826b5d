import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import pino from 'pino';
import { listenDesk } from '../../api/server.ts';
import { append } from '../../src/desk/append.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { removePaper } from '../../src/desk/papers/removal.ts';
import { SEARCH_ROWS } from '../../src/desk/search.ts';
import { type AppContext, intakeOf } from '../../src/server/context.ts';
import { type SearchLimits, SearchPool } from '../../src/server/search-pool.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { openSearchReader, type SearchReader } from '../../src/store/desk/search-reader.ts';
import { appContextIn, createPaper, PAPER, tempFolder } from '../support/app-context.ts';
import { type Answer, ask } from '../support/http.ts';
import { airAgain, publish, withdraw } from '../support/newsroom.ts';
import { until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

interface Desk {
  app: AppContext;
  url: string;
  search(q: string): Promise<Answer>;
  /** Resolves when a question was answered and its answer is kept back. */
  held(): Promise<unknown>;
  /** Lets all answers go. */
  release(): void;
}

/** A desk whose searches are answered when they are let, if `isHeld`. */
async function openDesk(t: TestContext, limits: Partial<SearchLimits>, isHeld = true): Promise<Desk> {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  if (!isHeld) gate.resolve();
  const open = (): SearchReader => {
    const reader = openSearchReader(databaseFile(app.settings), SEARCH_ROWS);
    return {
      ...reader,
      async found(question) {
        const found = await reader.found(question);
        started.resolve();
        await gate.promise;
        return found;
      },
    };
  };
  app.store.searchPool.close();
  app.store.searchPool = new SearchPool(open, { connections: 1, deadline: 60_000, ...limits });
  const desk = await listenDesk({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) });
  t.after(() => desk.close());
  return {
    app,
    url: desk.url,
    search: (q) => ask(desk.url, `/${PAPER}/api/v1/search?q=${encodeURIComponent(q)}`),
    held: () => started.promise,
    release: () => gate.resolve(),
  };
}

const slugsIn = ({ text }: Answer): string[] => JSON.parse(text).stories.map(({ slug }: { slug: string }) => slug);

const TWO = 'https://two.example';

const edition = ({ headers }: Answer): string | undefined => /^"(\d+)-/.exec(headers.etag ?? '')?.[1];

/** Changes the record of a paper, or makes it. */
function change({ store, clock: { now } }: AppContext, more: object, paper = PAPER): void {
  const before = store.desk.paper(paper) ?? store.desk.paper(PAPER) ?? assert.fail();
  const { slug: _slug, edition: _edition, changed_at: _at, ...body } = before;
  store.database.transact(() =>
    append(store.desk, { type: 'record', at: now(), paper, kind: 'paper', name: '', body: { ...body, ...more } }),
  );
}

test('a piece that was withdrawn while a thread searched is not answered', async (t) => {
  const { app, search, held, release } = await openDesk(t, {});
  publish(app, 'tide');
  publish(app, 'ebb');
  const answer = search('means');
  await held();
  withdraw(app, 'tide');
  release();
  assert.deepEqual(slugsIn(await answer), ['ebb']);
  assert.equal((await answer).headers.etag, (await search('means')).headers.etag, 'as of the newest edition');
});

test('a paper that became private or was removed while a thread searched says so', async (t) => {
  for (const [status, code, leave] of [
    [404, 'not_found', (app: AppContext) => change(app, { paper_public: false })],
    [410, 'withdrawn', (app: AppContext) => removePaper(intakeOf(app), PAPER, 'test')],
  ] as const) {
    const { app, search, held, release } = await openDesk(t, {});
    publish(app, 'tide');
    const answer = search('means');
    await held();
    leave(app);
    release();
    assert.equal((await answer).status, status, (await answer).text);
    assert.equal(JSON.parse((await answer).text).error, code);
  }
});

test('a search of one paper is not answered at an address that now belongs to another, or to none', async (t) => {
  const leaves: [string, number, string | null, (app: AppContext) => void][] = [
    [
      'another paper takes the address',
      503,
      null,
      (app) => {
        change(app, { url: undefined, paper_public: false });
        change(app, { url: `${TWO}/a` }, 'other');
      },
    ],
    ['becomes private', 404, 'b', (app) => change(app, { paper_public: false })],
    ['moves to another base', 404, 'b', (app) => change(app, { url: `${TWO}/c` })],
    ['moves to the root, alone on its host', 404, null, (app) => change(app, { url: TWO })],
    ['moves to another host', 404, 'b', (app) => change(app, { url: 'https://else.example' })],
    [
      'loses its host',
      404,
      'b',
      (app) => app.store.database.transact(() => app.store.desk.hosts.remove(PAPER, 'two.example')),
    ],
  ];
  for (const [what, status, base, leave] of leaves) {
    const desk = await openDesk(t, {});
    const { app, held, release } = desk;
    app.store.database.transact(() => {
      for (const paper of [PAPER, 'other']) app.store.desk.hosts.add(paper, 'two.example', 'given', app.clock.now());
    });
    change(app, { url: `${TWO}/a` });
    change(app, { nameplate: 'Other', url: base === null ? undefined : `${TWO}/${base}` }, 'other');
    publish(app, 'tide');
    // The same number: nothing else tells their editions apart.
    while ((app.store.desk.paper('other')?.edition ?? 0) < (app.store.desk.paper(PAPER)?.edition ?? 0) - 1)
      change(app, {}, 'other');
    const answer = ask(desk.url, '/a/api/v1/search?q=means', { host: 'two.example' });
    await held();
    leave(app);
    release();
    assert.equal((await answer).status, status, `${what}: ${(await answer).text}`);
  }
});

test('papers that have had one address have no ETag in common', async (t) => {
  const { app, url } = await openDesk(t, {}, false);
  app.store.database.transact(() => {
    for (const paper of [PAPER, 'other']) app.store.desk.hosts.add(paper, 'two.example', 'given', app.clock.now());
  });
  change(app, { nameplate: 'Other' }, 'other');
  change(app, { url: TWO });
  while ((app.store.desk.paper('other')?.edition ?? 0) < (app.store.desk.paper(PAPER)?.edition ?? 0) - 1)
    change(app, {}, 'other');
  const first = await ask(url, '/api/v1', { host: 'two.example' });
  change(app, { url: undefined });
  change(app, { url: TWO }, 'other');
  const second = await ask(url, '/api/v1', { host: 'two.example' });
  assert.deepEqual([first.status, second.status], [200, 200]);
  assert.equal(edition(first), edition(second), 'the editions have one number');
  assert.notEqual(first.headers.etag, second.headers.etag);
  const again = await ask(url, '/api/v1', { host: 'two.example', 'if-none-match': first.headers.etag ?? '' });
  assert.equal(again.status, 200);
});

test('a question that ends like the name of a packed answer is a question', async (t) => {
  const { app, search, url } = await openDesk(t, {}, false);
  for (const slug of ['tide', 'ebb', 'flow', 'flood']) publish(app, slug);
  const packed = (q: string) => ask(url, `/${PAPER}/api/v1/search?q=${q}`, { 'accept-encoding': 'gzip' });
  for (let n = 0; n < 2; n++) assert.deepEqual(slugsIn(await search('means gzip')), []);
  for (let n = 0; n < 3; n++) {
    const { headers, body } = await packed('means');
    assert.equal(headers['content-encoding'], 'gzip');
    assert.equal(JSON.parse(`${gunzipSync(body)}`).count, 4);
  }
  for (let n = 0; n < 2; n++) await packed('what');
  const plain = await search('what gzip');
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.deepEqual(slugsIn(plain), []);
});

test('who would wait too long is told when to ask again, and everybody else is answered', async (t) => {
  const { app, search, release } = await openDesk(t, { deadline: 200, waiting: 4 });
  publish(app, 'tide');
  const answers = await Promise.all(Array.from({ length: 9 }, (_, n) => search(`t${n}`)));
  for (const { status, headers, text } of answers) {
    assert.equal(status, 503);
    assert.match(String(headers['retry-after']), /^\d+$/);
    assert.deepEqual(JSON.parse(text), {
      error: 'unavailable',
      message: 'too many searches are waiting; ask again soon',
    });
  }
  release();
  const answered = await until(async () => {
    const answer = await search('tide');
    return answer.status === 200 ? answer : null;
  });
  assert.deepEqual(slugsIn(answered), ['tide']);
});

test('a search that begins after a write sees it, from whatever thread', { skip: ONLY_WIDE }, async (t) => {
  const { app, search } = await openDesk(t, { connections: 3 }, false);
  publish(app, 'tide');
  publish(app, 'ebb');
  let isOver = false;
  const others = [1, 2, 3].map(async (caller) => {
    for (let n = 0; !isOver; n++) assert.equal((await search(`${caller} ${n}`)).status, 200);
  });
  for (let n = 0; n < 25; n++) {
    withdraw(app, 'tide');
    assert.deepEqual(await Promise.all([search('means'), search(`means what`)]).then((all) => all.map(slugsIn)), [
      ['ebb'],
      ['ebb'],
    ]);
    airAgain(app, 'tide');
    assert.deepEqual(slugsIn(await search('means')), ['ebb', 'tide']);
  }
  isOver = true;
  await Promise.all(others);
});

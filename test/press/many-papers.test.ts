import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'libsql';
import pino from 'pino';
import { sitesOf } from '../../api/desk/site.ts';
import { append } from '../../src/desk/append.ts';
import { startAiring } from '../../src/desk/jobs/airing-job.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import type { AppContext } from '../../src/server/context.ts';
import { appContextIn, type Scope, tempFolder } from '../support/app-context.ts';
import { until } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// What a server with many papers reads again is what changed. Statements and rows are counted, not time.

const FEW = 4;
const MANY = 60;

/** What statements read since the last call: how many there were of each, and how many rows they gave. */
type Counted = Map<string, { times: number; rows: number }>;

interface Prepares {
  prepare(text: string): { get(...params: unknown[]): unknown; all(...params: unknown[]): unknown[] };
}

/** Counts from now on what is read in this process. */
function counter(t: Scope): { read(): Counted } {
  const texts = new WeakMap<object, string>();
  let counted: Counted = new Map();
  const note = (statement: object, rows: number) => {
    const text = texts.get(statement) ?? '';
    const { times, rows: before } = counted.get(text) ?? { times: 0, rows: 0 };
    counted.set(text, { times: times + 1, rows: before + rows });
  };
  const database = Database.prototype as unknown as Prepares;
  const { prepare } = database;
  database.prepare = function (text) {
    const statement = prepare.call(this, text);
    const { get, all } = statement;
    texts.set(statement, text);
    statement.get = (...params) => {
      const row = get.apply(statement, params);
      note(statement, row === undefined ? 0 : 1);
      return row;
    };
    statement.all = (...params) => {
      const rows = all.apply(statement, params);
      note(statement, rows.length);
      return rows;
    };
    return statement;
  };
  t.after(() => {
    database.prepare = prepare;
  });
  return {
    read() {
      const before = counted;
      counted = new Map();
      return before;
    },
  };
}

const nameOf = (n: number): string => `paper-${n}`;

function change(app: AppContext, n: number, motto: string): void {
  const body = PaperBody.parse({
    nameplate: `Paper ${n}`,
    motto,
    description: 'One of many.',
    sections: ['City'],
    url: `https://p${n}.example`,
  });
  append(app.store.desk, { type: 'record', at: app.clock.now(), paper: nameOf(n), kind: 'paper', name: '', body });
}

function many(t: Scope, amount: number) {
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  app.store.database.transact(() => {
    for (let n = 0; n < amount; n++) {
      change(app, n, 'First');
      app.store.desk.hosts.add(nameOf(n), `p${n}.example`, 'given', app.clock.now());
    }
  });
  return app;
}

/** No statement walks through all papers, marks or hosts. */
function assertPlans(app: AppContext, counted: Counted): void {
  const db = new Database(`${app.settings.dataDir}/broadsheet.db`);
  for (const text of counted.keys()) {
    if (!/^\s*(?:SELECT|WITH)/.test(text)) continue;
    const plan = (db.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as { detail: string }[]).map(({ detail }) => detail);
    const scan = plan.find((detail) =>
      /^SCAN (?:p|papers|press_due|paper_hosts|records)\b(?!.*papers_by_version)/.test(detail),
    );
    assert.equal(scan, undefined, text);
  }
  db.close();
}

test('a request reads the papers that changed', (t) => {
  const counts = counter(t);
  const reads = [FEW, MANY].map((amount) => {
    const app = many(t, amount);
    const sites = sitesOf(app);
    const motto = (n: number) => {
      const incoming = {} as never;
      const request = new Request(`https://p${n}.example/`);
      return sites.again(request, { incoming } as never)?.paper?.motto;
    };
    assert.equal(motto(1), 'First');
    counts.read();
    assert.equal(motto(2), 'First');
    const quiet = counts.read();
    app.store.database.transact(() => change(app, 1, 'Second'));
    counts.read();
    assert.equal(motto(1), 'Second');
    const changed = counts.read();
    assertPlans(app, new Map([...quiet, ...changed]));
    // A host that is given or taken counts as a change.
    app.store.desk.hosts.remove(nameOf(1), 'p1.example');
    assert.equal(motto(1), undefined);
    app.store.desk.hosts.add(nameOf(1), 'p1.example', 'given', app.clock.now());
    assert.equal(motto(1), 'Second');
    return { quiet, changed };
  });
  assert.deepEqual(reads[1], reads[0]);
});

test('the clock reads only papers marked since its last check', { skip: ONLY_WIDE }, async (t) => {
  const counts = counter(t);
  const reads: unknown[] = [];
  for (const amount of [FEW, MANY]) {
    const app = many(t, amount);
    const presses = new PressQueue(app);
    const pressed: string[] = [];
    t.mock.method(presses, 'press', async (paper: string) => {
      pressed.push(paper);
      app.store.desk.manifest.clearStale(paper, Number.MAX_SAFE_INTEGER);
      return null;
    });
    let checks = 0;
    t.mock.method(app.store.desk, 'nextScheduled', () => {
      checks++;
      return null;
    });
    const check = async () => {
      const before = checks;
      await until(() => (checks > before ? true : null));
    };
    const stop = startAiring({ app, presses, backlog: new Set(), logger: pino({ level: 'silent' }) });
    t.after(stop);
    // The first check is for all papers, and the next one finds that there is nothing left.
    await check();
    await check();
    assert.equal(new Set(pressed).size, amount);
    pressed.length = 0;
    counts.read();
    await check();
    const quiet = counts.read();
    app.store.database.transact(() => change(app, 1, 'Second'));
    counts.read();
    await check();
    await check();
    const changed = counts.read();
    assert.deepEqual(pressed, [nameOf(1)]);
    assertPlans(app, new Map([...quiet, ...changed]));
    reads.push({ quiet: [...quiet.keys()], rows: most(quiet), changed: most(changed) });
    await stop();
  }
  assert.deepEqual(reads[1], reads[0]);
});

/** The rows of the longest answer on average. */
function most(counted: Counted): number {
  return Math.max(...[...counted.values()].map(({ times, rows }) => Math.ceil(rows / times)));
}

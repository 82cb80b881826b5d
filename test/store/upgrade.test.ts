import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import Database from 'libsql';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { requireKey } from '../../src/desk/papers/keys.ts';
import { toManage } from '../../src/desk/readers/link.ts';
import { correctFact, type FactOrder } from '../../src/desk/recording-facts.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { type LogService, parseLeaf } from '../../src/proof/log/leaf.ts';
import { serviceKeyOf } from '../../src/records/accounts/service-key.ts';
import { requireSignIn } from '../../src/records/accounts/sign-in.ts';
import { Checkout } from '../../src/records/meter/checkout.ts';
import { decodePayment } from '../../src/records/meter/payment.ts';
import { deskOf } from '../../src/server/context.ts';
import { linkToken } from '../../src/shared/access-key.ts';
import { linkKey } from '../../src/shared/files/data-folder.ts';
import { sessionOf } from '../../src/shared/session.ts';
import { appContextIn, createPaper, filing, PAPER, type Scope, tempFolder } from '../support/app-context.ts';
import { OFFER } from '../support/sample-payment.ts';

// Databases as released versions left them, opened by the present program. make.mjs in a folder says how it was made.

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));
const HOUR = 3_600_000;

/** Tables whose rows are made again from others; what they are for is tested by pressing and searching below. */
const DERIVED = /^(?:press_due|sheets|reads|files|presses|search|searched|search_.+|hostname_labels.*|sqlite_.+)$/;

interface Facts {
  now: number;
  account: string;
  admin: string;
  service_key: string;
  session: string;
  payments: { state: string; header: string; request: string }[];
  media: { digest: string; base64: string };
}

type Row = Record<string, unknown>;
type Tables = Map<string, Row[]>;

function unpacked(t: Scope, version: string) {
  const folder = tempFolder(t);
  const from = join(FIXTURES, version);
  const facts = JSON.parse(readFileSync(join(from, 'facts.json'), 'utf8')) as Facts;
  mkdirSync(join(folder, 'var'));
  const file = join(folder, 'var/broadsheet.db');
  writeFileSync(file, gunzipSync(readFileSync(join(from, 'broadsheet.db.gz'))));
  for (const key of ['door.key', 'readers.key', 'accounts.key']) cpSync(join(from, key), join(folder, 'var', key));
  return { folder, file, facts };
}

/** Every row of every table that is not made from others. */
function rowsIn(file: string): Tables {
  const db = new Database(file);
  try {
    const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all() as {
      name: string;
    }[];
    const kept = names.filter(({ name }) => !DERIVED.test(name));
    return new Map(kept.map(({ name }) => [name, db.prepare(`SELECT * FROM "${name}"`).all() as Row[]]));
  } finally {
    db.close();
  }
}

/** What was there before and is not there as it was; columns may have come. */
function lost(before: Tables, after: Tables): string[] {
  return [...before].flatMap(([table, rows]) => {
    const now = after.get(table);
    if (now === undefined) return [`table ${table}`];
    const columns = Object.keys(rows[0] ?? {});
    const text = (row: Row) => JSON.stringify(columns.map((column) => plain(row[column])));
    const there = new Set(now.map(text));
    return rows.filter((row) => !there.has(text(row))).map((row) => `${table} ${text(row)}`);
  });
}

function plain(value: unknown): unknown {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value)
    ? Buffer.from(value as Uint8Array).toString('base64')
    : value === undefined
      ? 'no such column'
      : value;
}

test('the words of a revision by an older server, which still ran after the migration, are counted', (t) => {
  const folder = tempFolder(t);
  const clock = { now: Date.UTC(2026, 10, 20) };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  for (const prose of ['One[^1] two.[^2]', 'One[^1] two[^2] three four.']) {
    fileStory(deskOf(app), PAPER, filing('tides', { prose }), { by: 'cli' });
  }
  const { id } = app.store.desk.archive(PAPER).storyBySlug('tides') ?? { id: '' };
  app.close();
  const db = new Database(join(folder, 'var/broadsheet.db'));
  // Its statement names no column that came later.
  db.exec('UPDATE pieces SET word_count = 2, counted = (SELECT min(n) FROM generations)');
  db.close();
  const again = appContextIn(t, folder, clock);
  assert.equal(again.store.desk.archive(PAPER).row(id)?.word_count, 4);
});

test('a fact that was corrected before its list of changes was kept, and stood again since, is in that list', async (t) => {
  const folder = tempFolder(t);
  const clock = { now: Date.UTC(2026, 10, 20) };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  const keys = ['moved', 'corrected', 'back', 'never-wrong'];
  const cited_facts = keys.map((claim_key, n) => ({
    ...{
      n: n + 1,
      claim_key,
      statement: `The ${claim_key} is so.`,
      source: n === 0 ? 'ITU' : 'NIST',
      instrument: 'FIPS 180-4',
    },
  }));
  fileStory(deskOf(app), PAPER, filing('tides', { prose: 'So.[^1][^2][^3][^4]', cited_facts }), { by: 'cli' });
  airStory(deskOf(app), PAPER, 'tides', { by: 'cli' });
  const correct = (key: string, version: number, order: Partial<FactOrder>) => {
    clock.now += HOUR;
    correctFact(deskOf(app), PAPER, key, { version, note: `Note ${version}.`, ...order, by: 'cli' });
  };
  correct('moved', 1, { statement: 'It is not.' });
  correct('moved', 2, { status: 'standing', source: 'ISO' });
  correct('corrected', 1, { statement: 'It is not.' });
  correct('back', 1, { status: 'retracted' });
  correct('back', 2, { status: 'standing' });
  correct('never-wrong', 1, { status: 'standing', source: 'ISO' });
  const listed = ({ store }: typeof app) =>
    store.desk
      .archive(PAPER)
      .correctedFacts(9)
      .map((fact) => [fact.claim_key, fact.changed_at, fact.changed_note]);
  const before = listed(app);
  assert.deepEqual(
    before.map(([key, , note]) => [key, note]),
    [
      ['back', 'Note 2.'],
      ['corrected', 'Note 1.'],
      ['moved', 'Note 1.'],
    ],
  );
  app.close();
  const db = new Database(join(folder, 'var/broadsheet.db'));
  db.exec("UPDATE facts SET changed_at = NULL, changed_note = NULL WHERE status = 'standing'");
  db.exec("DELETE FROM migrations WHERE name LIKE '371-%'");
  db.close();
  const again = appContextIn(t, folder, clock);
  assert.deepEqual(listed(again), before);
  assert.deepEqual(again.store.desk.ledgerFaults(), []);
});

for (const version of ['0.1.0']) {
  test(`a database of version ${version} is opened with every row there`, (t) => {
    const { folder, file, facts } = unpacked(t, version);
    const before = rowsIn(file);
    assert.deepEqual(
      [...before].filter(([, rows]) => rows.length === 0),
      [],
      'the fixture has a row in every table',
    );
    appContextIn(t, folder, { now: facts.now + HOUR }).close();
    assert.deepEqual(lost(before, rowsIn(file)), []);
  });

  test(`what a migration drops from a database of ${version} would be seen`, (t) => {
    const { file } = unpacked(t, version);
    const before = rowsIn(file);
    const db = new Database(file);
    for (const [sql, table] of [
      ["DELETE FROM payments WHERE state = 'settling'", 'payments'],
      ['ALTER TABLE subscribers DROP COLUMN webhook_secret', 'subscribers'],
      ['DROP TABLE notices', 'notices'],
      ["UPDATE sessions SET hash = ''", 'sessions'],
    ]) {
      db.exec(sql as string);
      assert.ok(
        lost(before, rowsIn(file)).some((one) => one.includes(table as string)),
        sql,
      );
    }
    db.close();
  });

  test(`a desk of version ${version} goes on: audited, searched, pressed, signed with its key`, async (t) => {
    const { folder, facts } = unpacked(t, version);
    const clock = { now: facts.now + HOUR };
    const app = appContextIn(t, folder, clock);
    app.store.media.keepBytes(facts.media.digest, Buffer.from(facts.media.base64, 'base64'));
    const { store } = app;
    const known = store.desk.signingKeys();
    assert.ok([...store.desk.manifest.staleDependencies(PAPER)].length > 0, 'what the press owed is still owed');
    assert.equal(
      deskOf(app).signingKey.kid,
      known.find(({ retired_at }) => retired_at === null)?.kid,
      'the key in use stays',
    );
    const { id } = store.desk.archive(PAPER).storyBySlug('flood') ?? { id: '' };
    assert.deepEqual(store.desk.archive(PAPER).search(['flood'], 10), [id]);
    fileStory(deskOf(app), PAPER, filing('after'), { by: 'cli' });
    airStory(deskOf(app), PAPER, 'after', { by: 'cli' });
    assert.deepEqual(store.desk.signingKeys(), known, 'no key was made');
    await pressPapers(app, { full: true });
    const { generations, observations, faults } = await auditApp(app);
    assert.deepEqual([generations, observations, faults], [8, 4, []]);

    assert.equal(requireKey(store.desk.keys, facts.admin, clock.now).name, 'The editor');
    const daily = store.desk.readers.subscribers.list(PAPER, { limit: 10 }).find(({ cadence }) => cadence === 'daily');
    const link = linkToken(linkKey(app.settings, 'readers'), 'manage', daily?.reader ?? '');
    assert.equal(
      toManage(app.store.desk.readers, PAPER, link, app.clock.now())?.email,
      'daily@reader.example',
      'a link that was mailed holds',
    );
  });

  test(`the logs of a database of ${version} get what it signed, once`, (t) => {
    const { folder, facts } = unpacked(t, version);
    const clock = { now: facts.now + HOUR };
    const app = appContextIn(t, folder, clock);
    const {
      database: { log },
    } = app.store;
    const entries = (service: LogService) => log.entries(service, 0, log.size(service));
    assert.deepEqual([entries('desk'), entries('records')], [[], []], 'reading logs nothing');
    app.signer.open();
    const kinds = (service: LogService) => entries(service).map((entry) => parseLeaf(entry).kind);
    assert.deepEqual(kinds('desk'), [
      'key',
      'receipt',
      'receipt',
      // A piece that is withdrawn by now.
      'receipt-hash',
      'key-retired',
      'key',
      'receipt',
      // A draft and a scheduled piece.
      'receipt-hash',
      'receipt-hash',
      'receipt',
    ]);
    const observed = Array.from({ length: 4 }, () => 'receipt-hash');
    assert.deepEqual(kinds('records'), ['key', 'key-retired', 'key', ...observed]);
    const filled = [entries('desk'), entries('records')];
    const again = appContextIn(t, folder, clock);
    again.signer.open();
    assert.deepEqual([entries('desk'), entries('records')], filled, 'a second start changes nothing');
    fileStory(deskOf(again), PAPER, filing('after'), { by: 'cli' });
    assert.equal(log.size('desk'), (filled[0]?.length ?? 0) + 1, 'what is signed from now on is logged at once');
  });

  test(`accounts of version ${version} go on: keys, sessions, links, and every unit that was counted`, (t) => {
    const { folder, facts } = unpacked(t, version);
    const clock = { now: facts.now + HOUR };
    const app = appContextIn(t, folder, clock);
    const { store } = app;
    assert.equal(serviceKeyOf(store.records.serviceKeys, facts.service_key, clock.now).account, facts.account);
    clock.now = facts.now;
    assert.equal(
      sessionOf({ sessions: store.records.sessions, now: app.clock.now }, facts.session)?.session.account,
      facts.account,
    );
    const standing = store.records.meter.usage(facts.account, facts.now, 3);
    // Of five requests of the first day two drew credits; of six on the second three did.
    assert.deepEqual(standing?.today, { included: 3, drawn: 3, refused: 0, failed: 0 });
    assert.deepEqual([standing?.balance, standing?.terms.burst], [1_000_000 - 5 * 50_000, 2]);
    const mails = store.records.accountMails.lease(facts.now + HOUR, facts.now + 2 * HOUR, 10);
    const asked = mails.find(({ kind }) => kind === 'sign-in');
    const token = linkToken(linkKey(app.settings, 'accounts'), 'sign-in', asked?.id ?? '');
    clock.now = facts.now - 25 * HOUR;
    assert.equal(requireSignIn(store.records.signIns, token, app.clock.now()).email, 'ada@example.org');
  });

  test(`payments in flight of version ${version} are finished, each answered once, and only to who signed it`, async (t) => {
    const { folder, facts } = unpacked(t, version);
    const app = appContextIn(t, folder, { now: facts.now + HOUR });
    const asked: string[] = [];
    let isSigned = false;
    const till = new Checkout({
      payments: app.store.records.payments,
      facilitator: {
        verify: async () => 'valid',
        settle: async () => {
          asked.push('settle');
          return { settled: '0x2' };
        },
      },
      chain: {
        status: async (_payment, _offer, how) => (how === undefined ? 'open' : { paid: '0x2' }),
        isSigned: async () => isSigned,
      },
      now: app.clock.now,
      newId: () => 'another process',
      wait: async () => {},
      groupCommit: app.store.database.groupCommit,
      repeat: () => () => {},
    });
    const take = async (state: string) => {
      const { header, request } = facts.payments.find((one) => one.state === state) ?? { header: '', request: '' };
      const run = async () => ({ status: 200, headers: [], body: Buffer.from('made now') });
      const sold = await till.sell({ payment: decodePayment(header, 1), offer: OFFER, request, run });
      if (sold.outcome !== 'served') return sold;
      return Buffer.from(sold.bought.body ?? []).toString();
    };
    assert.equal(await take('claimed'), 'made now');
    assert.deepEqual(await take('settling'), { outcome: 'conflict', why: 'other_payment' });
    isSigned = true;
    assert.equal(await take('settling'), '{"bought":1}');
    // Nothing was kept then that tells its payer from a stranger.
    assert.deepEqual(await take('settled'), { outcome: 'conflict', why: 'answer_gone' });
    assert.deepEqual(asked, ['settle', 'settle'], 'the one that was settled is not settled again');
  });
}

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { KeyUses } from '../../api/middleware/key-uses.ts';
import { deskRouter } from '../../api/server.ts';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { append } from '../../src/desk/append.ts';
import { type EvidenceRow, READ_EVERY } from '../../src/desk/evidence.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { READ_WAITS, readSources } from '../../src/desk/jobs/evidence-job.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { CLAIM, sweepSources } from '../../src/desk/jobs/source-files.ts';
import { makeKey } from '../../src/desk/papers/keys.ts';
import { Edition, siteOf } from '../../src/desk/press/edition.ts';
import { linksOf } from '../../src/desk/press/outputs/frame.ts';
import { messageOf } from '../../src/desk/readers/webhook-queue.ts';
import { correctFact } from '../../src/desk/recording-facts.ts';
import { sourceReader } from '../../src/desk/sources/source-reader.ts';
import { textPool } from '../../src/desk/sources/text-pool.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { restore } from '../../src/operate/backup/restore.ts';
import { sha256 } from '../../src/proof/basis.ts';
import { evidenceIn } from '../../src/proof/evidence-note.ts';
import { DAY } from '../../src/proof/time.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { type AppContext, deskOf, intakeOf, openAppContext } from '../../src/server/context.ts';
import { databaseFile } from '../../src/shared/files/data-folder.ts';
import { newId } from '../../src/shared/new-id.ts';
import { backupLocation } from '../../src/shared/storage/backup-location.ts';
import { correctClock } from '../../src/signing/clock/correct-clock.ts';
import { AT, backUp } from '../backup/backups.ts';
import {
  appContextIn,
  createPaper,
  envIn,
  filing,
  PAPER,
  type Scope,
  tempFolder,
  treeOf,
} from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';
import { loopback } from '../support/loopback.ts';
import { START } from '../support/pressed-paper.ts';
import { probe } from '../support/probes.ts';
import { run } from '../support/program.ts';
import { assertSoundWarc } from '../support/warc.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const logger = pino({ level: 'silent' });
const SAYS = 'The harbour is twelve metres deep, the office said. It was 12 m in 2024.';

/** Starting a thread takes longer than most tests: all of them share one. */
const texts = textPool();
after(() => texts.close());

/** A paper that reads its sources, and a site whose pages a test changes. */
async function stand(t: Scope, sources: object = {}) {
  const pages = new Map<string, string | number>([['/report', SAYS]]);
  const asked: string[] = [];
  const listener: RequestListener = (request, response) => {
    const page = pages.get(request.url ?? '') ?? 404;
    if (request.url !== '/robots.txt') asked.push(request.url ?? '');
    if (typeof page === 'number') response.writeHead(page).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Report</h1><p>${page}`);
  };
  const { port } = new URL(await loopback(t, createServer(listener)));
  const root = `http://source.example:${port}`;
  const clock = { now: START };
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app, { sources: { read: true, quote_not_found: 'warn', republish: false, ...sources } });
  const options = {
    agent: 'test',
    allows: () => true,
    resolve: async () => ['127.0.0.1'],
    hostPause: 0,
    deadline: 2_000,
  };
  const tools = { read: sourceReader(options), texts };
  const put = (slug: string, facts: object[], more: object = {}) => {
    const cited_facts = facts.map((fact, at) => ({
      ...{
        n: at + 1,
        statement: 'It was 12 m in 2024.',
        source: `Office ${at}`,
        instrument: `${root}/report`,
        claim_key: null,
      },
      ...fact,
    }));
    const prose = cited_facts.map(({ n }) => `It is so.[^${n}]`).join(' ');
    return fileStory(deskOf(app), PAPER, filing(slug, { prose, cited_facts, ...more }), { by: 'cli' }).story;
  };
  const air = (slug: string) => airStory(deskOf(app), PAPER, slug, { by: 'cli' }).story;
  const story = (slug: string) => app.store.desk.archive(PAPER).storyBySlug(slug) ?? assert.fail(slug);
  const read = () => readSources(app, tools, logger);
  return { app, clock, root, pages, asked, tools, put, air, story, read };
}

const states = ({ evidence }: { evidence: { n: number; state: string }[] }) =>
  evidence.map(({ n, state }) => `${n} ${state}`);
const sound = async (app: AppContext) => {
  await pressPapers(app, { cards: false });
  // The cards wait: drawing them takes seconds.
  assert.deepEqual(
    (await auditApp(app)).faults.filter((fault) => !fault.includes('wait for the press')),
    [],
  );
};

test('what a source says is looked up, signed, and kept', async (t) => {
  const { app, root, asked, put, air, story, read } = await stand(t);
  put('deep', [
    { quote: 'the harbour is twelve metres deep' },
    { quote: 'The harbour is twenty metres deep', statement: 'In 1999 Anna said so.' },
    {},
    { instrument: 'Ledger, page 4', quote: 'not read' },
  ]);
  assert.equal(await read(), 1);
  assert.equal(await read(), 0);
  assert.deepEqual(asked, ['/report'], 'one source is read once for all that cite it');
  const { evidence, id } = story('deep');
  assert.deepEqual(states(story('deep')), ['1 found', '2 quote_not_found', '3 read']);
  const [first, second] = evidence;
  const said = evidenceIn(first?.note ?? '') ?? assert.fail();
  assert.deepEqual(
    [said.subject, said.fact_version, said.instrument, said.status, said.seq],
    [{ piece: id, n: 1 }, 1, `${root}/report`, 200, 1],
  );
  const text = readFileSync(app.store.media.pathOf(said.text ?? ''));
  assert.equal(`${text.subarray(said.quote?.start, said.quote?.end)}`, 'The harbour is twelve metres deep');
  assertSoundWarc(t, readFileSync(app.store.media.pathOf(first?.archive ?? '')), 3);
  assert.deepEqual([second?.nearest?.distance, second?.missing], [3, ['1999', 'Anna']]);
  air('deep');
  await sound(app);
});

test('a source is read again each month, and what changed is said', async (t) => {
  const { app, clock, root, pages, asked, put, air, story, read } = await stand(t);
  put('deep', [{ quote: 'twelve metres deep' }, { source: 'Another' }]);
  put('draft', [{ instrument: `${root}/none` }, { source: 'Another', instrument: 'Ledger, page 4' }]);
  air('deep');
  await read();
  const archives = story('deep').evidence.map(({ archive }) => archive);
  const months: [string | number, string[]][] = [
    [`${SAYS} More.`, ['1 found', '2 changed']],
    ['The harbour is ten metres deep.', ['1 quote_not_found', '2 changed']],
    [410, ['1 gone', '2 gone']],
    [SAYS, ['1 found', '2 read']],
  ];
  for (const [page, expected] of months) {
    clock.now += READ_EVERY;
    pages.set('/report', page);
    await read();
    assert.deepEqual(states(story('deep')), expected);
  }
  assert.deepEqual(asked.toSorted(), ['/none', ...Array(5).fill('/report')], 'what nobody sees is read once');
  clock.now += CLAIM;
  sweepSources(app);
  assert.ok(
    archives.every((digest) => !existsSync(app.store.media.pathOf(digest ?? ''))),
    'one archive of each is kept',
  );
  const left = story('deep').evidence.map(({ kept_archive }) => existsSync(app.store.media.pathOf(kept_archive ?? '')));
  assert.deepEqual(left, [true, true]);
  await sound(app);
});

test('a reading that was dated ahead counts with the true time, and its source is read again in time', async (t) => {
  const { app, asked, clock, put, air, story, read } = await stand(t);
  clock.now = START + 365 * DAY;
  put('deep', [{ quote: 'the harbour is twelve metres deep' }, { source: 'NIST' }]);
  await read();
  air('deep');
  clock.now = START + DAY;
  correctClock(app, [], clock.now);
  assert.deepEqual(
    story('deep').evidence.map(({ read_at }) => read_at),
    [clock.now, clock.now],
  );
  await sound(app);
  clock.now += READ_EVERY;
  await read();
  assert.deepEqual(asked, ['/report', '/report']);
  await sound(app);
});

test('a source that cannot be read is tried again, and said once', async (t) => {
  const { app, clock, pages, asked, put, air, story, read } = await stand(t);
  pages.set('/report', 503);
  put('deep', [{ quote: 'twelve metres deep' }, {}]);
  air('deep');
  await read();
  assert.deepEqual(
    [states(story('deep')), story('deep').evidence[0]?.reason],
    [['1 unread', '2 unread'], 'status 503'],
  );
  for (const wait of READ_WAITS) {
    clock.now += wait - 1;
    assert.equal(await read(), 0);
    clock.now += 1;
    assert.equal(await read(), 1);
  }
  assert.equal(asked.length, 1 + READ_WAITS.length);
  assert.equal(evidenceIn(story('deep').evidence[1]?.note ?? '')?.seq, 2, 'nothing new was said');
  clock.now += READ_EVERY;
  pages.set('/report', SAYS);
  await read();
  assert.deepEqual(states(story('deep')), ['1 found', '2 read']);
  clock.now += READ_EVERY;
  pages.set('/report', 503);
  await read();
  assert.deepEqual(states(story('deep')), ['1 found', '2 read'], 'a site that is down for an hour is no news');
  await sound(app);
});

test('two processes never read the same twice, and one that dies is followed', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock, asked, tools, put, story } = await stand(t);
  put('deep', [{ quote: 'twelve metres deep' }, {}]);
  let isHeld = true;
  const dies = { ...tools, read: () => new Promise<never>(() => {}) };
  const late = {
    ...tools,
    read: async (address: string) => {
      const reading = await tools.read(address);
      while (isHeld) await new Promise((resolve) => setTimeout(resolve, 5));
      return reading;
    },
  };
  void readSources(app, dies, logger);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(await readSources(app, tools, logger), 0, 'it is being read');
  clock.now += CLAIM;
  const first = readSources(app, late, logger);
  await new Promise((resolve) => setTimeout(resolve, 100));
  clock.now += CLAIM;
  assert.equal(await readSources(app, tools, logger), 1);
  isHeld = false;
  await first;
  assert.deepEqual(asked, ['/report', '/report']);
  assert.equal(evidenceIn(story('deep').evidence[1]?.note ?? '')?.seq, 2, 'one note a reading');
  await sound(app);
});

test('a paper can hold pieces back until their quotes are found', async (t) => {
  const { app, clock, pages, put, air, story, read } = await stand(t, { quote_not_found: 'refuse' });
  put('deep', [{ quote: 'twelve metres deep' }, {}]);
  assert.equal(air('deep').state, 'scheduled');
  assert.equal(story('deep').awaits_evidence, true);
  clock.now += 1_000;
  assert.equal(air('deep').state, 'scheduled', 'it waits still');
  await read();
  assert.deepEqual([story('deep').state, story('deep').awaits_evidence], ['on_air', false]);
  put('deeper', [{ quote: 'twenty metres deep' }, {}]);
  assert.equal(air('deeper').state, 'scheduled');
  await read();
  assert.deepEqual([story('deeper').state, story('deeper').awaits_evidence], ['scheduled', true]);
  clock.now += 1_000;
  assert.throws(
    () => air('deeper'),
    /entry 1: its source does not contain the quote, so the piece cannot go on air in this paper; correct the quote/,
  );
  put('deeper', [{ quote: 'twelve metres' }, {}]);
  assert.equal(story('deeper').state, 'scheduled');
  await read();
  assert.equal(story('deeper').state, 'on_air');
  put('free', [{ quote: 'twenty metres deep' }, {}]);
  air('free');
  createPaper(app, { sources: { read: true, quote_not_found: 'warn', republish: false } });
  clock.now += 1_000;
  assert.equal(air('free').state, 'on_air', 'the paper has other rules now');
  pages.set('/report', 404);
  await sound(app);
});

test('what a source does not say any more keeps off the air what is scheduled for later', async (t) => {
  const { app, clock, pages, put, air, story, read } = await stand(t, { quote_not_found: 'refuse' });
  const keyed = { claim_key: 'depth', quote: 'twelve metres deep' };
  const other = { source: 'Another', instrument: 'Ledger, page 4' };
  for (const slug of ['now', 'later', 'never']) put(slug, [keyed, other]);
  air('now');
  await read();
  const at = clock.now + READ_EVERY + DAY;
  for (const slug of ['later', 'never']) airStory(deskOf(app), PAPER, slug, { by: 'cli', at });
  assert.deepEqual([story('later').state, story('later').awaits_evidence], ['scheduled', false]);
  clock.now += READ_EVERY;
  pages.set('/report', 'It is dry.');
  await read();
  assert.deepEqual([story('later').scheduled_at, story('later').awaits_evidence], [at, true]);
  withdrawStory(deskOf(app), PAPER, 'never', { reason: 'It is dry.', by: 'cli' });
  clock.now += 2 * DAY;
  await sound(app);
  assert.equal(story('later').state, 'scheduled');
  clock.now += READ_EVERY;
  pages.set('/report', SAYS);
  await read();
  assert.deepEqual([story('later').state, story('never').state], ['on_air', 'draft']);
  await sound(app);
});

test('evidence of a fact of the record is that of its version, for all pieces that cite it', async (t) => {
  const { app, asked, put, air, story, read } = await stand(t, { quote_not_found: 'refuse' });
  const fact = { claim_key: 'harbour-depth', quote: 'twelve metres deep', source: 'Office' };
  put('one', [fact, { source: 'Another' }]);
  put('two', [fact, { source: 'Another' }]);
  for (const slug of ['one', 'two']) assert.equal(air(slug).state, 'scheduled');
  assert.equal(await read(), 1);
  assert.deepEqual(asked, ['/report']);
  for (const slug of ['one', 'two']) {
    assert.deepEqual([story(slug).state, states(story(slug))], ['on_air', ['1 found', '2 read']]);
    assert.deepEqual(evidenceIn(story(slug).evidence[0]?.note ?? '')?.subject, { claim_key: 'harbour-depth' });
  }
  await sound(app);
});

test('evidence moves with a ledger and with a backup, files and all', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock, put, air, story, read } = await stand(t, { republish: true });
  put('deep', [{ quote: 'twelve metres deep' }, { claim_key: 'depth' }]);
  put('waits', [{ quote: 'twelve metres deep' }, {}]);
  await read();
  air('deep');
  const file = join(tempFolder(t), 'ledger.jsonl');
  await exportLedger(intakeOf(app), file);
  const target = appContextIn(t, tempFolder(t), { now: START });
  await importLedger(intakeOf(target), file);
  const moved = target.store.desk.archive(PAPER).storyBySlug('deep') ?? assert.fail();
  assert.deepEqual(moved.evidence, story('deep').evidence);
  for (const { kept_text, kept_archive } of moved.evidence) {
    for (const digest of [kept_text, kept_archive]) assert.ok(existsSync(target.store.media.pathOf(digest ?? '')));
  }
  await sound(target);

  // A backup, which a standby restores too, has the records as well, most of whose bodies are patches of others.
  app.signer.open();
  const host = parseHostname('harbor.example');
  app.store.records.watch([host], clock.now);
  for (const serial of ['1', '2', '3']) {
    const queue = localQueue(app, 'test');
    const { lease = '' } = queue.leaseNames([host.hostname]) ?? {};
    const soa = `ns.harbor.example. mail.harbor.example. ${serial} 1 1 1 1`;
    const [entered] = await queue.submit(lease, [probe(host.hostname, clock.now, { A: ['192.0.2.1'], SOA: [soa] })]);
    assert.equal(entered?.outcome, 'recorded');
    clock.now += 3_600_000;
  }
  const order = { version: 1, statement: 'It was 13 m in 2024.', note: 'A misprint.', by: 'cli' };
  correctFact(deskOf(app), PAPER, 'depth', order);
  const copy = join(tempFolder(t), 'backup.tar.zst');
  await backUp(app.settings, copy);
  const dataDir = join(tempFolder(t), 'var');
  await restore(backupLocation(app.settings, copy, AT), dataDir, () => {});
  const restored = openAppContext({ ...app.settings, dataDir }, () => clock.now);
  t.after(() => restored.close());
  const told = ({ store }: AppContext) => {
    const archive = store.desk.archive(PAPER);
    const { id = 0 } = store.records.find(host.hostname) ?? {};
    return {
      ...{
        fact: archive.fact('depth'),
        versions: archive.factVersions('depth'),
        notes: archive.storyBySlug('deep')?.evidence,
      },
      ...{ seen: [...store.records.observationsOf(id)], receipts: store.records.receipts(1, 100) },
    };
  };
  assert.deepEqual(told(restored), told(app));
  assert.equal(told(restored).seen.length, 3);
  const db = new DatabaseSync(databaseFile(restored.settings), { readOnly: true });
  assert.equal(db.prepare('SELECT count(*) AS n FROM observations WHERE patch IS NOT NULL').get()?.n, 2);
  db.close();
  for (const { kept_text, kept_archive } of moved.evidence)
    for (const digest of [kept_text, kept_archive]) assert.ok(existsSync(restored.store.media.pathOf(digest ?? '')));
  await sound(restored);
});

test('readers get the text that was read where the paper shows it, as nothing but text', async (t) => {
  const { app, root, put, air, read, pages } = await stand(t, { republish: true });
  pages.set('/report', `${SAYS}<script>alert(1)</script>`);
  put('deep', [{ quote: 'twelve metres deep' }, {}]);
  put('draft', [{ instrument: `${root}/none`, quote: 'x' }, {}]);
  await read();
  air('deep');
  const uses = new KeyUses(app.store.desk.keys, assert.ifError);
  t.after(() => uses.close());
  const router = await deskRouter({ app, presses: new PressQueue(app), logger }, uses);
  const incoming = { headers: {}, rawHeaders: [], socket: { remoteAddress: '127.0.0.1' } };
  const request = async (path: string, headers = {}) =>
    router.fetch(new Request(new URL(path, app.settings.origin), { headers }), {
      incoming,
      outgoing: { headersSent: false },
    } as never);
  const got = (await (await request(`/${PAPER}/api/v1/stories/deep`)).json()) as {
    cited_facts: { evidence?: EvidenceRow }[];
  };
  const row = got.cited_facts[0]?.evidence ?? assert.fail();
  assert.deepEqual(
    [row.status, row.quote_found, row.reason, row.missing, row.distance],
    ['found', true, null, [], null],
  );
  const { pathname } = new URL(row.archived_url ?? '');
  const text = await request(pathname);
  assert.equal(text.status, 200);
  assert.equal(text.headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(text.headers.get('x-content-type-options'), 'nosniff');
  assert.match(text.headers.get('content-security-policy') ?? '', /default-src 'none'; sandbox/);
  const bytes = Buffer.from(await text.arrayBuffer());
  const said = evidenceIn(row.note) ?? assert.fail();
  assert.equal(sha256(bytes), said.text, 'it can be checked against the note');
  assert.equal(`${bytes.subarray(said.quote?.start, said.quote?.end)}`, 'twelve metres deep');
  const { kept_archive, kept_text } = app.store.desk.archive(PAPER).storyBySlug('deep')?.evidence[0] ?? assert.fail();
  const warc = await request(`/${PAPER}/evidence/${kept_archive?.slice(7)}.warc.gz`);
  assert.equal(warc.headers.get('content-disposition')?.startsWith('attachment'), true);
  assertSoundWarc(t, Buffer.from(await warc.arrayBuffer()), 3);
  for (const path of ['x.txt', `${'0'.repeat(64)}.txt`, `${kept_text?.slice(7)}.html`, '..%2f..%2fdoor.key']) {
    assert.equal((await request(`/${PAPER}/evidence/${path}`)).status, 404, path);
  }
  assert.match(text.headers.get('cache-control') ?? '', /^public, max-age=0, /);
  const open = app.store.desk.archive(PAPER).paper().sources;
  createPaper(app, { sources: open, paper_public: false });
  // Requests of one turn of the loop share what is known of papers.
  await new Promise(setImmediate);
  assert.equal((await request(pathname)).status, 404, 'the paper is private');
  const { desk, clock } = { desk: app.store.desk, clock: app.clock };
  const maker = {
    keys: desk.keys,
    archive: desk.archive(PAPER),
    now: clock.now,
    newId,
    random: randomBytes,
    by: 'cli',
  };
  const { key } = app.store.database.transact(() => makeKey(maker, PAPER, { level: 'read', name: 'A reader' }));
  const own = await request(pathname, { Authorization: `Bearer ${key}` });
  uses.flush();
  assert.deepEqual([own.status, own.headers.get('cache-control')], [200, 'private, no-store']);
  createPaper(app, { sources: { read: true, quote_not_found: 'warn', republish: false } });
  assert.equal((await request(pathname)).status, 404, 'the paper shows it no more');
});

test('texts that readers may have are pressed and listed with the paper, and removed with what they are of', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, clock, pages, put, air, read } = await stand(t, { republish: true });
  const folder = dirname(app.settings.dataDir);
  const tree = join(app.settings.distDir, PAPER);
  /** The texts in the tree, each compared with what a full press prints. */
  const pressed = async () => {
    // The news sitemap expires.
    app.store.desk.manifest.markStale(PAPER, ['news']);
    await pressPapers(app, { cards: false });
    assertSameTree(treeOf(tree), await fullPress(t, folder, clock, false));
    const listed = [...app.store.desk.manifest.allFiles(PAPER)].map(({ path }) => path);
    const texts = [...treeOf(tree).keys()].filter((path) => path.startsWith('evidence/')).sort();
    assert.deepEqual(listed.filter((path) => path.startsWith('evidence/')).sort(), texts);
    return texts.map((path) => readFileSync(join(tree, path), 'utf8').replace('Report\n', ''));
  };
  const keyed = { claim_key: 'depth', quote: 'twelve metres deep' };
  put('deep', [keyed, {}]);
  await read();
  assert.deepEqual(await pressed(), [], 'nothing of a draft');
  air('deep');
  assert.deepEqual(await pressed(), [SAYS]);
  assert.match(readFileSync(join(tree, '_headers'), 'utf8'), /evidence\/\*\n.*sandbox/);
  clock.now += READ_EVERY;
  pages.set('/report', 'It is deeper.');
  await read();
  assert.deepEqual(await pressed(), ['It is deeper.']);
  put('deep', [{ instrument: 'Ledger, page 4' }, { source: 'Another', instrument: 'Ledger, page 5' }], {
    correction: 'It rests on the ledger.',
  });
  assert.deepEqual(await pressed(), [], 'no entry rests on it any more');
  put('again', [keyed, { source: 'Another', instrument: 'Ledger, page 5' }]);
  air('again');
  assert.deepEqual(await pressed(), ['It is deeper.']);
  withdrawStory(deskOf(app), PAPER, 'again', { reason: 'It was wrong.', by: 'cli' });
  assert.deepEqual(await pressed(), []);
  clock.now += 1;
  air('again');
  rmSync(app.store.media.pathOf(sha256('Report\nIt is deeper.')));
  assert.deepEqual(await pressed(), [], 'a lost file keeps no paper from its readers');
  clock.now += READ_EVERY;
  await read();
  assert.deepEqual(await pressed(), ['It is deeper.']);
  createPaper(app, { sources: { read: true, quote_not_found: 'warn', republish: false } });
  assert.deepEqual(await pressed(), []);
});

test('a desk is told which facts to revise', async (t) => {
  const { app, clock, pages, put, air, read } = await stand(t);
  put('deep', [{ claim_key: 'depth', quote: 'twelve metres deep' }, {}]);
  air('deep');
  await read();
  const revise = () =>
    app.store.desk
      .archive(PAPER)
      .factsToRevise(10)
      .map(({ subject, state }) => [subject.split('/').length, state]);
  assert.deepEqual(revise(), []);
  clock.now += READ_EVERY;
  pages.set('/report', 404);
  await read();
  assert.deepEqual(
    revise(),
    [
      [1, 'gone'],
      [2, 'gone'],
    ].toSorted((a, b) => Number(b[0]) - Number(a[0])),
  );
});

test('receivers of webhooks are told of each finding once, when a piece on air rests on it', async (t) => {
  const { app, clock, pages, put, air, read } = await stand(t);
  const keyed = { claim_key: 'depth', quote: 'twenty metres deep' };
  put('deep', [keyed, {}]);
  await read();
  let seen = 0;
  const links = linksOf(new Edition(app.store.desk.archive(PAPER), siteOf(`${app.settings.origin}/${PAPER}`)));
  const events = () => {
    const found: string[] = [];
    const { events: table } = app.store.desk;
    for (let event = table.next(0); event !== null; event = table.next(event.n)) {
      if (event.type !== 'fact.to_revise') continue;
      const { url, ...data } = JSON.parse(messageOf(event, links)).data;
      found.push(`${data.claim_key ?? data.n} ${data.status} ${new URL(url).pathname} ${event.sections}`);
    }
    return found.splice(seen).sort();
  };
  const news = () => {
    const found = events();
    seen += found.length;
    return found;
  };
  assert.deepEqual(news(), [], 'nothing of a draft');
  air('deep');
  assert.deepEqual(news(), [`depth quote_not_found /${PAPER}/facts/depth/ City`]);
  put('also', [keyed, { source: 'Another', instrument: 'Ledger, page 4' }]);
  air('also');
  assert.deepEqual(news(), [], 'it was told');
  const months: [string | number, string[]][] = [
    [SAYS, []],
    [404, ['2 gone', 'depth gone']],
    [410, []],
    ...READ_WAITS.map((): [number, string[]] => [500, []]),
    [500, []],
    [410, []],
    [`${SAYS} It is twenty metres deep.`, ['2 changed']],
    [SAYS, ['depth quote_not_found']],
  ];
  for (const [page, expected] of months) {
    clock.now += READ_EVERY;
    pages.set('/report', page);
    await read();
    assert.deepEqual(
      news().map((one) => one.split(' /')[0]),
      expected,
    );
  }
  await sound(app);
});

test('fact check reads every source again, and says which facts need to be revised', { skip: ONLY_WIDE }, async (t) => {
  const { app, root, put, air, pages } = await stand(t);
  put('deep', [
    { claim_key: 'depth', quote: 'twelve metres deep', instrument: root.replace('source.example', '127.0.0.1') },
    { source: 'Another', instrument: 'Ledger' },
  ]);
  air('deep');
  pages.set('/', SAYS);
  await pressPapers(app, { cards: false });
  const folder = dirname(app.settings.dataDir);
  app.close();
  const check = (more: string[] = []) => run(t, folder, ['fact', 'check', ...more], { WEBHOOK_PRIVATE: 'allow' });
  const first = await check(['--paper', PAPER]);
  assert.deepEqual(
    [first.code, first.stdout.split('\n').slice(0, 2)],
    [0, ['read 1 source', 'no fact needs to be revised']],
    first.stderr,
  );
  pages.set('/', 404);
  const { code, stdout } = await check(['--json']);
  assert.equal(code, 1);
  const { read, to_revise } = JSON.parse(stdout);
  assert.equal(read, 1);
  assert.deepEqual([to_revise.length, to_revise[0].subject, to_revise[0].state], [1, 'depth', 'gone']);
  assert.equal((await check(['--paper', 'none'])).code, 1);
});

const FACT = { claim_key: 'harbour-depth', source: 'Office' };

test('the source of a version that is not the newest is read no more', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock, root, asked, put, air, read } = await stand(t);
  const correct = (version: number, order: object) =>
    correctFact(deskOf(app), PAPER, 'harbour-depth', { version, note: 'A misprint.', by: 'cli', ...order });
  put('deep', [
    { ...FACT, instrument: `${root}/none` },
    { source: 'Another', instrument: 'Ledger, page 4' },
  ]);
  air('deep');
  await read();
  const toRevise = () => app.store.desk.archive(PAPER).factsToRevise(9).length;
  assert.equal(toRevise(), 1);
  correct(1, { instrument: 'Report, page 4' });
  assert.equal(toRevise(), 0, 'it was revised');
  correct(2, { instrument: `${root}/report` });
  await read();
  correct(3, { status: 'retracted' });
  clock.now += READ_EVERY;
  assert.equal(await read(), 0);
  assert.deepEqual(asked, ['/none', '/report']);
  await sound(app);
});

test('a source that falls behind while its paper reads none is left out', async (t) => {
  const { app, clock, put, air, read } = await stand(t);
  put('deep', CITED);
  air('deep');
  await read();
  createPaper(app, {});
  const order = { version: 1, instrument: 'Report, page 4', note: 'A misprint.', by: 'cli' };
  correctFact(deskOf(app), PAPER, 'harbour-depth', order);
  createPaper(app, { sources: { read: true, quote_not_found: 'warn', republish: false } });
  clock.now += READ_EVERY;
  assert.equal(await read(), 0);
  await sound(app);
});

test('a piece that waits for a source is a draft again when its fact is corrected first', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, put, air, story, read } = await stand(t, { quote_not_found: 'refuse' });
  const cited = [{ ...FACT, quote: 'twelve metres deep' }, { source: 'Another' }];
  put('deep', cited);
  put('draft', cited);
  air('deep');
  const order = { version: 1, statement: 'It was 12 m in 2025.', note: 'A misprint.', by: 'cli' };
  const { unscheduled } = correctFact(deskOf(app), PAPER, 'harbour-depth', order);
  assert.deepEqual(
    unscheduled.map(({ slug, reason }) => [slug, reason]),
    [['deep', 'It cites harbour-depth, which was corrected before its source was read: A misprint.']],
  );
  await read();
  for (const slug of ['deep', 'draft']) {
    assert.equal(story(slug).state, 'draft');
    assert.throws(() => air(slug), /entry 1: its fact was corrected before its source was read, .* change the entry/);
    put(slug, [{ ...cited[0], statement: 'It was 12 m in 2025.' }, { source: 'Another' }], { correction: null });
    assert.equal(air(slug).state, 'on_air');
  }
  await sound(app);
});

test('a paper with many sources keeps no other waiting', { skip: ONLY_WIDE }, async (t) => {
  const { app, root, asked, put, read } = await stand(t);
  put(
    'deep',
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => ({ instrument: `${root}/${n}` })),
  );
  const other = 'zz-paper';
  createPaper(app, { sources: { read: true, quote_not_found: 'warn', republish: false } }, other);
  const cited_facts = [
    { n: 1, statement: 'It is so.', source: 'Office', instrument: `${root}/report`, claim_key: null },
    { n: 2, statement: 'It is so, too.', source: 'Another', instrument: 'Ledger, page 4', claim_key: null },
  ];
  fileStory(deskOf(app), other, filing('deep', { cited_facts }), { by: 'cli' });
  await read();
  await read();
  assert.ok(asked.includes('/report'));
});

/** The files of sources and media, temporary ones too. */
const filesOf = ({ store }: AppContext) =>
  readdirSync(store.media.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const CITED = [FACT, { source: 'Another', instrument: 'Ledger, page 4' }];

test('a reading whose fact is corrected meanwhile signs nothing and leaves no file', { skip: ONLY_WIDE }, async (t) => {
  const { app, clock, tools, put, story } = await stand(t);
  put('deep', CITED);
  const order = { version: 1, instrument: 'Report, page 4', note: 'A misprint.', by: 'cli' };
  const find: typeof tools.texts.find = (source, cited) => {
    correctFact(deskOf(app), PAPER, 'harbour-depth', order);
    return tools.texts.find(source, cited);
  };
  await readSources(app, { ...tools, texts: { ...tools.texts, find } }, logger);
  assert.deepEqual(states(story('deep')), []);
  clock.now += CLAIM;
  sweepSources(app);
  assert.deepEqual(filesOf(app), []);
  await sound(app);
});

test('what a process leaves behind that is killed before it signs is swept, and read again', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, clock, put, story, read } = await stand(t);
  put('deep', CITED);
  const { dataDir } = app.settings;
  const child = spawn(process.execPath, [fileURLToPath(new URL('../support/reads-and-stops.ts', import.meta.url))], {
    env: { ...process.env, ...envIn(dirname(dataDir)), PAPER, AT: `${clock.now}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const text = app.store.media.pathOf(sha256(`Report\n${SAYS}`));
  writeFileSync(join(dirname(text), `.${basename(text)}.1.1`), 'half');
  assert.equal(filesOf(app).length, 3);
  clock.now += CLAIM - 1;
  sweepSources(app);
  assert.equal(filesOf(app).length, 3, 'it may be at work still');
  clock.now += 1;
  sweepSources(app);
  assert.deepEqual(filesOf(app), []);
  await read();
  assert.deepEqual(states(story('deep')), ['1 read']);
  clock.now += CLAIM;
  sweepSources(app);
  assert.equal(filesOf(app).length, 2, 'what evidence names stays');
  await sound(app);
});

test('a process whose files were swept while it stood still signs nothing, and no picture is swept', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, root, clock, pages, put, story, read } = await stand(t);
  put('deep', CITED);
  const { keepBytes } = app.store.media;
  const mocked = t.mock.method(app.store.media, 'keepBytes', (digest: string, bytes: Uint8Array) => {
    keepBytes(digest, bytes);
    clock.now += CLAIM;
    sweepSources(app);
  });
  await read();
  clock.now += CLAIM;
  sweepSources(app);
  assert.deepEqual([states(story('deep')), filesOf(app).length], [[], 0]);
  mocked.mock.restore();
  await read();
  assert.deepEqual(states(story('deep')), ['1 read']);
  // A source whose text has the bytes of a picture of the paper.
  const digest = sha256(`Report\n${SAYS}`);
  const body = { digest, type: 'image/svg+xml', bytes: 1, width: 1, height: 1 };
  append(app.store.desk, { type: 'record', at: clock.now, paper: PAPER, kind: 'media', name: 'art/a.svg', body });
  pages.set('/report', 'Nothing.');
  const order = { version: 1, instrument: `${root}/report?`, note: 'A misprint.', by: 'cli' };
  correctFact(deskOf(app), PAPER, 'harbour-depth', order);
  await read();
  clock.now += CLAIM;
  sweepSources(app);
  assert.ok(app.store.media.has(digest));
});

test('a full disk keeps and signs nothing of a source, and it is read when there is room', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { app, clock, put, story, read } = await stand(t);
  put('deep', CITED);
  const { folder } = app.store.media;
  mkdirSync(folder, { recursive: true });
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]).status === 0;
  if (!isMounted) return t.skip('needs the right to mount');
  try {
    writeFileSync(join(folder, 'filler'), Buffer.alloc(60 * 1_024));
    await assert.rejects(read(), { code: 'ENOSPC' });
    assert.deepEqual(states(story('deep')), []);
    clock.now += CLAIM;
    sweepSources(app);
    assert.deepEqual(
      filesOf(app).map(({ name }) => name),
      ['filler'],
    );
    rmSync(join(folder, 'filler'));
    assert.equal(await read(), 1);
    assert.deepEqual(states(story('deep')), ['1 read']);
  } finally {
    spawnSync('umount', [folder]);
  }
});

test('why a text cannot be read is one plain line, whatever the source says', async (t) => {
  const { app, tools, put, story } = await stand(t);
  put('deep', CITED);
  const find = () => Promise.reject(new Error('bad\0\n\u202ename\ud800'));
  await readSources(app, { ...tools, texts: { ...tools.texts, find } }, logger);
  assert.equal(story('deep').evidence[0]?.reason, 'its text cannot be read: bad name ');
});

test('a file is looked up in an index, however much evidence a paper has', async (t) => {
  const { app, put, read } = await stand(t);
  put('deep', CITED);
  await read();
  const db = new DatabaseSync(databaseFile(app.settings));
  db.exec(
    `PRAGMA foreign_keys = OFF;
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
     INSERT INTO evidence (paper, subject, version, n, read_at, state, text) SELECT '${PAPER}', 'fact-' || i, 1, i, 0, 'read', 'x' || i FROM n`,
  );
  db.close();
  const archive = app.store.desk.archive(PAPER);
  const began = performance.now();
  for (let n = 0; n < 300; n++) assert.equal(archive.showsText(`sha256:${n}`), false);
  assert.ok(performance.now() - began < 500, 'reading every row takes seconds');
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { airDue, append } from '../../src/desk/append.ts';
import { factDocumentOf } from '../../src/desk/fact-rows.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { correctFact } from '../../src/desk/recording-facts.ts';
import { reviewStory } from '../../src/desk/reviewing.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { clockIn } from '../../src/proof/clock-note.ts';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { correctedFacts, factFaults } from '../../src/proof/fact-document.ts';
import { parseLeaf } from '../../src/proof/log/leaf.ts';
import { proofFaults, proofOf } from '../../src/proof/proof.ts';
import { isoTime } from '../../src/proof/time.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { localQueue } from '../../src/records/jobs/local-queue.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { correctClock } from '../../src/signing/clock/correct-clock.ts';
import { rotateKey } from '../../src/signing/signing.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import { HOUR, probe } from '../support/probes.ts';
import { evidenceFaults, evidenceOf } from '../support/records-faults.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const BY = { by: 'cli' };

function stand(t: TestContext) {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock);
  createPaper(app);
  return { folder, clock, app };
}

function put(app: AppContext, slug: string, at?: number) {
  fileStory(deskOf(app), PAPER, filing(slug), BY);
  airStory(deskOf(app), PAPER, slug, at === undefined ? BY : { ...BY, at });
}

async function look(app: AppContext, name: string, address = '192.0.2.1') {
  app.signer.open();
  app.store.records.watch([parseHostname(name)], app.clock.now());
  const queue = localQueue(app, 'test');
  const lease = queue.leaseNames([name])?.lease ?? '';
  const [entered] = await queue.submit(lease, [probe(name, app.clock.now(), { A: [address] })]);
  assert.equal(entered?.outcome, 'recorded');
}

const faultsOf = async (app: AppContext) => (await auditApp(app)).faults.filter((fault) => !/press/.test(fault));
const filedAt = ({ store }: AppContext) =>
  [...store.desk.entries()].flatMap((entry) => (entry.type === 'generation' ? [entry.at] : []));
const storyOf = (app: AppContext, slug: string) => app.store.desk.archive(PAPER).storyBySlug(slug);

function proofIn(app: AppContext, slug: string) {
  const archive = app.store.desk.archive(PAPER);
  const piece = archive.piece(storyOf(app, slug)?.id ?? '');
  assert.ok(piece !== null);
  const generations = archive.generations(piece.id);
  const sources = { generations, keys: archive.keys(), keysUrl: '', log: null, clock: archive.clockNotes() };
  return { proof: proofOf(piece, sources), keys: archive.keys() };
}

test('an approval that was dated ahead counts with the true time, and what was signed stays', async (t) => {
  const { app, clock } = stand(t);
  put(app, 'read');
  const approve = (slug: string) => {
    const by = { made_by: 'cli', name: 'Ada' };
    reviewStory(deskOf(app), PAPER, { id: storyOf(app, slug)?.id ?? '' }, { revision: 1, decision: 'approve', by });
  };
  clock.now = NOON + YEAR;
  approve('read');
  put(app, 'read-later');
  clock.now = NOON + DAY;
  correctClock(app, [], clock.now);
  assert.equal(storyOf(app, 'read')?.reviewed_by?.at, clock.now);
  clock.now += HOUR;
  approve('read-later');
  assert.equal(storyOf(app, 'read-later')?.reviewed_by?.at, clock.now);
  assert.deepEqual(await faultsOf(app), []);
});

test('a clock a year ahead is corrected: signing continues with the true time, and everything verifies', async (t) => {
  const { app, clock, folder } = stand(t);
  put(app, 'before');
  put(app, 'withdrawn');
  fileStory(deskOf(app), PAPER, filing('embargoed'), BY);
  airStory(deskOf(app), PAPER, 'embargoed', { ...BY, at: NOON + 30 * DAY });
  await look(app, 'harbor.example');

  clock.now = NOON + YEAR;
  airDue(app.store.desk, clock.now);
  put(app, 'ahead');
  fileStory(deskOf(app), PAPER, filing('draft'), BY);
  withdrawStory(deskOf(app), PAPER, 'withdrawn', { ...BY, reason: 'It was wrong.' });
  await look(app, 'harbor.example', '192.0.2.2');
  rotateKey(app);
  fileStory(deskOf(app), PAPER, { ...filing('before'), headline: 'Another headline' }, BY);
  await look(app, 'quay.example');

  clock.now = NOON + DAY;
  const T = isoTime(clock.now);
  const signed = [...app.store.desk.entries()].flatMap((entry) => (entry.type === 'generation' ? [entry.receipt] : []));
  const observed = app.store.records.receipts(1, 100);
  const done = correctClock(app, [], app.clock.now());
  assert.deepEqual(done, {
    true_time: T,
    corrected: [
      { service: 'desk', paper: null, of: 'receipts', seqs: null },
      { service: 'desk', paper: PAPER, of: 'receipts', seqs: { first: 4, last: 6 } },
      { service: 'records', paper: null, of: 'receipts', seqs: { first: 2, last: 3 } },
    ],
  });
  assert.deepEqual(await faultsOf(app), []);
  assert.equal(storyOf(app, 'ahead')?.published_at, clock.now);
  assert.equal(storyOf(app, 'before')?.updated_at, clock.now);
  assert.equal(storyOf(app, 'withdrawn')?.withdrawn_at, clock.now);
  assert.deepEqual([storyOf(app, 'embargoed')?.state, storyOf(app, 'embargoed')?.published_at], ['on_air', clock.now]);
  assert.ok((app.store.desk.paper(PAPER)?.changed_at ?? 0) <= clock.now);
  assert.ok(app.store.database.newestTime() <= clock.now);

  clock.now += HOUR;
  put(app, 'after');
  airStory(deskOf(app), PAPER, 'draft', BY);
  fileStory(deskOf(app), PAPER, { ...filing('ahead'), headline: 'Another headline' }, BY);
  await look(app, 'harbor.example', '192.0.2.3');
  assert.deepEqual(filedAt(app).slice(-2), [clock.now, clock.now]);
  assert.deepEqual(
    [storyOf(app, 'after'), storyOf(app, 'draft')].map((story) => story?.published_at),
    [clock.now, clock.now],
  );
  clock.now += HOUR;
  rotateKey(app);
  put(app, 'last');
  await look(app, 'harbor.example', '192.0.2.4');
  assert.deepEqual(await faultsOf(app), []);
  const kept = [...app.store.desk.entries()].flatMap((entry) => (entry.type === 'generation' ? [entry.receipt] : []));
  assert.deepEqual(kept.slice(0, signed.length), signed, 'nothing signed changes');
  assert.deepEqual(app.store.records.receipts(1, observed.length), observed);

  for (const slug of ['before', 'ahead', 'draft', 'after', 'last']) {
    const { proof, keys } = proofIn(app, slug);
    assert.equal(proof.clock?.length ?? 0, ['after', 'last'].includes(slug) ? 0 : 1, slug);
    assert.deepEqual(proofFaults(proof, verifyNode, keys), [], slug);
    assert.deepEqual(proofFaults(proof, verifyNode), [], `${slug} on its own`);
  }
  const { proof, keys } = proofIn(app, 'ahead');
  assert.match(proofFaults({ ...proof, clock: undefined }, verifyNode, keys).join(), /was filed before the generation/);
  const [note = ''] = proof.clock ?? [];
  assert.match(
    proofFaults({ ...proof, clock: [note.replace('4-6', '1-9')] }, verifyNode, keys).join(),
    /the signature does not hold/,
  );
  assert.match(proofFaults({ ...proof, clock: [observed[0] ?? ''] }, verifyNode, keys).join(), /not a clock\/v1 note/);

  const { records } = app.store;
  const host = records.find('harbor.example')?.id ?? 0;
  const chain = [...records.observationsOf(host)];
  assert.deepEqual(
    chain.map(({ seq }) => seq),
    [1, 2, 4, 5],
  );
  const known = app.store.desk.verifyingKeys('records');
  const bundle = evidenceOf('harbor.example', chain, known, () => null, app.store.desk.clockNotes('records', ''));
  assert.equal(bundle.clock?.length, 1);
  assert.deepEqual(evidenceFaults(bundle, verifyNode, known), []);
  assert.deepEqual(evidenceFaults(bundle, verifyNode), []);
  assert.notDeepEqual(evidenceFaults({ ...bundle, clock: undefined }, verifyNode, known), []);
  assert.equal(records.observation(host, NOON + DAY)?.seq, 2, 'as of the true time');
  assert.deepEqual(
    records.observationPage(host, { after: { at: NOON + YEAR, seq: 2 } }, 9).map(({ seq }) => seq),
    [4, 5],
  );

  const file = join(folder, 'ledger.jsonl');
  await exportLedger(intakeOf(app), file);
  const other = appContextIn(t, tempFolder(t), clock);
  await importLedger(intakeOf(other), file);
  assert.deepEqual(await faultsOf(other), []);
  assert.deepEqual(other.store.desk.clockNotes('desk', PAPER), app.store.desk.clockNotes('desk', PAPER));
  assert.deepEqual(storyOf(other, 'ahead')?.published_at, storyOf(app, 'ahead')?.published_at);
  other.store.database.log.setFilled('desk', false);
  assert.deepEqual(correctClock(app, [], app.clock.now()).corrected, [], 'once is enough');
});

test('a version of a fact that was dated ahead counts with the true time, and outlives its key', async (t) => {
  const { app, clock, folder } = stand(t);
  const fact = {
    n: 1,
    claim_key: 'pier',
    statement: 'The pier is long.',
    source: 'Port Authority',
    instrument: 'A map',
  };
  const cited_facts = [
    fact,
    { n: 2, claim_key: null, statement: 'It is so.', source: 'NIST', instrument: 'FIPS 180-4' },
  ];
  fileStory(deskOf(app), PAPER, filing('pier', { cited_facts }), BY);
  airStory(deskOf(app), PAPER, 'pier', BY);
  const archive = app.store.desk.archive(PAPER);
  clock.now = NOON + YEAR;
  correctFact(deskOf(app), PAPER, 'pier', { version: 1, statement: 'The pier is short.', note: 'A slip.', ...BY });
  clock.now = NOON + DAY;
  const { corrected } = correctClock(app, [], clock.now);
  assert.deepEqual(corrected, [
    { service: 'desk', paper: PAPER, of: 'receipts', seqs: null },
    { service: 'desk', paper: PAPER, of: 'facts', seqs: { first: 2, last: 2 } },
  ]);
  const { signed_at, changed_at } = archive.fact('pier') ?? assert.fail();
  assert.deepEqual([signed_at, changed_at], [clock.now, clock.now]);
  clock.now += HOUR;
  rotateKey(app);
  correctFact(deskOf(app), PAPER, 'pier', { version: 2, statement: 'The pier is long.', note: 'It was right.', ...BY });
  assert.deepEqual(await faultsOf(app), []);
  assert.deepEqual(correctClock(app, [], clock.now).corrected, [], 'once is enough');

  const document = factDocumentOf(archive, 'pier');
  const keys = archive.keys();
  assert.deepEqual(document.versions[1]?.signed_at, isoTime(NOON + YEAR), 'what was signed stays');
  assert.deepEqual(correctedFacts(document), [
    { version: 2, signed_at: isoTime(NOON + YEAR), true_time: isoTime(NOON + DAY) },
  ]);
  assert.deepEqual(factFaults(document, verifyNode, keys), []);
  assert.deepEqual(factFaults(document, verifyNode), [], 'on its own');
  const { clock: notes = [], ...without } = document;
  assert.match(factFaults(without, verifyNode, keys).join(), /versions\[1\]: signed at .*, but its key was retired at/);
  const [note = { note: '', vkey: '' }] = notes;
  const faulty = (clock: unknown) => factFaults({ ...document, clock }, verifyNode, keys).join();
  assert.match(faulty([{ ...note, note: note.note.replace('2-2', '1-9') }]), /clock\[0\]: the signature does not hold/);
  assert.match(faulty([{ ...note, note: note.note.replace('fact_seq', 'seq') }]), /it is of receipts, not of versions/);
  assert.match(faulty([{ ...note, vkey: document.fact.vkey }]), /clock\[0\]: its vkey is not that of its kid/);
  assert.deepEqual(proofIn(app, 'pier').proof.clock, undefined, 'no receipt of a piece is covered');

  const file = join(folder, 'ledger.jsonl');
  await exportLedger(intakeOf(app), file);
  const other = appContextIn(t, tempFolder(t), clock);
  await importLedger(intakeOf(other), file);
  assert.deepEqual(await faultsOf(other), []);
  assert.deepEqual(other.store.desk.archive(PAPER).fact('pier'), archive.fact('pier'));
});

test('a clock may run ahead twice, and a correction made too early is corrected itself', async (t) => {
  const { app, clock } = stand(t);
  put(app, 'before');
  clock.now = NOON + YEAR;
  put(app, 'ahead');
  clock.now = NOON + 30 * DAY;
  correctClock(app, [], app.clock.now());
  put(app, 'still-ahead');
  clock.now = NOON + HOUR;
  assert.deepEqual(
    correctClock(app, [], app.clock.now()).corrected.map(({ seqs }) => seqs),
    [{ first: 2, last: 3 }],
  );
  put(app, 'right');
  assert.deepEqual(filedAt(app).at(-1), clock.now);
  clock.now = NOON + YEAR;
  put(app, 'ahead-again');
  clock.now = NOON + 2 * HOUR;
  assert.deepEqual(
    correctClock(app, [], app.clock.now()).corrected.map(({ seqs }) => seqs),
    [{ first: 5, last: 5 }],
  );
  assert.deepEqual(await faultsOf(app), []);
  for (const slug of ['before', 'ahead', 'still-ahead', 'right', 'ahead-again']) {
    const { proof, keys } = proofIn(app, slug);
    assert.deepEqual(proofFaults(proof, verifyNode, keys), [], slug);
  }
  assert.deepEqual(storyOf(app, 'ahead')?.published_at, NOON + HOUR);
});

test('a correction of a private paper shows the log a hash, until the paper turns public', async (t) => {
  const { app, clock } = stand(t);
  const { slug: _slug, edition: _edition, changed_at: _at, ...paper } = app.store.desk.archive(PAPER).paper();
  const set = (paper_public: boolean) =>
    append(app.store.desk, {
      type: 'record',
      at: clock.now,
      paper: PAPER,
      kind: 'paper',
      name: '',
      body: { ...paper, paper_public },
    });
  set(false);
  app.signer.open();
  clock.now = NOON + YEAR;
  put(app, 'ahead');
  clock.now = NOON + HOUR;
  correctClock(app, [], app.clock.now());
  const corrections = () =>
    app.store.database.log.entries('desk', 0, 100).flatMap((entry) => {
      const leaf = parseLeaf(entry);
      return leaf.kind === 'clock' ? [leaf.clock.paper] : [];
    });
  assert.deepEqual(corrections(), []);
  assert.deepEqual(await faultsOf(app), []);
  set(true);
  assert.deepEqual(corrections(), [PAPER]);
  assert.deepEqual(await faultsOf(app), []);
});

test('a wrong clock corrects nothing, and an audit finds a forged correction', async (t) => {
  const { app, clock } = stand(t);
  put(app, 'before');
  clock.now = NOON - YEAR;
  assert.throws(
    () => correctClock(app, [], app.clock.now()),
    /nothing is corrected: .* before this program was written/,
  );
  clock.now = NOON - 30 * DAY;
  assert.throws(
    () => correctClock(app, [{ name: 'the witness', ahead: -30 * DAY }]),
    /nothing is corrected: .*, 30 days behind the witness/,
  );
  clock.now = NOON;
  assert.deepEqual(correctClock(app, [], app.clock.now()).corrected, []);
  clock.now = NOON + YEAR;
  put(app, 'ahead');
  // Behind the true time, which is a day later: a correction would be false for good.
  clock.now = NOON + HOUR;
  assert.throws(
    () => correctClock(app, []),
    /nothing is corrected: .*, and no other machine answered; say what time it is/,
  );
  assert.throws(
    () => correctClock(app, [], NOON + DAY),
    /nothing is corrected: .*, which is not the time that --now says/,
  );
  assert.throws(() => correctClock(app, [], Number.NaN), /which is not the time that --now says/);
  assert.deepEqual(app.store.desk.clockNotes('desk', PAPER), []);
  correctClock(app, [], app.clock.now());
  const note = app.store.desk.clockNotes('desk', PAPER)[0] ?? '';
  assert.equal(clockIn(note)?.true_time, isoTime(clock.now));
  const forged = note.replace('seq 2-2', 'seq 1-2');
  append(app.store.desk, {
    type: 'record',
    at: clock.now,
    paper: PAPER,
    kind: 'clock',
    name: 'desk',
    body: { note: forged, aired: [] },
  });
  assert.match(
    (await faultsOf(app)).join('\n'),
    /correction of the clock for harbor-ledger: clock\[0\]: the signature does not hold/,
  );
});

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import Database from 'libsql';
import { airStory, undoWithdrawal, withdrawStory } from '../../src/desk/airing.ts';
import { airDue, append } from '../../src/desk/append.ts';
import { SETTINGS } from '../../src/desk/console/settings-form.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { paperFrom } from '../../src/desk/papers/record.ts';
import { requiresReview, reviewRow } from '../../src/desk/review.ts';
import { ReviewOrder, reviewStory } from '../../src/desk/reviewing.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { verifyNoble } from '../../src/proof/ed25519.ts';
import { parseLeaf } from '../../src/proof/log/leaf.ts';
import { loggedEntries } from '../../src/proof/log/logged-entries.ts';
import { leafHash } from '../../src/proof/merkle.ts';
import { proofFaults } from '../../src/proof/proof.ts';
import { reviewIn } from '../../src/proof/review-note.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { type Fault, problemsIn } from '../../src/shared/fault.ts';
import { databaseFile, signingKeyFile } from '../../src/shared/files/data-folder.ts';
import { rotateSigningKey } from '../../src/signing/signing-key.ts';
import { signingName } from '../../src/signing/signing-name.ts';
import {
  appContextIn,
  createPaper,
  filing,
  PAPER,
  PERSONAS,
  SECTIONS,
  tempFolder,
  treeOf,
} from '../support/app-context.ts';
import { assertSameTree, fullPress } from '../support/full-press.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;
const AGENT = { by: 'key:agent', isAgent: true };
const DESK = { by: 'cli' };
const EDITOR = { made_by: 'key:editor', name: 'Ida Quist' };

function deskWith(t: TestContext, review: PaperBody['review']) {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock);
  createPaper(app, review === undefined ? {} : { review });
  const desk = deskOf(app);
  const archive = app.store.desk.archive(PAPER);
  const story = (slug: string) => archive.storyBySlug(slug) ?? assert.fail(`there is no ${slug}`);
  const decide = (slug: string, order: Partial<ReviewOrder> = {}) =>
    reviewStory(desk, PAPER, story(slug), {
      revision: story(slug).revision,
      decision: 'approve',
      by: EDITOR,
      ...order,
    });
  return { folder, clock, app, desk, archive, story, decide, due: () => airDueNow(app) };
}

function airDueNow({ store, clock }: AppContext): string[] {
  return store.database.transact(() => airDue(store.desk, clock.now()));
}

/** What an audit finds, but that nothing was pressed. */
const faultsOf = async (app: AppContext) =>
  (await auditApp(app)).faults.filter((fault) => !fault.includes('stale files wait'));

const revised = (slug: string) => filing(slug, { dek: 'Another dek.' });
const conflict = { code: 'conflict' };
const rulesOf = (work: () => unknown): string[] => {
  try {
    work();
  } catch (error) {
    return (problemsIn(error as Fault) ?? []).map(({ field, rule }) => `${field} ${rule}`);
  }
  return assert.fail('it was not refused');
};

suite('reviews', () => {
  test('what an agent files stays off the air past its time, and goes on air when a person approves it', async (t) => {
    const { folder, clock, app, desk, archive, story, decide, due } = deskWith(t, 'required');
    fileStory(desk, PAPER, filing('tide'), AGENT);
    assert.deepEqual(reviewRow(story('tide')), { state: 'waiting', by: null, at: null, note: null });
    airStory(desk, PAPER, 'tide', { by: 'key:agent', at: NOON + HOUR });
    clock.now = NOON + 2 * HOUR;
    assert.deepEqual(due(), []);
    assert.equal(app.store.desk.nextScheduled(), null, 'nothing is due, so no loop looks for it again and again');
    assert.deepEqual([story('tide').state, story('tide').scheduled_at], ['scheduled', NOON + HOUR]);
    const waiting = app.store.desk.pieces.awaitingReview(PAPER, { limit: 9 });
    assert.deepEqual(
      waiting.map(({ slug }) => slug),
      ['tide'],
    );

    decide('tide', { role: 'Managing editor' });
    const { state, published_at, reviewed_by } = story('tide');
    const at = clock.now;
    assert.deepEqual([state, published_at], ['on_air', at], 'since it was approved, not since it was to go on air');
    assert.deepEqual(reviewed_by, { name: 'Ida Quist', role: 'Managing editor', at });
    assert.deepEqual(reviewRow(story('tide')), {
      ...{ state: 'approved', by: 'Ida Quist', at: new Date(at).toISOString(), note: null },
    });
    assert.deepEqual(app.store.desk.pieces.awaitingReview(PAPER, { limit: 9 }), []);

    const [note = ''] = archive.reviewNotes(story('tide').id);
    assert.deepEqual(reviewIn(note), {
      ...{ paper: PAPER, piece: story('tide').id, revision: 1, reviewed_by: 'Ida Quist', role: 'Managing editor' },
      ...{ reviewed_at: new Date(at).toISOString(), seq: 1, kid: desk.signingKey.kid },
    });
    const [verbatim, hash] = loggedEntries(note).map((entry) =>
      app.store.database.log.indexOf('desk', leafHash(entry)),
    );
    assert.equal(verbatim, null, 'no name is in the log for good');
    assert.equal(parseLeaf(loggedEntries(note)[1]).kind, 'receipt-hash');
    assert.notEqual(hash, null);
    assert.deepEqual(await faultsOf(app), []);

    const file = join(folder, 'ledger.jsonl');
    await exportLedger(intakeOf(app), file);
    const other = appContextIn(t, join(folder, 'other'), clock);
    await importLedger(intakeOf(other), file);
    assert.deepEqual(other.store.desk.archive(PAPER).storyBySlug('tide'), story('tide'));
    const lines = readFileSync(file, 'utf8').split('\n');
    const forged = lines.map((line) => line.replace('reviewed_by Ida Quist', 'reviewed_by Ida Quast'));
    assert.notDeepEqual(forged, lines);
    writeFileSync(file, forged.join('\n'));
    const third = appContextIn(t, join(folder, 'third'), clock);
    await assert.rejects(importLedger(intakeOf(third), file), /review 1 of harbor-ledger: the signature does not hold/);
  });

  test('an agent that puts a piece on air now has it scheduled, once, until it is approved', (t) => {
    const { clock, app, desk, story, decide, due } = deskWith(t, 'required');
    fileStory(desk, PAPER, filing('tide'), { ...AGENT, toAir: true });
    assert.equal(airStory(desk, PAPER, 'tide', AGENT).story.state, 'scheduled');
    clock.now += 1_000;
    const entries = [...app.store.desk.entries()].length;
    assert.equal(airStory(desk, PAPER, 'tide', AGENT).changed, false);
    assert.equal(airStory(desk, PAPER, 'tide', DESK).changed, false, 'nor does an airing by a person approve it');
    assert.equal([...app.store.desk.entries()].length, entries);
    assert.deepEqual(due(), []);
    decide('tide');
    assert.equal(story('tide').state, 'on_air');
  });

  test('a piece that is approved before its time goes on air at its time', (t) => {
    const { clock, desk, story, decide, due } = deskWith(t, 'required');
    fileStory(desk, PAPER, filing('tide'), AGENT);
    decide('tide');
    assert.equal(story('tide').state, 'draft', 'to approve is not to air');
    airStory(desk, PAPER, 'tide', { ...AGENT, at: NOON + HOUR });
    clock.now = NOON + HOUR + 1;
    due();
    assert.deepEqual([story('tide').state, story('tide').published_at], ['on_air', NOON + HOUR]);
  });

  test('a later revision by an agent waits again, and one by the desk does not', async (t) => {
    const { clock, app, desk, story, decide, due } = deskWith(t, 'required');
    fileStory(desk, PAPER, filing('tide'), AGENT);
    airStory(desk, PAPER, 'tide', { ...AGENT, at: NOON + HOUR });
    decide('tide');
    fileStory(desk, PAPER, revised('tide'), AGENT);
    assert.equal(reviewRow(story('tide')).state, 'waiting');
    clock.now = NOON + 2 * HOUR;
    assert.deepEqual(due(), []);
    fileStory(desk, PAPER, filing('tide', { dek: 'A dek by the desk.' }), DESK);
    assert.equal(reviewRow(story('tide')).state, 'not_required');
    assert.deepEqual([story('tide').state, story('tide').published_at], ['on_air', clock.now]);
    assert.deepEqual(await faultsOf(app), []);
  });

  test('no agent changes what readers have seen, on air or withdrawn', (t) => {
    const { desk, story, decide } = deskWith(t, 'required');
    fileStory(desk, PAPER, filing('tide'), AGENT);
    airStory(desk, PAPER, 'tide', AGENT);
    decide('tide');
    const revise = () => fileStory(desk, PAPER, revised('tide'), AGENT);
    assert.deepEqual(rulesOf(revise), ['revision review_required']);
    withdrawStory(desk, PAPER, 'tide', { ...DESK, reason: 'It was wrong.' });
    assert.deepEqual(rulesOf(revise), ['revision review_required']);
    assert.equal(story('tide').revision, 1);
    assert.equal(undoWithdrawal(desk, PAPER, 'tide', DESK).state, 'on_air', 'it was approved, and is the same');
    fileStory(desk, PAPER, revised('tide'), DESK);
    assert.equal(story('tide').dek, 'Another dek.');
  });

  test('a paper names all pieces, sections or personas; no agent moves a piece out of its review', (t) => {
    const [city = '', port = '', other = ''] = SECTIONS;
    const [ines = '', tomas = ''] = PERSONAS;
    const by = (review: unknown, category: string, persona: string) =>
      requiresReview(PaperBody.pick({ review: true }).parse({ review }), { category, persona });
    assert.equal(by(undefined, city, ines), false);
    assert.equal(by('required', city, ines), true);
    assert.equal(by({ shown: true }, city, ines), true);
    const some = { sections: [city], personas: [tomas] };
    assert.deepEqual([by(some, city, ines), by(some, port, tomas), by(some, port, ines)], [true, true, false]);

    const { desk, story } = deskWith(t, { sections: [city], shown: false });
    fileStory(desk, PAPER, filing('tide', { category: other }), AGENT);
    assert.equal(reviewRow(story('tide')).state, 'not_required');
    fileStory(desk, PAPER, filing('quay', { category: city }), DESK);
    assert.equal(reviewRow(story('quay')).state, 'not_required', 'the desk’s own');
    fileStory(desk, PAPER, filing('quay', { category: other }), AGENT);
    assert.equal(reviewRow(story('quay')).state, 'waiting');
  });

  test('paper.yaml says what is reviewed, and a name with a typing error is refused', (t) => {
    const { archive } = deskWith(t, undefined);
    const body = { nameplate: 'A', sections: ['News'] };
    const parse = (review: unknown) => PaperBody.safeParse({ ...body, review });
    for (const review of ['none', true, { sections: [] }, { personas: ['a', 7] }, { section: ['News'] }, null])
      assert.equal(parse(review).success, false, JSON.stringify(review));
    const rules = (review: unknown) =>
      rulesOf(() => paperFrom(archive, { ...archive.paper(), ...PaperBody.pick({ review: true }).parse({ review }) }));
    assert.deepEqual(rules({ sections: [SECTIONS[0], 'Cty'], personas: ['ines-caloway'] }), [
      'review.sections[1] unknown_section',
      'review.personas[0] unknown_persona',
    ]);
    const { slug: _slug, edition: _edition, changed_at: _at, ...own } = archive.paper();
    const review = { personas: ['new-one'], shown: true };
    const personas = ['new-one'];
    assert.deepEqual(paperFrom(archive, { ...own, review }, { personas }).review, review, 'filed with the paper');
  });

  test('the console’s form of settings gives each setting back, and none that nobody meant', () => {
    const paper = (review?: PaperBody['review']) =>
      PaperBody.parse({ nameplate: 'A', sections: ['News'], ...(review === undefined ? {} : { review }) });
    const named = { sections: ['News', 'Wea:ther'], personas: ['ines'], shown: true };
    for (const review of [
      undefined,
      'required' as const,
      { shown: true },
      { sections: ['News'], shown: false },
      named,
    ]) {
      const texts = SETTINGS.review.texts(paper(review));
      assert.deepEqual(SETTINGS.review.value(texts), review ?? null);
    }
    const typed = { ...SETTINGS.review.texts(paper()), review: 'some' };
    assert.equal(PaperBody.shape.review.safeParse(SETTINGS.review.value(typed)).success, false, 'it would mean all');
  });

  test('a revision is approved once, and only while it is the newest', (t) => {
    const { app, desk, story, decide } = deskWith(t, 'required');
    fileStory(desk, PAPER, filing('tide'), AGENT);
    fileStory(desk, PAPER, revised('tide'), AGENT);
    const entries = () => [...app.store.desk.entries()].length;
    const before = entries();
    assert.throws(() => decide('tide', { revision: 1 }), {
      ...conflict,
      message: /revision 1 of tide is not the newest/,
    });
    assert.throws(() => decide('tide', { revision: 3 }), conflict);
    assert.equal(entries(), before);
    decide('tide', { revision: 2 });
    assert.throws(() => decide('tide'), { ...conflict, message: /Ida Quist approved revision 2 of tide at 2026-/ });
    assert.throws(() => decide('tide', { decision: 'request_changes', note: 'Too late.' }), conflict);
    assert.equal(entries(), before + 1);
    assert.equal(story('tide').reviewed_by?.name, 'Ida Quist');
  });

  test('a request for changes is kept beside the piece until its next revision, and signs nothing', (t) => {
    const { app, desk, story, decide, due } = deskWith(t, 'required');
    fileStory(desk, PAPER, filing('tide'), { ...AGENT });
    airStory(desk, PAPER, 'tide', AGENT);
    const entries = [...app.store.desk.entries()].length;
    decide('tide', { decision: 'request_changes', note: 'Who says so?\nName the source.' });
    assert.deepEqual(reviewRow(story('tide')), {
      ...{ state: 'changes_requested', by: 'Ida Quist', at: new Date(NOON).toISOString() },
      note: 'Who says so?\nName the source.',
    });
    assert.equal([...app.store.desk.entries()].length, entries);
    assert.deepEqual(due(), []);
    fileStory(desk, PAPER, revised('tide'), AGENT);
    assert.equal(reviewRow(story('tide')).state, 'waiting');
    decide('tide', { decision: 'request_changes' });
    decide('tide');
    assert.equal(reviewRow(story('tide')).state, 'approved', 'somebody else approved it as it is');

    fileStory(desk, PAPER, filing('quay'), DESK);
    assert.throws(() => decide('quay', { decision: 'request_changes' }), {
      ...conflict,
      message: /waits for no review/,
    });
    assert.throws(() => decide('quay', { note: 'Fine.' }), { code: 'invalid_request' });
    assert.throws(() => decide('quay', { decision: 'request_changes', role: 'Editor' }), { code: 'invalid_request' });
  });

  test('the name that is signed is one that readers may see, and no mail address', (t) => {
    const { desk, story, decide } = deskWith(t, 'required');
    fileStory(desk, PAPER, filing('tide'), AGENT);
    const by = { made_by: 'key:seat', name: 'ida@example.org' };
    const decideAs = (more: object) =>
      reviewStory(desk, PAPER, story('tide'), { revision: 1, decision: 'approve', by, ...more });
    assert.deepEqual(
      rulesOf(() => decideAs({})),
      ['name public_name'],
    );
    assert.deepEqual(
      rulesOf(() => decide('tide', { name: 'Ida \u202eQuist' })),
      ['name unbalanced_direction'],
    );
    assert.deepEqual(
      rulesOf(() => decide('tide', { role: '\u200b' })),
      ['role invisible'],
    );
    const order = { revision: 1, decision: 'approve' };
    for (const name of ['', ' ', 'a\nkid x', 'a\u0000', 'a\u2028b', 'a\u009b', 'x'.repeat(101), '\ud800']) {
      assert.equal(ReviewOrder.safeParse({ ...order, name }).success, false, JSON.stringify(name));
      assert.equal(ReviewOrder.safeParse({ ...order, role: name }).success, false, JSON.stringify(name));
    }
    assert.equal(story('tide').reviewed_by, null);
    const { name = '' } = ReviewOrder.parse({ ...order, name: ' <b>Ид́а</b>, “&” — 編集 ' });
    decideAs({ name });
    assert.equal(story('tide').reviewed_by?.name, '<b>Ид́а</b>, “&” — 編集'.normalize('NFC'));
  });

  test('a clock that was set back dates no review before what it approves, nor before its key', async (t) => {
    const { clock, app, desk, story, decide } = deskWith(t, 'required');
    fileStory(desk, PAPER, filing('tide'), AGENT);
    airStory(desk, PAPER, 'tide', AGENT);
    clock.now = NOON + HOUR;
    rotateSigningKey(app.store, signingKeyFile(app.settings), signingName(app.settings), clock.now);
    clock.now = NOON - HOUR;
    decide('tide');
    assert.equal(story('tide').reviewed_by?.at, NOON + HOUR);
    assert.deepEqual(await faultsOf(app), []);
  });

  test('a paper that shows reviews has them in its rows, pages and proofs, also of a piece on air', async (t) => {
    const { folder, clock, app, desk, story, decide } = deskWith(t, { sections: SECTIONS.slice(0, 1), shown: true });
    const file = (name: string) => readFileSync(join(folder, 'papers', PAPER, 'stories/tide', name), 'utf8');
    fileStory(desk, PAPER, filing('tide'), AGENT);
    airStory(desk, PAPER, 'tide', DESK);
    assert.equal(story('tide').state, 'scheduled');
    decide('tide', { name: 'Ida <Quist>' });
    clock.now += HOUR;
    rotateSigningKey(app.store, signingKeyFile(app.settings), signingName(app.settings), clock.now);
    await pressPapers(app, { cards: false });
    assert.match(file('index.html'), /Reviewed by <bdi[^>]*>Ida &lt;Quist&gt;<\/bdi>, <bdi[^>]*>Editor<\/bdi>, <time/);
    const markdown = readFileSync(join(folder, 'papers', PAPER, 'stories/tide.md'), 'utf8');
    assert.match(markdown, /^reviewed_by: \{"name":"Ida <Quist>","role":"Editor","at":"2026-11-20T12:00:00.000Z"\}$/m);

    // The desk revises it, which needs no review, and then somebody approves that too, by the new key.
    fileStory(desk, PAPER, revised('tide'), DESK);
    await pressPapers(app, { cards: false });
    assert.doesNotMatch(file('index.html'), /Reviewed by/, 'nobody approved what the page shows now');
    decide('tide', { name: 'Ola Brandt' });
    await pressPapers(app, { cards: false });
    assert.match(file('index.html'), /Reviewed by <bdi[^>]*>Ola Brandt/);
    const front = JSON.parse(readFileSync(join(folder, 'papers', PAPER, 'front.json'), 'utf8'));
    assert.equal(front.rails[0].stories[0].reviewed_by.name, 'Ola Brandt');
    const proof = JSON.parse(file('proof.json'));
    assert.deepEqual(
      proof.reviews.map(({ note }: { note: string }) => reviewIn(note)?.reviewed_by),
      ['Ida <Quist>', 'Ola Brandt'],
    );
    const keys = app.store.desk.archive(PAPER).keys();
    for (const trusted of [undefined, keys]) assert.deepEqual(proofFaults(proof, verifyNoble, trusted), []);
    assertSameTree(treeOf(join(folder, 'papers', PAPER)), await fullPress(t, folder, clock, false));

    const { slug: _slug, edition: _edition, changed_at: _at, ...own } = app.store.desk.archive(PAPER).paper();
    const hidden = { ...own, review: 'required' as const };
    app.store.database.transact(() =>
      append(app.store.desk, { type: 'record', at: clock.now, paper: PAPER, kind: 'paper', name: '', body: hidden }),
    );
    await pressPapers(app, { cards: false });
    assert.doesNotMatch(file('index.html'), /Ola Brandt/);
    assert.doesNotMatch(file('proof.json'), /Ola Brandt|review\/v1/);
  });

  test('an audit finds a review that was altered, moved to another piece, or left out', async (t) => {
    const { app, desk, story, decide } = deskWith(t, 'required');
    for (const slug of ['tide', 'quay']) {
      fileStory(desk, PAPER, filing(slug), AGENT);
      decide(slug);
    }
    const damage = async (sql: string): Promise<string[]> => {
      const db = new Database(databaseFile(app.settings));
      db.exec('DROP TRIGGER records_fixed');
      const kept = db.prepare("SELECT n, name, body FROM records WHERE kind = 'review'").all() as never[];
      db.exec(sql);
      const { faults } = await auditApp(app);
      for (const { n, name, body } of kept)
        db.prepare('UPDATE records SET name = ?, body = ? WHERE n = ?').run(name, body, n);
      db.exec(
        "CREATE TRIGGER records_fixed BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records is append-only'); END",
      );
      db.close();
      return faults;
    };
    const one = "WHERE kind = 'review' AND name = ";
    const { id } = story('tide');
    const altered = await damage(`UPDATE records SET body = replace(body, 'Ida', 'Ada') ${one}'${id}'`);
    assert.ok(
      altered.some((fault) => /review 1 of harbor-ledger: the signature does not hold/.test(fault)),
      altered.join(),
    );
    const moved = await damage(`UPDATE records SET name = '${story('quay').id}' ${one}'${id}'`);
    assert.ok(
      moved.some((fault) => /review 1 of harbor-ledger: it is of/.test(fault)),
      moved.join(),
    );
    const twice = await damage(
      `UPDATE records SET body = (SELECT body FROM records ${one}'${id}') ${one}'${story('quay').id}'`,
    );
    assert.ok(
      twice.some((fault) => /review 2 of harbor-ledger: .*seq is 1/.test(fault)),
      twice.join(),
    );
    const waits = await damage("UPDATE pieces SET awaits_review = 1, reviewed_by = NULL WHERE slug = 'tide'");
    assert.ok(
      waits.some((fault) => /tide: the archive says awaits_review true, the ledger false/.test(fault)),
      waits.join(),
    );
  });
});

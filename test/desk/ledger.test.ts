import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { airDue, append } from '../../src/desk/append.ts';
import type { Archive, Row } from '../../src/desk/archive.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { generationAudit } from '../../src/desk/generation-audit.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import type { PaperBody } from '../../src/desk/papers/paper.ts';
import { expirePlaces, placeFront } from '../../src/desk/placing.ts';
import { reviewStory } from '../../src/desk/reviewing.ts';
import { auditLedger } from '../../src/operate/audit/ledger.ts';
import { verifyNoble } from '../../src/proof/ed25519.ts';
import { proofFaults, proofOf } from '../../src/proof/proof.ts';
import { isoTime } from '../../src/proof/time.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import { signingKeyFile } from '../../src/shared/files/data-folder.ts';
import { rotateSigningKey } from '../../src/signing/signing-key.ts';
import { signingName } from '../../src/signing/signing-name.ts';
import {
  appContextIn,
  type Clock,
  createPaper,
  filing,
  PAPER,
  PERSONAS,
  SECTIONS,
  tempFolder,
} from '../support/app-context.ts';
import * as fc from '../support/properties.ts';

const START = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const SLUGS = ['tide', 'quay', 'lamp', 'buoy'];

/** What a desk may do. Numbers choose among what there is. */
type Step =
  | {
      do: 'file';
      slug: string;
      section: number;
      persona: number;
      headline: string;
      corrects: boolean;
      facts: number;
      isAgent: boolean;
    }
  | { do: 'air'; slug: string; hours: number }
  | { do: 'withdraw'; slug: string }
  | { do: 'look'; hours: number }
  | { do: 'sleep'; hours: number }
  | { do: 'paper'; sections: number; floor: number; review: PaperBody['review'] }
  | { do: 'review'; slug: string; approves: boolean; behind: number }
  | { do: 'persona'; persona: number; active: boolean }
  | { do: 'place'; lead: string; pin: string; hours: number }
  | { do: 'rotate' };

const slug = fc.constantFrom(...SLUGS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('file' as const),
      slug,
      section: fc.nat(2),
      persona: fc.nat(1),
      headline: fc.constantFrom('One', 'Deux', 'Тре', '四'),
      corrects: fc.boolean(),
      facts: fc.integer({ min: 1, max: 2 }),
      isAgent: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('air' as const), slug, hours: fc.integer({ min: -60, max: 30 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('withdraw' as const), slug }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('review' as const),
      slug,
      approves: fc.boolean(),
      behind: fc.constantFrom(0, 0, 0, 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const), hours: fc.integer({ min: 0, max: 40 }) }) },
  // Time passes, and nobody looks what fell due.
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sleep' as const), hours: fc.integer({ min: 1, max: 40 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('paper' as const),
      sections: fc.integer({ min: 1, max: 3 }),
      floor: fc.integer({ min: 2, max: 3 }),
      review: fc.constantFrom<PaperBody['review']>(undefined, 'required', {
        sections: SECTIONS.slice(0, 1),
        shown: true,
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('persona' as const), persona: fc.nat(1), active: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('place' as const),
      lead: slug,
      pin: slug,
      hours: fc.integer({ min: 1, max: 40 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rotate' as const) }) },
);

function record(app: AppContext, kind: 'paper' | 'persona', name: string, more: object): void {
  const body = { ...(app.store.desk.record(PAPER, kind, name) as object), ...more };
  app.store.database.transact(() =>
    append(app.store.desk, { type: 'record', at: app.clock.now(), paper: PAPER, kind, name, body }),
  );
}

function take(app: AppContext, clock: Clock, step: Step): void {
  const { store } = app;
  const desk = deskOf(app);
  if (step.do === 'file') {
    const { prose, cited_facts } = filing(step.slug);
    const piece = filing(step.slug, {
      headline: step.headline,
      category: SECTIONS[step.section] ?? '',
      persona: PERSONAS[step.persona] ?? '',
      correction: step.corrects ? 'It said otherwise.' : null,
      prose: step.facts === 2 ? prose : 'One thing is so.[^1]',
      cited_facts: cited_facts.slice(0, step.facts),
    });
    fileStory(desk, PAPER, piece, { by: 'cli', isAgent: step.isAgent });
    // The same content again enters nothing.
    const before = [...store.desk.entries()].length;
    assert.equal(fileStory(desk, PAPER, piece, { by: 'cli', isAgent: step.isAgent }).changed, false);
    assert.equal([...store.desk.entries()].length, before);
  }
  if (step.do === 'air') airStory(desk, PAPER, step.slug, { by: 'cli', at: clock.now + step.hours * HOUR });
  if (step.do === 'withdraw') withdrawStory(desk, PAPER, step.slug, { by: 'cli', reason: 'It was wrong.' });
  if (step.do === 'look' || step.do === 'sleep') clock.now += step.hours * HOUR;
  if (step.do === 'look') {
    store.database.transact(() => {
      airDue(store.desk, clock.now);
      expirePlaces(store.desk, clock.now);
    });
  }
  if (step.do === 'place') {
    const until = isoTime(clock.now + step.hours * HOUR);
    placeFront(desk, PAPER, { lead: { story: step.lead, until }, pins: [step.pin] }, 'cli');
  }
  if (step.do === 'paper') {
    const { review } = step;
    record(app, 'paper', '', { sections: SECTIONS.slice(0, step.sections), source_floor: step.floor, review });
  }
  if (step.do === 'review') {
    const story = store.desk.archive(PAPER).storyBySlug(step.slug);
    if (story === null) return;
    const revision = Math.max(1, story.revision - step.behind);
    const decision = step.approves ? ('approve' as const) : ('request_changes' as const);
    reviewStory(desk, PAPER, story, { revision, decision, by: { made_by: 'cli', name: 'Ida Quist' } });
  }
  if (step.do === 'persona') record(app, 'persona', PERSONAS[step.persona] ?? '', { active: step.active });
  if (step.do === 'rotate') {
    const { settings } = app;
    rotateSigningKey(store, signingKeyFile(settings), signingName(settings), clock.now);
  }
}

/** Rebuilds everything that follows from the ledger, and compares. */
function audit(app: AppContext): void {
  const { store } = app;
  const { next, revisions } = generationAudit(store.desk.signingKeys());
  const entries = [...store.desk.entries()];
  assert.deepEqual(entries.flatMap(next), []);
  const seqs = entries.flatMap((entry) => (entry.type === 'generation' ? [entry.seq] : []));
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  );
  const newest = revisions();
  assert.deepEqual(new Map(store.desk.pieces.shown().map(({ id, revision }) => [id, revision])), newest);
  assert.deepEqual(store.database.integrity(), []);
  auditArchive(store.desk.archive(PAPER), store);
}

/** Every list holds exactly what is on air, in order, and every count is that of its list. */
function auditArchive(archive: Archive, store: AppContext['store']): void {
  const stories = SLUGS.flatMap((name) => archive.storyBySlug(name) ?? []);
  const onAir = stories.filter(({ state }) => state === 'on_air');
  const newestFirst = [...onAir].sort((a, b) => b.published_at - a.published_at || (a.id < b.id ? 1 : -1));
  const ids = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);
  assert.deepEqual(ids(archive.latest({ limit: 99 })), ids(newestFirst));
  assert.deepEqual(
    ids(store.desk.pieces.unaired(PAPER, { limit: 1_000 })).sort(),
    ids(stories.filter(({ state }) => state !== 'on_air')).sort(),
  );
  // Two hundred proses of 1 MB each, read for one answer, kept everybody waiting for two seconds.
  for (const row of store.desk.pieces.unaired(PAPER, { limit: 1_000 }))
    assert.ok(!('prose' in row) && !('cited_facts' in row));
  for (const section of SECTIONS) {
    const own = newestFirst.filter(({ category }) => category === section);
    const list = archive.list('section', section);
    assert.equal(list.count(), own.length);
    assert.deepEqual(ids(list.newest(99)), ids(own));
    assert.deepEqual(ids(list.page(1, 99)), ids(own));
    for (const [index, row] of own.entries()) {
      assert.equal(list.rank(row), own.length - 1 - index);
      assert.equal(list.newer(row, 99), index);
      assert.deepEqual(ids(list.newest(99, row)), ids(own.slice(index + 1)));
    }
  }
  const dayOf = (row: Row): string => new Date(row.published_at).toISOString().slice(0, 10);
  const days = [...new Set(newestFirst.map(dayOf))];
  assert.deepEqual(
    archive.days(),
    days.map((day) => ({ day, count: onAir.filter((row) => dayOf(row) === day).length })),
  );
  for (const day of days) assert.deepEqual(ids(archive.day(day)), ids(newestFirst.filter((row) => dayOf(row) === day)));
  const { lead, pins } = archive.placement();
  for (const place of [lead, ...pins]) {
    const { state } = archive.storyById(place?.piece ?? '') ?? {};
    assert(place === null || state === 'on_air' || state === 'scheduled', `a piece is placed that is ${state}`);
  }
  const waiting = new Set(store.desk.pieces.awaitingReview(PAPER, { limit: 99 }).map(({ id }) => id));
  for (const entry of store.desk.entries()) {
    if (entry.type !== 'generation') continue;
    const { id, slug, revision } = entry.piece;
    const found = archive.storyBySlug(slug);
    if (found?.revision !== revision) continue;
    // What an agent filed under review is off the air, or somebody approved this very revision.
    const waits = entry.needs_review === true && found.reviewed_by === null;
    assert.equal(found.awaits_review, waits, `${slug} waits`);
    assert.equal(waiting.has(id), waits);
    assert(!waits || found.state !== 'on_air', `${slug} is on air, and nobody approved revision ${revision}`);
  }
  for (const story of stories) {
    assert.equal(story.state === 'scheduled', story.scheduled_at !== null);
    if (story.state === 'on_air' || story.state === 'withdrawn') assert(story.updated_at >= story.published_at);
    if (story.state === 'withdrawn') assert(story.withdrawn_at !== null && story.reason !== null);
    const piece = archive.piece(story.id);
    assert(piece !== null);
    const proof = proofOf(piece, {
      generations: archive.generations(story.id),
      keys: archive.keys(),
      keysUrl: 'https://desk.example/keys.json',
      log: null,
      reviews: archive.reviewNotes(story.id),
    });
    assert.deepEqual(proofFaults(JSON.parse(JSON.stringify(proof)), verifyNoble, archive.keys()), []);
    assert.equal(proof.content_hash, story.content_hash);
  }
}

/** Everything that an archive answers. */
function answers(app: AppContext): unknown {
  const archive = app.store.desk.archive(PAPER);
  return {
    paper: archive.paper(),
    masthead: archive.masthead(),
    keys: archive.keys(),
    // What is to be changed is no part of the ledger.
    stories: SLUGS.map((name) => ({ ...archive.storyBySlug(name), change_request: null })),
    reviews: SLUGS.map((name) => archive.reviewNotes(archive.storyBySlug(name)?.id ?? '')),
    pieces: SLUGS.map((name) => archive.revisions(archive.storyBySlug(name)?.id ?? '')),
    latest: archive.latest({ limit: 99 }),
    days: archive.days(),
    months: archive.months(),
    sections: SECTIONS.map((section) => [
      archive.list('section', section).count(),
      archive.list('section', section).page(1, 99),
    ]),
    corrections: archive.corrections(99),
    placement: archive.placement(),
    slugs: [...archive.slugs()],
    scheduled: app.store.desk.nextScheduled(),
  };
}

test('after any operation the ledger is sound, lists and counts follow from it, and it can be exported', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 18 }), async (steps) => {
      const ends: (() => void)[] = [];
      const scope = { after: (work: () => void) => void ends.unshift(work) };
      try {
        const clock = { now: START };
        const folder = tempFolder(scope);
        const app = appContextIn(scope, folder, clock);
        createPaper(app);
        let edition = app.store.desk.archive(PAPER).paper().edition;
        for (const one of steps) {
          clock.now += 1_000;
          const entered = [...app.store.desk.entries()].length;
          const shown = JSON.stringify(app.store.desk.archive(PAPER).latest({ limit: 99 }));
          try {
            take(app, clock, one);
          } catch (error) {
            // A desk may ask for what cannot be: the refusal must enter nothing.
            if (!(error instanceof Fault)) throw error;
            assert.equal([...app.store.desk.entries()].length, entered, error.message);
          }
          audit(app);
          const now = app.store.desk.archive(PAPER).paper().edition;
          if (JSON.stringify(app.store.desk.archive(PAPER).latest({ limit: 99 })) !== shown)
            assert(now > edition, 'readers see a change, and the edition stands');
          assert(now >= edition);
          edition = now;
        }
        const file = join(folder, 'ledger.jsonl');
        // The log has a leaf of what fell due as soon as somebody looks.
        app.store.database.transact(() => airDue(app.store.desk, clock.now));
        const faults: string[] = [];
        auditLedger(app, faults, () => {});
        assert.deepEqual(faults, []);
        await exportLedger(intakeOf(app), file);
        const other = appContextIn(scope, join(folder, 'other'), clock);
        await importLedger(intakeOf(other), file);
        assert.deepEqual(answers(other), answers(app));
        audit(other);
        const again = join(folder, 'again.jsonl');
        await exportLedger(intakeOf(other), again);
        assert.equal(readFileSync(again, 'utf8'), readFileSync(file, 'utf8'));
      } finally {
        for (const end of ends) end();
      }
    }),
    { numRuns: Number(process.env.LEDGER_RUNS ?? 20) },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { airDue } from '../../src/desk/append.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { correctFact } from '../../src/desk/recording-facts.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import type { FactStatus } from '../../src/proof/fact-note.ts';
import { loggedEntries } from '../../src/proof/log/logged-entries.ts';
import { leafHash } from '../../src/proof/merkle.ts';
import { deskOf } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import * as fc from '../support/properties.ts';

const KEYS = ['tides', 'ferries', 'stones'];
const SLUGS = ['quay', 'pier', 'mole', 'lock'];
const HOUR = 3_600_000;

const key = fc.constantFrom(...KEYS);
const slug = fc.constantFrom(...SLUGS);
/** What an entry says: one of two statements, or nothing beside its key. */
const said = fc.constantFrom('one', 'two', null);
const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('file'),
      slug,
      cites: fc.uniqueArray(fc.tuple(key, said), { selector: ([one]) => one, minLength: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('correct'),
      key,
      says: fc.constantFrom('one', 'two'),
      behind: fc.nat({ max: 1 }),
    }),
  },
  fc.record({ do: fc.constant('status'), key, status: fc.constantFrom('retracted', 'standing') }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('air'), slug, later: fc.boolean() }) },
  fc.record({ do: fc.constant('withdraw'), slug }),
  fc.record({ do: fc.constant('wait') }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

interface ModelFact {
  version: number;
  says: string;
  status: FactStatus;
  /** The newest version that is a correction; 0 without one. */
  corrected: number;
}

interface ModelPiece {
  cites: Map<string, number>;
  state: 'draft' | 'scheduled' | 'on_air' | 'withdrawn';
  wasOnAir: boolean;
  due: number;
}

/** What the record is to hold, in a few lines: it says of each operation whether it is refused. */
class Model {
  readonly facts = new Map<string, ModelFact>();
  readonly pieces = new Map<string, ModelPiece>();
  /** The content of each piece's newest revision, to tell an unchanged filing. */
  readonly filed = new Map<string, string>();

  file(slug: string, cites: [string, string | null][]): boolean {
    const before = this.pieces.get(slug);
    const same = cites.map(([key, says]) => `${key} ${says ?? this.#saidBy(slug, key) ?? this.facts.get(key)?.says}`);
    if (this.filed.get(slug) === same.join()) return true;
    const full = cites.map(([key, says]) => [key, says ?? this.facts.get(key)?.says] as const);
    for (const [key, says] of full) {
      const fact = this.facts.get(key);
      if (says === undefined || fact?.status === 'retracted' || (fact !== undefined && fact.says !== says))
        return false;
    }
    for (const [key, says = ''] of full)
      if (!this.facts.has(key)) this.facts.set(key, { version: 1, says, status: 'standing', corrected: 0 });
    const versions = new Map(full.map(([key]) => [key, this.facts.get(key)?.version ?? 0]));
    this.pieces.set(slug, { ...(before ?? { state: 'draft', wasOnAir: false, due: 0 }), cites: versions });
    this.filed.set(slug, full.map(([key, says]) => `${key} ${says}`).join());
    return true;
  }

  #saidBy(slug: string, key: string): string | undefined {
    return this.filed
      .get(slug)
      ?.split(',')
      .find((one) => one.startsWith(`${key} `))
      ?.slice(key.length + 1);
  }

  revise(key: string, behind: number, says: string | undefined, status: FactStatus): boolean {
    const fact = this.facts.get(key);
    if (fact === undefined || behind > 0) return false;
    const now = says ?? fact.says;
    if (now === fact.says && (status === fact.status || status === 'corrected')) return false;
    const version = fact.version + 1;
    const corrected = status === 'corrected' ? version : fact.corrected;
    this.facts.set(key, { version, says: now, status, corrected });
    if (status !== 'retracted') return true;
    for (const piece of this.pieces.values())
      if (piece.state === 'scheduled' && piece.cites.has(key)) piece.state = piece.wasOnAir ? 'withdrawn' : 'draft';
    return true;
  }

  air(slug: string, due: number, now: number): boolean {
    const piece = this.pieces.get(slug);
    if (piece === undefined) return false;
    if (piece.state === 'on_air') return true;
    if ([...piece.cites.keys()].some((key) => this.facts.get(key)?.status === 'retracted')) {
      return piece.state === 'scheduled' && piece.due === due;
    }
    if (due > now) Object.assign(piece, { state: 'scheduled', due });
    else Object.assign(piece, { state: 'on_air', wasOnAir: true });
    return true;
  }

  withdraw(slug: string): boolean {
    const piece = this.pieces.get(slug);
    if (piece?.state !== 'on_air' && piece?.state !== 'scheduled') return false;
    piece.state = piece.wasOnAir ? 'withdrawn' : 'draft';
    return true;
  }

  wait(now: number): void {
    for (const piece of this.pieces.values())
      if (piece.state === 'scheduled' && piece.due <= now) Object.assign(piece, { state: 'on_air', wasOnAir: true });
  }
}

test('random filings, corrections and withdrawals leave the citations that a simple model has', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 40 }), async (operations) => {
      const clock = { now: Date.UTC(2026, 10, 20, 12) };
      const app = appContextIn(t, tempFolder(t), clock);
      createPaper(app, { source_floor: 2 });
      const model = new Model();
      for (const one of operations) {
        clock.now += 1_000;
        app.store.database.transact(() => airDue(app.store.desk, clock.now));
        model.wait(clock.now);
        const expected = inModel(model, one, clock);
        assert.equal(
          isTaken(() => onDesk(app, one, clock)),
          expected,
          JSON.stringify(one),
        );
      }
      const archive = app.store.desk.archive(PAPER);
      for (const [name, { version, status }] of model.facts) {
        const fact = archive.fact(name);
        const cited = [...model.pieces.values()].filter(({ state, cites }) => state === 'on_air' && cites.has(name));
        assert.deepEqual([fact?.version, fact?.status, fact?.cited], [version, status, cited.length], name);
      }
      for (const [name, piece] of model.pieces) {
        const story = archive.storyBySlug(name);
        const wanted = [...piece.cites].sort().map(([claim_key, version]) => {
          const { version: newest, status, corrected } = model.facts.get(claim_key) ?? assert.fail();
          const since =
            newest === version ? null : status === 'retracted' ? status : corrected > version ? 'corrected' : null;
          return { claim_key, version, newest, since };
        });
        assert.deepEqual([story?.state, story?.citations], [piece.state, wanted], name);
      }
      // Every fact that was ever public is in the log with all versions that it had then, and the audit finds no fault.
      for (const { claim_key } of archive.facts({ limit: 9, isCited: true }))
        for (const { receipt } of archive.factVersions(claim_key))
          assert.notEqual(app.store.database.log.indexOf('desk', leafHash(loggedEntries(receipt)[0])), null);
      const { faults } = await auditApp(app, { trees: false, media: false });
      assert.deepEqual(faults, []);
      app.store.database.close();
    }),
    { numRuns: 200 },
  );
});

/** Whether the model takes an operation. */
function inModel(model: Model, one: Operation, { now }: { now: number }): boolean {
  switch (one.do) {
    case 'file':
      return 'cites' in one && model.file(one.slug, one.cites);
    case 'correct':
      return 'says' in one && model.revise(one.key, one.behind, one.says, 'corrected');
    case 'status':
      return 'status' in one && model.revise(one.key, 0, undefined, one.status as FactStatus);
    case 'air':
      return 'later' in one && model.air(one.slug, one.later ? now + HOUR : now, now);
    case 'withdraw':
      return 'slug' in one && model.withdraw(one.slug);
    default:
      return true;
  }
}

function onDesk(app: ReturnType<typeof appContextIn>, one: Operation, clock: { now: number }): void {
  const desk = deskOf(app);
  const by = 'cli';
  if ('cites' in one) {
    const cited_facts = one.cites.map(([claim_key, says], index) => ({
      ...{ n: index + 1, claim_key },
      ...(says === null
        ? { statement: '', source: '', instrument: '' }
        : { statement: says, source: claim_key, instrument: claim_key }),
    }));
    const other = { n: cited_facts.length + 1, statement: 'x', source: 'Somebody', instrument: 'x', claim_key: null };
    const prose = [...cited_facts, other].map(({ n }) => `So.[^${n}]`).join(' ');
    fileStory(desk, PAPER, filing(one.slug, { cited_facts: [...cited_facts, other], prose }), { by });
  } else if ('says' in one) {
    const version = (app.store.desk.archive(PAPER).fact(one.key)?.version ?? 1) + one.behind;
    correctFact(desk, PAPER, one.key, { version, statement: one.says, note: 'It was wrong.', by });
  } else if ('status' in one) {
    const version = app.store.desk.archive(PAPER).fact(one.key)?.version ?? 1;
    correctFact(desk, PAPER, one.key, { version, status: one.status as FactStatus, note: 'It was wrong.', by });
  } else if ('later' in one) airStory(desk, PAPER, one.slug, { by, ...(one.later ? { at: clock.now + HOUR } : {}) });
  else if ('slug' in one) withdrawStory(desk, PAPER, one.slug, { by, reason: 'It was wrong.' });
  else clock.now += 2 * HOUR;
}

function isTaken(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    assert(error instanceof Fault, String(error));
    return false;
  }
}

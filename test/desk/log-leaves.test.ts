import assert from 'node:assert/strict';
import { beforeEach, describe, type TestContext, test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { airDue, append } from '../../src/desk/append.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { replayClock } from '../../src/desk/ledger-entry.ts';
import { TURNED_PRIVATE } from '../../src/desk/log-leaves.ts';
import { sha256 } from '../../src/proof/basis.ts';
import { parseLeaf } from '../../src/proof/log/leaf.ts';
import { isoTime } from '../../src/proof/time.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { signingKeyFile } from '../../src/shared/files/data-folder.ts';
import { rotateSigningKey } from '../../src/signing/signing-key.ts';
import { signingName } from '../../src/signing/signing-name.ts';
import { appContextIn, type Clock, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';
import * as fc from '../support/properties.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const REASON = 'It was wrong.';

/** A desk whose log is read in short words: `note tide 1`, `hash tide 1`, `withdrawn tide`, `key`, `retired`. */
class LoggedDesk {
  readonly clock: Clock = { now: NOON };
  readonly app: AppContext;

  constructor(t: TestContext | { after(work: () => void): void }) {
    this.app = appContextIn(t, tempFolder(t), this.clock);
    createPaper(this.app);
  }

  file(slug: string, more: Partial<Filing> = {}): void {
    fileStory(deskOf(this.app), PAPER, filing(slug, more), { by: 'cli' });
  }

  air(slug: string, at?: number): void {
    airStory(deskOf(this.app), PAPER, slug, { by: 'cli', ...(at === undefined ? {} : { at }) });
  }

  withdraw(slug: string): void {
    withdrawStory(deskOf(this.app), PAPER, slug, { by: 'cli', reason: REASON });
  }

  wait(hours = 1): void {
    this.clock.now += hours * HOUR;
    this.app.store.database.transact(() => airDue(this.app.store.desk, this.clock.now));
  }

  setPublic(paper_public: boolean): void {
    const { store } = this.app;
    const body = { ...(store.desk.record(PAPER, 'paper', '') as object), paper_public };
    store.database.transact(() => {
      append(store.desk, { type: 'record', at: this.clock.now, paper: PAPER, kind: 'paper', name: '', body });
    });
  }

  entries(log: 'desk' | 'records' = 'desk'): string[] {
    return this.app.store.database.log.entries(log, 0, this.app.store.database.log.size(log));
  }

  /** The leaves of pieces, in short words. */
  leaves(): string[] {
    const { store } = this.app;
    const notes = new Map<string, string>();
    const slugs = new Map<string, string>();
    for (const entry of store.desk.entries()) {
      if (entry.type !== 'generation') continue;
      notes.set(sha256(entry.receipt), `${entry.piece.slug} ${entry.piece.revision}`);
      slugs.set(entry.piece.id, entry.piece.slug);
    }
    return this.entries().flatMap((entry) => {
      const leaf = parseLeaf(entry);
      if (leaf.kind === 'receipt') return [`note ${notes.get(sha256(entry))}`];
      if (leaf.kind === 'receipt-hash') return [`hash ${notes.get(leaf.hash)}`];
      if (leaf.kind === 'withdrawal') return [`withdrawn ${slugs.get(leaf.piece)}`];
      return [];
    });
  }
}

describe('what the transparency log says about a desk', () => {
  let desk: LoggedDesk;

  beforeEach((t) => {
    desk = new LoggedDesk(t as TestContext);
  });

  test('a draft leaves a hash, and its note when it goes on air', () => {
    desk.file('tide');
    assert.deepEqual(desk.leaves(), ['hash tide 1']);
    desk.air('tide');
    assert.deepEqual(desk.leaves(), ['hash tide 1', 'note tide 1']);
  });

  test('a revision of a piece on air logs its note immediately', () => {
    desk.file('tide');
    desk.air('tide');
    desk.file('tide', { dek: 'Another dek.' });
    assert.deepEqual(desk.leaves(), ['hash tide 1', 'note tide 1', 'note tide 2']);
  });

  test('going on air leaves the notes of all revisions', () => {
    desk.file('tide');
    desk.file('tide', { dek: 'Another dek.' });
    desk.air('tide');
    assert.deepEqual(desk.leaves(), ['hash tide 1', 'hash tide 2', 'note tide 1', 'note tide 2']);
  });

  test('a scheduled piece leaves nothing more until it is due', () => {
    desk.file('tide');
    desk.air('tide', NOON + HOUR);
    desk.file('tide', { dek: 'Another dek.' });
    assert.deepEqual(desk.leaves(), ['hash tide 1', 'hash tide 2']);
    desk.wait();
    assert.deepEqual(desk.leaves().slice(2), ['note tide 1', 'note tide 2']);
  });

  test('a withdrawal leaves the hash of its reason', () => {
    desk.file('tide');
    desk.air('tide');
    desk.wait();
    desk.withdraw('tide');
    const [piece] = desk.app.store.desk.pieces.shown();
    assert.deepEqual(parseLeaf(desk.entries().at(-1) ?? ''), {
      kind: 'withdrawal',
      paper: PAPER,
      piece: piece?.id,
      at: isoTime(NOON + HOUR),
      reason: sha256(REASON),
    });
  });

  test('a piece that never was on air is withdrawn without a leaf', () => {
    desk.file('tide');
    desk.air('tide', NOON + HOUR);
    desk.withdraw('tide');
    assert.deepEqual(desk.leaves(), ['hash tide 1']);
  });

  test('a revision of a withdrawn piece is a hash until the piece is back on air', () => {
    desk.file('tide');
    desk.air('tide');
    desk.withdraw('tide');
    desk.file('tide', { dek: 'Another dek.' });
    assert.deepEqual(desk.leaves().slice(1), ['note tide 1', 'withdrawn tide', 'hash tide 2']);
    desk.air('tide');
    assert.deepEqual(desk.leaves().slice(4), ['note tide 2']);
    desk.wait();
    desk.withdraw('tide');
    assert.deepEqual(desk.leaves().slice(5), ['withdrawn tide'], 'a second withdrawal is a leaf of its own');
  });

  test('the cancelled schedule of a withdrawn piece leaves nothing', () => {
    desk.file('tide');
    desk.air('tide');
    desk.withdraw('tide');
    desk.air('tide', NOON + HOUR);
    const before = desk.leaves();
    desk.withdraw('tide');
    assert.deepEqual(desk.leaves(), before);
  });

  test('a private paper leaves hashes alone', () => {
    desk.setPublic(false);
    desk.file('tide');
    desk.air('tide');
    desk.file('tide', { dek: 'Another dek.' });
    desk.withdraw('tide');
    assert.deepEqual(desk.leaves(), ['hash tide 1', 'hash tide 2']);
    for (const entry of desk.entries()) assert(!entry.includes(PAPER), entry);
  });

  test('a paper that turns public logs the notes of what is on air, oldest first', () => {
    desk.setPublic(false);
    for (const slug of ['wave', 'draft', 'tide', 'gone']) desk.file(slug);
    for (const slug of ['tide', 'wave', 'gone']) desk.air(slug);
    desk.file('wave', { dek: 'Another dek.' });
    desk.withdraw('gone');
    const before = desk.leaves().length;
    desk.setPublic(true);
    assert.deepEqual(desk.leaves().slice(before), ['note wave 1', 'note tide 1', 'note wave 2']);
  });

  test('a paper that turns private logs the withdrawal of each piece on air once', () => {
    for (const slug of ['tide', 'wave', 'gone', 'draft']) desk.file(slug);
    for (const slug of ['tide', 'wave', 'gone']) desk.air(slug);
    desk.file('tide', { dek: 'Another dek.' });
    desk.withdraw('gone');
    const before = desk.leaves().length;
    desk.setPublic(false);
    assert.deepEqual(desk.leaves().slice(before).sort(), ['withdrawn tide', 'withdrawn wave']);
    const last = parseLeaf(desk.entries().at(-1) ?? '');
    assert(last.kind === 'withdrawal');
    assert.equal(last.reason, sha256(TURNED_PRIVATE));
    desk.wait();
    desk.withdraw('tide');
    desk.setPublic(true);
    assert.equal(desk.leaves().length, before + 2, 'what left the air in private is withdrawn already');
  });

  test('a paper changed in anything else leaves nothing', () => {
    desk.file('tide');
    desk.air('tide');
    const before = desk.leaves();
    desk.setPublic(true);
    assert.deepEqual(desk.leaves(), before);
  });

  test('a key and its retirement are in the logs of both services', () => {
    const { store, settings } = desk.app;
    desk.wait();
    rotateSigningKey(store, signingKeyFile(settings), signingName(settings), desk.clock.now);
    const [old, present] = store.desk.signingKeys();
    for (const service of ['desk', 'records'] as const) {
      assert.deepEqual(desk.entries(service).map(parseLeaf), [
        {
          kind: 'key',
          service,
          kid: old?.kid,
          x: Buffer.from(old?.publicKey ?? []).toString('base64url'),
          nbf: isoTime(NOON),
        },
        { kind: 'key-retired', service, kid: old?.kid, retired_at: isoTime(NOON + HOUR) },
        {
          kind: 'key',
          service,
          kid: present?.kid,
          x: Buffer.from(present?.publicKey ?? []).toString('base64url'),
          nbf: isoTime(NOON + HOUR),
        },
      ]);
    }
  });

  test('a rolled-back transaction leaves nothing', () => {
    const before = desk.entries();
    assert.throws(() =>
      desk.app.store.database.transact(() => {
        desk.file('tide');
        desk.air('tide');
        throw new Error('no');
      }),
    );
    assert.deepEqual(desk.entries(), before);
    desk.file('wave');
    assert.equal(desk.app.store.database.log.size('desk'), before.length + 1, 'and no gap');
  });
});

type Step = { what: 'file' | 'air' | 'schedule' | 'withdraw' | 'wait' | 'private' | 'public'; slug: string };

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('file', 'file', 'air', 'air', 'schedule', 'withdraw', 'wait', 'private', 'public'),
  slug: fc.constantFrom('tide', 'wave'),
});

/** Does a step; one that the desk refuses changes nothing. */
function take(desk: LoggedDesk, { what, slug }: Step, at: number): void {
  try {
    if (what === 'file') desk.file(slug, { dek: `The dek of step ${at}.` });
    else if (what === 'air') desk.air(slug);
    else if (what === 'schedule') desk.air(slug, desk.clock.now + HOUR / 2);
    else if (what === 'withdraw') desk.withdraw(slug);
    else if (what === 'wait') desk.wait();
    else desk.setPublic(what === 'public');
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
  }
  desk.clock.now += 1;
}

test('after any operation the log says what was public, and a replay of the ledger gives the same log', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const endings: (() => void)[] = [];
      const scope = { after: (work: () => void) => void endings.unshift(work) };
      try {
        const desk = new LoggedDesk(scope);
        for (const [at, one] of steps.entries()) take(desk, one, at);
        requirePublicLeaves(desk);
        const copy = appContextIn(scope, tempFolder(scope), { now: desk.clock.now });
        copy.store.database.transact(() => {
          const clock = replayClock();
          for (const entry of desk.app.store.desk.entries()) append(copy.store.desk, entry, clock(entry));
          airDue(copy.store.desk, desk.clock.now);
        });
        desk.app.store.database.transact(() => airDue(desk.app.store.desk, desk.clock.now));
        assert.deepEqual(
          copy.store.database.log.entries('desk', 0, copy.store.database.log.size('desk')),
          desk.entries(),
        );
      } finally {
        for (const end of endings) end();
      }
    }),
    { numRuns: 20 },
  );
});

/** A note is logged if and only if it was on air in public, and the last word on a piece is what readers see now. */
function requirePublicLeaves(desk: LoggedDesk): void {
  const { store } = desk.app;
  const leaves = desk.leaves();
  assert.equal(new Set(desk.entries()).size, desk.entries().length, 'no leaf twice');
  const isPublic = store.desk.archive(PAPER).paper().paper_public;
  for (const { id, revision } of store.desk.pieces.shown()) {
    const slug = store.desk.archive(PAPER).storyById(id)?.slug ?? '';
    const isShown = isPublic && store.desk.pieceState(id)?.state === 'on_air';
    for (let number = 1; number <= revision; number++) {
      const [note, hash] = [`note ${slug} ${number}`, `hash ${slug} ${number}`];
      assert(leaves.includes(note) || leaves.includes(hash), `${slug} ${number} is logged`);
      if (isShown) assert(leaves.includes(note), note);
    }
    const wasPublic = leaves.includes(`note ${slug} 1`);
    assert.equal(leaves.includes(`withdrawn ${slug}`) && !wasPublic, false, 'no withdrawal of what was not public');
    if (wasPublic && !isShown) assert(leaves.includes(`withdrawn ${slug}`), `${slug} left the air with a leaf`);
  }
}

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { beforeEach, describe, type TestContext, test } from 'node:test';
import { airStory, undoWithdrawal, withdrawStory } from '../../src/desk/airing.ts';
import { airDue, append } from '../../src/desk/append.ts';
import { isWithdrawn } from '../../src/desk/archive.ts';
import type { Filing } from '../../src/desk/door/piece.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import type { PaperBody } from '../../src/desk/papers/paper.ts';
import { paperFrom } from '../../src/desk/papers/record.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import { appContextIn, type Clock, createPaper, filing, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;

describe('states of a piece', () => {
  let clock: Clock;
  let app: AppContext;

  beforeEach((t) => {
    clock = { now: NOON };
    app = appContextIn(t as TestContext, tempFolder(t as TestContext), clock);
    createPaper(app);
  });

  const file = (more: Partial<Filing> = {}) => fileStory(deskOf(app), PAPER, filing('tide', more), { by: 'cli' });
  const air = (at?: number) => airStory(deskOf(app), PAPER, 'tide', { by: 'cli', ...(at === undefined ? {} : { at }) });
  const withdraw = (reason = 'It was wrong.') => withdrawStory(deskOf(app), PAPER, 'tide', { by: 'cli', reason });
  const story = () => {
    const found = app.store.desk.archive(PAPER).storyBySlug('tide');
    assert(found !== null);
    return found;
  };
  const wait = (hours: number) => {
    clock.now += hours * HOUR;
    app.store.database.transact(() => airDue(app.store.desk, clock.now));
  };
  const entries = () => [...app.store.desk.entries()].length;
  const edition = () => app.store.desk.archive(PAPER).paper().edition;
  const change = (more: object) =>
    append(app.store.desk, {
      type: 'record',
      at: clock.now,
      paper: PAPER,
      kind: 'paper',
      name: '',
      body: { ...(app.store.desk.record(PAPER, 'paper', '') as object), ...more },
    });

  test('a filed piece is a draft that no list shows', () => {
    file();
    assert.equal(story().state, 'draft');
    assert.deepEqual(app.store.desk.archive(PAPER).latest({ limit: 9 }), []);
    assert.deepEqual([...app.store.desk.archive(PAPER).slugs()], []);
  });

  test('on air, published_at is the first time on air, and stays it', () => {
    file();
    air();
    assert.deepEqual([story().published_at, story().updated_at], [NOON, NOON]);
    wait(1);
    withdraw();
    wait(1);
    air();
    assert.deepEqual([story().published_at, story().updated_at], [NOON, NOON + 2 * HOUR]);
    assert.deepEqual([story().withdrawn_at, story().reason], [null, null]);
  });

  test('a time that has passed is the date of a piece', () => {
    file();
    air(NOON - 48 * HOUR);
    assert.equal(story().published_at, NOON - 48 * HOUR);
    assert.deepEqual(app.store.desk.archive(PAPER).days(), [{ day: '2026-11-18', count: 1 }]);
  });

  test('airing a piece on air changes nothing', () => {
    file();
    air();
    const before = entries();
    assert.equal(air(NOON - HOUR).changed, false);
    assert.equal(air(NOON + HOUR).changed, false);
    assert.equal(entries(), before);
  });

  test('a scheduled piece goes on air at its time, however late it is read', () => {
    file();
    air(NOON + HOUR);
    assert.equal(story().state, 'scheduled');
    wait(0.5);
    assert.equal(story().state, 'scheduled');
    wait(9);
    assert.deepEqual([story().state, story().published_at], ['on_air', NOON + HOUR]);
    assert.equal(app.store.desk.archive(PAPER).paper().changed_at, NOON + HOUR);
  });

  test('a scheduled piece can be put earlier, later, or in the past', () => {
    file();
    air(NOON + 5 * HOUR);
    assert.equal(air(NOON + 5 * HOUR).changed, false);
    air(NOON + 2 * HOUR);
    assert.equal(story().scheduled_at, NOON + 2 * HOUR);
    air(NOON - 2 * HOUR);
    assert.deepEqual([story().state, story().published_at, story().scheduled_at], ['on_air', NOON - 2 * HOUR, null]);
  });

  test('a revision of a scheduled piece is what goes on air', () => {
    file();
    air(NOON + HOUR);
    file({ headline: 'Another headline' });
    assert.equal(story().state, 'scheduled');
    wait(2);
    assert.deepEqual([story().headline, story().revision, story().updated_at], ['Another headline', 2, NOON + HOUR]);
  });

  test('a revision with too few publishers is rejected for pieces on air or scheduled', () => {
    file();
    const poor = { prose: 'One.[^1]', cited_facts: filing('tide').cited_facts.slice(0, 1) };
    air(NOON + HOUR);
    assert.throws(() => file(poor), /1 distinct publisher, and this paper puts nothing on air with fewer than 2/);
    wait(2);
    assert.throws(() => file(poor), /1 distinct publisher/);
    withdraw();
    assert.equal(file(poor).changed, true);
    assert.throws(() => air(), /1 distinct publisher/);
    assert.equal(story().state, 'withdrawn');
  });

  test('an unscheduled piece is a draft again, and its reason is stored', () => {
    file();
    air(NOON + HOUR);
    const shown = edition();
    withdraw('Not yet.');
    assert.deepEqual([story().state, story().scheduled_at, story().reason], ['draft', null, 'Not yet.']);
    wait(2);
    assert.equal(story().state, 'draft');
    assert.equal(edition(), shown);
    air();
    assert.deepEqual([story().state, story().reason, story().published_at], ['on_air', null, NOON + 2 * HOUR]);
  });

  test('a withdrawn piece that is scheduled and then unscheduled stays withdrawn', () => {
    file();
    air();
    withdraw();
    air(NOON + HOUR);
    assert.deepEqual([story().state, story().withdrawn_at, story().reason], ['scheduled', NOON, 'It was wrong.']);
    assert.ok(isWithdrawn(story()), 'readers are told of the withdrawal until it is back');
    clock.now += HOUR / 2;
    withdraw('Never again.');
    assert.deepEqual([story().state, story().withdrawn_at, story().reason], ['withdrawn', NOON, 'Never again.']);
    assert.deepEqual(
      [...app.store.desk.archive(PAPER).slugs()].map(({ slug }) => slug),
      ['tide'],
    );
  });

  test('a withdrawn piece on a schedule keeps its notice until its time', () => {
    file();
    air();
    withdraw();
    const shown = edition();
    air(NOON + HOUR);
    assert.equal(edition(), shown, 'readers see no change');
    const noticed = () =>
      app.store.desk
        .archive(PAPER)
        .corrections(9)
        .map(({ kind, note }) => [kind, note]);
    assert.deepEqual(noticed(), [['withdrawal', 'It was wrong.']]);
    file({ headline: 'Another headline' });
    assert.equal(edition(), shown + 1, 'the notice names the headline');
    wait(2);
    assert.deepEqual([story().state, story().withdrawn_at, story().reason], ['on_air', null, null]);
    assert.deepEqual(noticed(), []);
  });

  test('a piece whose section is gone does not go on air, and a section with scheduled pieces cannot be removed', () => {
    file();
    change({ sections: [SECTIONS[1]] });
    for (const at of [undefined, NOON + HOUR]) assert.throws(() => air(at), /"City" is not a section of this paper/);
    change({ sections: SECTIONS });
    air(NOON + HOUR);
    const { sections: _all, ...rest } = app.store.desk.record(PAPER, 'paper', '') as PaperBody;
    const drop = () => paperFrom(app.store.desk.archive(PAPER), { ...rest, sections: SECTIONS.slice(1) });
    assert.throws(drop, /still has pieces that are to go on air \(1\)/);
    withdraw('Not yet.');
    drop();
  });

  test('the source floor cannot rise above scheduled pieces, so that none silently misses its airing', () => {
    file();
    air();
    const record = app.store.desk.record(PAPER, 'paper', '') as PaperBody;
    const raise = (source_floor: number) => paperFrom(app.store.desk.archive(PAPER), { ...record, source_floor });
    raise(3);
    fileStory(deskOf(app), PAPER, filing('ebb'), { by: 'cli' });
    airStory(deskOf(app), PAPER, 'ebb', { by: 'cli', at: NOON + HOUR });
    assert.throws(
      () => raise(3),
      (error: Fault) => {
        const [problem] = error.details.problems as { rule: string; message: string }[];
        assert.equal(problem?.rule, 'scheduled_below_floor');
        assert.match(problem.message, /^1 of the pieces that are to go on air cite fewer than 3 .* \(ebb\);/);
        return error.code === 'refused_by_door';
      },
    );
    raise(2);
    withdrawStory(deskOf(app), PAPER, 'ebb', { by: 'cli', reason: 'Not yet.' });
    raise(3);
  });

  test('a withdrawal can be undone for an hour; after that, and with a withheld headline, the piece is aired', () => {
    const undo = () => undoWithdrawal(deskOf(app), PAPER, 'tide', { by: 'cli' });
    file();
    assert.throws(undo, /tide is draft; there is no withdrawal to undo/);
    air();
    const { published_at } = story();
    assert.throws(undo, /tide is on air; there is no withdrawal to undo/);
    withdraw();
    clock.now += HOUR - 1;
    const count = entries();
    assert.deepEqual([undo().state, story().published_at, story().reason], ['on_air', published_at, null]);
    assert.equal(entries(), count + 1, 'the ledger keeps the withdrawal and the airing');
    withdraw();
    clock.now += HOUR;
    assert.throws(undo, /more than an hour ago; put it on air again instead/);
    assert.equal(story().state, 'withdrawn');
    air();
    withdrawStory(deskOf(app), PAPER, 'tide', { by: 'cli', reason: 'The law.', withholdHeadline: true });
    assert.throws(undo, /its headline is withheld/);
  });

  test('a withdrawn piece can be revised, and stays withdrawn', () => {
    file();
    air();
    withdraw();
    file({ headline: 'Another headline' });
    assert.deepEqual([story().state, story().revision], ['withdrawn', 2]);
    air();
    assert.deepEqual([story().state, story().headline], ['on_air', 'Another headline']);
  });

  test('a piece that is not on air cannot be withdrawn', () => {
    assert.throws(() => withdraw(), /has no piece with the slug "tide"/);
    file();
    assert.throws(() => withdraw(), /tide is not on air \(it is draft\); there is nothing to withdraw/);
    air();
    withdraw();
    assert.throws(() => withdraw(), /it is withdrawn/);
  });

  test('a withdrawal wants a reason that readers can be shown', () => {
    file();
    air();
    for (const reason of ['', '   ', 'a\nb', 'a\u0000b', '\ud800', 'a'.repeat(1_001)]) {
      assert.throws(() => withdraw(reason), /a withdrawal needs a reason of one line, 1 to 1000 characters/);
    }
    assert.equal(story().state, 'on_air');
  });

  test('a revision never dates a piece before its publication', () => {
    file();
    air();
    file({ headline: 'Another headline', revised_at: NOON - HOUR });
    assert.deepEqual([story().published_at, story().updated_at], [NOON, NOON]);
    wait(3);
    file({ headline: 'A third headline', revised_at: NOON + 2 * HOUR });
    assert.equal(story().updated_at, NOON + 2 * HOUR);
  });

  test('a revision cannot be dated in the future', () => {
    assert.throws(() => file({ revised_at: NOON + 1 }), /revised_at: 2026-11-20T12:00:00\.001Z is in the future/);
    assert.equal(file({ revised_at: NOON }).changed, true);
  });

  test('a filed piece stays unchanged when its section or persona is removed', () => {
    file();
    air();
    change({ sections: ['Elsewhere'] });
    append(app.store.desk, {
      type: 'record',
      at: clock.now,
      paper: PAPER,
      kind: 'persona',
      name: 'ines-calloway',
      body: { ...(app.store.desk.record(PAPER, 'persona', 'ines-calloway') as object), active: false },
    });
    assert.equal(file().changed, false);
    assert.deepEqual([story().state, story().category, story().byline.name], ['on_air', 'City', 'ines calloway']);
    assert.throws(
      () => file({ headline: 'Another headline' }),
      (error: Fault) => {
        const problems = error.details.problems as { rule: string }[];
        return error instanceof Fault && problems.map(({ rule }) => rule).join() === 'unknown_section,unknown_persona';
      },
    );
    change({ source_floor: 9 });
    assert.equal(file().changed, false);
    assert.equal(air().changed, false);
  });

  test('a revision is refused when it was made from an older one', () => {
    file();
    const revise = (headline: string, from: number) =>
      fileStory(deskOf(app), PAPER, filing('tide', { headline }), { by: 'cli', from });
    assert.equal(revise('Two', 1).story.revision, 2);
    assert.throws(() => revise('Three', 1), /made from revision 1, but the newest is 2/);
    assert.throws(() => fileStory(deskOf(app), PAPER, filing('new'), { by: 'cli', from: 1 }), /the newest is none/);
  });

  test('a piece that is to go on air with its filing is refused with all its problems, and not filed', () => {
    const poor = filing('tide', {
      headline: '',
      prose: 'One.[^1]',
      cited_facts: filing('tide').cited_facts.slice(0, 1),
    });
    assert.throws(
      () => fileStory(deskOf(app), PAPER, poor, { by: 'cli', toAir: true }),
      (error: Fault) =>
        (error.details.problems as { rule: string }[]).map(({ rule }) => rule).join() === 'required,source_floor',
    );
    assert.equal(app.store.desk.archive(PAPER).storyBySlug('tide'), null);
  });

  test('a clock that went back does not break the chain', () => {
    file();
    clock.now -= 5 * HOUR;
    file({ headline: 'Another headline' });
    assert.deepEqual(
      app.store.desk
        .archive(PAPER)
        .generations(story().id)
        .map(({ filed_at }) => filed_at),
      ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:00.000Z'],
    );
  });

  test('a headline is withheld with a withdrawal or after it, until the piece is on air again', async (t) => {
    file();
    air();
    const withhold = (reason = 'The law.') =>
      withdrawStory(deskOf(app), PAPER, 'tide', { by: 'cli', reason, withholdHeadline: true });
    assert.throws(() => withhold(`It said “what  TIDE means”.`), /contains the headline to withhold/);
    withdraw();
    const [{ withdrawn_at }, count] = [story(), entries()];
    assert.equal(story().headline_withheld, false);
    clock.now += HOUR;
    assert.equal(withhold().headline_withheld, true);
    assert.deepEqual([story().withdrawn_at, story().reason, entries()], [withdrawn_at, 'The law.', count + 1]);
    assert.throws(() => withhold(), /withheld already/);
    // A new revision and a schedule change nothing of it.
    file({ headline: 'Another' });
    air(clock.now + HOUR);
    assert.equal(story().headline_withheld, true);
    withdraw('Not yet.');
    assert.deepEqual([story().state, story().headline_withheld], ['withdrawn', true]);

    const copy = join(tempFolder(t), 'ledger.jsonl');
    await exportLedger(intakeOf(app), copy);
    const other = appContextIn(t, tempFolder(t), clock);
    await importLedger(intakeOf(other), copy);
    assert.equal(other.store.desk.archive(PAPER).storyBySlug('tide')?.headline_withheld, true);
    assert.deepEqual([...other.store.desk.entries()], [...app.store.desk.entries()]);

    air();
    assert.equal(story().headline_withheld, false);
  });
});

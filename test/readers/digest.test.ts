import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestTimes } from '../../src/desk/jobs/paper-mails.ts';
import { PaperBody } from '../../src/desk/papers/paper.ts';
import { choose, manageToken } from '../../src/desk/readers/link.ts';
import type { Choices } from '../../src/desk/readers/subscriber.ts';
import type { AppContext } from '../../src/server/context.ts';
import { linkKey } from '../../src/shared/files/data-folder.ts';
import {
  appContextIn,
  type Clock,
  createPaper,
  PAPER,
  type Scope,
  SECTIONS,
  tempFolder,
} from '../support/app-context.ts';
import { senderOf } from '../support/mails.ts';
import { collector, publish, publishCast, queueAll, revise, withdraw } from '../support/newsroom.ts';
import * as fc from '../support/properties.ts';
import { confirmedReader } from '../support/readers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const [CITY = '', PORT = ''] = SECTIONS;

interface Stand {
  app: AppContext;
  clock: Clock;
  /** Queues and sends all that is to be told now; who got which pieces, by slug or day, mail by mail. */
  tell(): Promise<Record<string, string[][]>>;
}

function stand(t: Scope, at: string, paper: Partial<PaperBody> = {}): Stand {
  const clock = { now: Date.parse(at) };
  const app = appContextIn(t, tempFolder(t), clock, { ORIGIN: 'https://news.example' });
  createPaper(app, paper);
  const mailer = collector();
  const sending = senderOf(app, mailer);
  const tell = async () => {
    mailer.mails.length = 0;
    queueAll(app);
    await sending.idle();
    const got: Record<string, string[][]> = {};
    for (const { to, text } of mailer.mails) {
      const told = [...text.matchAll(/\/(?:stories|cast)\/([\w-]+)\//g)].map(([, name = '']) => name);
      got[to] = [...(got[to] ?? []), told];
    }
    return got;
  };
  return { app, clock, tell };
}

/** Steps the clock by the hour; when each mail came, as ISO times of the hour. */
async function timesOf({ clock, tell, app }: Stand, hours: number): Promise<string[]> {
  const times: string[] = [];
  for (let n = 0; n < hours; n++) {
    // Something to tell in every hour.
    publish(app, `piece-${clock.now / HOUR}`);
    const got = await tell();
    if (Object.keys(got).length > 0) times.push(new Date(clock.now).toISOString().slice(0, 16));
    clock.now += HOUR;
  }
  return times;
}

test('a daily mail comes once each local day, at the paper’s hour, over both changes of daylight time', async (t) => {
  const berlin = { alerts: { hour: 2, time_zone: 'Europe/Berlin' } };
  const cases: [string, string[]][] = [
    // The hour from 02:00 to 03:00 does not come on the 29th.
    ['2026-03-27T20:00:00Z', ['2026-03-28T01:00', '2026-03-29T01:00', '2026-03-30T00:00', '2026-03-31T00:00']],
    // It comes twice on the 25th.
    ['2026-10-23T20:00:00Z', ['2026-10-24T00:00', '2026-10-25T00:00', '2026-10-26T01:00', '2026-10-27T01:00']],
  ];
  for (const [from, times] of cases) {
    const desk = stand(t, from, berlin);
    confirmedReader(desk.app, 'ada@example.org');
    assert.deepEqual(await timesOf(desk, 24 * 3 + 8), times);
  }
});

test('a weekly mail comes on Mondays, over a change of daylight time, and at 07:00 UTC without a setting', {
  skip: ONLY_WIDE,
}, async (t) => {
  const newYork = stand(t, '2026-10-24T12:00:00Z', { alerts: { hour: 6, time_zone: 'America/New_York' } });
  confirmedReader(newYork.app, 'ada@example.org', { cadence: 'weekly' });
  assert.deepEqual(await timesOf(newYork, 24 * 16), ['2026-10-26T10:00', '2026-11-02T11:00', '2026-11-09T11:00']);
  const plain = stand(t, '2026-10-24T12:00:00Z');
  confirmedReader(plain.app, 'ada@example.org', { cadence: 'weekly' });
  confirmedReader(plain.app, 'bob@example.org');
  assert.deepEqual(await timesOf(plain, 24 * 3), ['2026-10-25T07:00', '2026-10-26T07:00', '2026-10-27T07:00']);
});

test('in every zone each local day has one time, and it is the hour or the first moment after it', () => {
  const times = digestTimes();
  const zones = [
    'Europe/Berlin',
    'America/Havana',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Asia/Tehran',
    'Pacific/Apia',
    'America/St_Johns',
    'UTC',
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2029-01-01') }),
      (time_zone, hour, from) => {
        const local = new Intl.DateTimeFormat('en-CA', {
          timeZone: time_zone,
          dateStyle: 'short',
          timeStyle: 'short',
          hourCycle: 'h23',
        });
        const days = new Set<string>();
        let at = from;
        for (let n = 0; n < 10; n++) {
          const next = times.next('daily', { hour, time_zone }, at);
          assert.ok(next > at);
          const [day = '', clock = ''] = local.format(next).split(', ');
          days.add(day);
          const late = Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3)) - hour * 60;
          assert.ok(late >= 0 && late <= 60, `${local.format(next)} for ${hour} in ${time_zone}`);
          assert.deepEqual(times.last('daily', { hour, time_zone }, next), { at: next, day });
          at = next;
        }
        assert.equal(days.size, 10);
        assert.ok(at - from <= 10 * DAY + HOUR);
      },
    ),
  );
});

test('a digest lists what is new by section, and is not sent when empty', async (t) => {
  const { app, clock, tell } = stand(t, '2026-11-20T12:00:00Z');
  confirmedReader(app, 'all@example.org');
  confirmedReader(app, 'port@example.org', { sections: [PORT], cast: false });
  publish(app, 'one', { category: PORT });
  publish(app, 'two', { category: CITY });
  publish(app, 'three', { category: CITY });
  publish(app, 'wrong', { category: PORT });
  withdraw(app, 'wrong');
  revise(app, 'three', { category: CITY, headline: 'Three, revised' });
  publishCast(app, '2026-11-20');
  assert.deepEqual(await tell(), {}, 'not before the hour');
  clock.now = Date.parse('2026-11-21T07:00:00Z');
  assert.deepEqual(await tell(), {
    'all@example.org': [['two', 'three', 'one', '2026-11-20']],
    'port@example.org': [['one']],
  });
  clock.now += DAY;
  assert.deepEqual(await tell(), {});
  publish(app, 'four', { category: CITY });
  clock.now += DAY;
  assert.deepEqual(await tell(), { 'all@example.org': [['four']] });
});

test('a server that slept a week sends one digest with all of it', async (t) => {
  const { app, clock, tell } = stand(t, '2026-11-10T12:00:00Z');
  confirmedReader(app, 'ada@example.org');
  await tell();
  for (let day = 0; day < 7; day++) {
    publish(app, `day-${day}`);
    clock.now += DAY;
  }
  assert.deepEqual(await tell(), { 'ada@example.org': [[6, 5, 4, 3, 2, 1, 0].map((day) => `day-${day}`)] });
  assert.deepEqual(await tell(), {});
  clock.now += DAY;
  assert.deepEqual(await tell(), {});
});

test('a paper that moves its hour gives no day two digests, and loses nothing', async (t) => {
  const { app, clock, tell } = stand(t, '2026-11-20T12:00:00Z');
  confirmedReader(app, 'ada@example.org');
  publish(app, 'one');
  await tell();
  clock.now = Date.parse('2026-11-21T07:00:00Z');
  assert.deepEqual(await tell(), { 'ada@example.org': [['one']] });
  createPaper(app, { alerts: { hour: 18, time_zone: 'UTC' } });
  publish(app, 'two');
  await tell();
  clock.now = Date.parse('2026-11-21T18:00:00Z');
  assert.deepEqual(await tell(), {});
  clock.now = Date.parse('2026-11-22T18:00:00Z');
  assert.deepEqual(await tell(), { 'ada@example.org': [['two']] });
});

test('who changes how often gets nothing twice, and nothing falls between', async (t) => {
  const { app, clock, tell } = stand(t, '2026-11-20T12:00:00Z');
  const token = (reader: string) =>
    manageToken(app.store.desk.readers.tokens, linkKey(app.settings, 'readers'), PAPER, reader);
  const { reader, id } = confirmedReader(app, 'ada@example.org');
  const change = (choices: Partial<Choices>) => choose(app.store.desk, PAPER, token(reader), choices, app.clock.now());
  await tell();
  publish(app, 'one');
  await tell();
  change({ cadence: 'instant' });
  publish(app, 'two');
  assert.deepEqual(await tell(), { 'ada@example.org': [['two']] });
  clock.now = Date.parse('2026-11-21T07:00:00Z');
  assert.deepEqual(await tell(), { 'ada@example.org': [['one']] }, 'the digest that was still owed');
  clock.now += DAY;
  publish(app, 'three');
  assert.deepEqual(await tell(), { 'ada@example.org': [['three']] });
  change({ cadence: 'weekly' });
  publish(app, 'four');
  clock.now = Date.parse('2026-11-23T07:00:00Z');
  assert.deepEqual(await tell(), { 'ada@example.org': [['four']] });
  assert.equal(app.store.desk.readers.subscribers.byId(id)?.last_sent_at, clock.now);
  assert.deepEqual(await tell(), {});
});

test('a paper’s hour is one of the day, in a zone that knows its daylight time', () => {
  const paper = { nameplate: 'P', sections: ['City'] };
  const read = (alerts: unknown) => PaperBody.safeParse({ ...paper, alerts }).data?.alerts;
  assert.deepEqual(read({}), { hour: 7, time_zone: 'UTC' });
  assert.deepEqual(read({ hour: 0, time_zone: 'Asia/Kolkata' }), { hour: 0, time_zone: 'Asia/Kolkata' });
  const bad = [{ hour: 24 }, { hour: -1 }, { hour: 7.5 }, { hour: '7' }, { time_zone: '+02:00' }, { time_zone: '' }];
  for (const alerts of [...bad, { time_zone: 'Mars/Olympus' }, { minute: 5 }]) {
    assert.equal(PaperBody.safeParse({ ...paper, alerts }).success, false, JSON.stringify(alerts));
  }
});

type Step =
  | { kind: 'publish'; section: string }
  | { kind: 'cast' }
  | { kind: 'choose'; reader: number; choices: Partial<Choices> }
  | { kind: 'wait'; hours: number }
  | { kind: 'tell' };

const READERS = 3;
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('publish' as const), section: fc.constantFrom(CITY, PORT) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cast' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('choose' as const),
      reader: fc.integer({ min: 0, max: READERS - 1 }),
      choices: fc.record({ cadence: fc.constantFrom('instant', 'daily', 'weekly') }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('tell' as const) }) },
);

test('each reader gets each piece once, however often they change their mind', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const endings: (() => void)[] = [];
      try {
        const { app, clock, tell } = stand({ after: (work) => endings.unshift(work) }, '2026-11-20T12:00:00Z');
        const token = (reader: string) =>
          manageToken(app.store.desk.readers.tokens, linkKey(app.settings, 'readers'), PAPER, reader);
        const sections = [null, [CITY], [PORT]];
        const rows = Array.from({ length: READERS }, (_, n) =>
          confirmedReader(app, `reader-${n}@example.org`, { sections: sections[n] ?? null, cast: n !== 1 }),
        );
        const got = new Map(rows.map(({ email }) => [email, [] as string[]]));
        const wanted = new Map(rows.map(({ email }) => [email, [] as string[]]));
        const look = async () => {
          for (const [email, mails] of Object.entries(await tell())) got.get(email)?.push(...mails.flat());
        };
        const told = (name: string, section: string | null) => {
          for (const row of rows) {
            const wants = section === null ? row.cast : row.sections === null || row.sections.includes(section);
            if (wants) wanted.get(row.email)?.push(name);
          }
        };
        let count = 0;
        for (const one of steps) {
          if (one.kind === 'wait') clock.now += one.hours * HOUR;
          else if (one.kind === 'tell') await look();
          else if (one.kind === 'choose') {
            const { reader } = rows[one.reader] ?? { reader: '' };
            choose(app.store.desk, PAPER, token(reader), one.choices, app.clock.now());
          } else if (one.kind === 'publish') {
            publish(app, `piece-${++count}`, { category: one.section });
            told(`piece-${count}`, one.section);
          } else {
            const day = new Date(clock.now).toISOString().slice(0, 10);
            if (app.store.desk.archive(PAPER).cast(day) !== null) continue;
            publishCast(app, day);
            told(day, null);
          }
        }
        // At the latest the second Monday from here has told all.
        for (let day = 0; day < 9; day++) {
          await look();
          clock.now += DAY;
        }
        await look();
        for (const { email } of rows) assert.deepEqual(got.get(email)?.sort(), wanted.get(email)?.sort(), email);
      } finally {
        for (const work of endings) work();
      }
    }),
    { numRuns: 60 },
  );
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import pino from 'pino';
import { readSettings } from '../../src/server/env.ts';
import { newId } from '../../src/shared/new-id.ts';
import {
  type ClockEvidence,
  ClockGuard,
  clockFault,
  clockOf,
  NOTE_LASTS,
  type OutsideTime,
} from '../../src/signing/clock/clock-guard.ts';
import { askOutside, watchClock } from '../../src/signing/clock/clock-watch.ts';
import type { Store } from '../../src/store/store.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { until } from '../support/program.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const NOON = Date.UTC(2026, 10, 20, 12);

const kindOf = (evidence: Partial<ClockEvidence>) =>
  clockFault({ now: { wall: NOON, steady: 0 }, trusted: null, newest: 0, outside: [], ...evidence })?.kind ?? null;

test('a clock is wrong before the build date, behind the newest record, after a jump, or against a majority', () => {
  assert.equal(kindOf({}), null);
  assert.equal(kindOf({ now: { wall: -DAY, steady: 0 } }), 'too_early');
  assert.equal(kindOf({ now: { wall: Number.NaN, steady: 0 } }), 'too_early');
  assert.equal(kindOf({ newest: NOON + 5 * MINUTE }), null);
  assert.equal(kindOf({ newest: NOON + 5 * MINUTE + 1 }), 'behind');

  const trusted = { wall: NOON - DAY, steady: 1_000 };
  assert.equal(kindOf({ trusted, now: { wall: NOON, steady: DAY + 1_000 } }), null, 'a machine may sleep for a day');
  assert.equal(kindOf({ trusted, now: { wall: NOON, steady: 2_000 } }), 'jumped');
  assert.equal(kindOf({ trusted, now: { wall: trusted.wall - 6 * MINUTE, steady: 1_000 } }), 'jumped');

  const says = (ahead: number, name = 'another machine') => ({ name, ahead });
  assert.equal(kindOf({ outside: [says(365 * DAY)] }), 'contradicted');
  assert.equal(kindOf({ outside: [says(-365 * DAY)] }), 'contradicted');
  assert.equal(kindOf({ outside: [says(365 * DAY), says(0)] }), null, 'one wrong clock silences nobody');
  assert.equal(kindOf({ outside: [says(DAY), says(DAY), says(0)] }), 'contradicted');
  const fault = clockFault({ now: { wall: NOON, steady: 0 }, trusted: null, newest: 0, outside: [says(365 * DAY)] });
  assert.match(
    fault?.message ?? '',
    /^the clock here says 2026-11-20T12:00:00.000Z, 365 days ahead of another machine: set it/,
  );
});

function guardOn(dataDir: string) {
  const clock = { now: NOON, steady: 1_000, newest: 0, corrections: 0 };
  const store = {
    database: { newestTime: () => clock.newest, clockCorrections: () => clock.corrections },
  } as unknown as Pick<Store, 'database'>;
  const open = () =>
    new ClockGuard({ store, settings: { dataDir }, clock: { now: () => clock.now } }, () => clock.steady);
  return { clock, open, guard: open() };
}

test('a guard trusts the clock again when it is back, was corrected, or others agree with it', (t) => {
  const { clock, guard } = guardOn(tempFolder(t));
  const kind = () => guard.fault()?.kind ?? null;
  assert.equal(kind(), null);
  clock.now += DAY;
  assert.equal(kind(), 'jumped');
  const checked = Object.assign(
    clockOf(() => clock.now),
    { check: guard },
  );
  assert.throws(() => checked.assertRight(), {
    code: 'unavailable',
    message: /^nothing is signed: .*moved ahead by 24 hours/,
  });
  clock.now -= DAY;
  assert.equal(kind(), null, 'back');

  clock.newest = NOON;
  clock.now -= DAY;
  assert.equal(kind(), 'behind', 'the better reason');
  clock.newest = clock.now;
  assert.equal(kind(), 'jumped');
  clock.corrections++;
  assert.equal(kind(), null, 'corrected');

  clock.now += DAY;
  guard.hear([{ name: 'a', ahead: DAY }]);
  assert.equal(kind(), 'jumped');
  guard.hear([{ name: 'a', ahead: 0 }]);
  assert.equal(kind(), null, 'others agree');
});

test('earlier answers still count when none arrives the next time, until the clock is moved', (t) => {
  const { clock, guard } = guardOn(tempFolder(t));
  const kind = () => guard.fault()?.kind ?? null;
  guard.hear([{ name: 'a', ahead: DAY }]);
  assert.equal(kind(), 'contradicted');
  guard.hear([]);
  assert.equal(kind(), 'contradicted', 'nobody said that it is right');
  clock.now += MINUTE;
  clock.steady += MINUTE;
  assert.equal(kind(), 'contradicted', 'time passes for both');
  clock.now -= DAY;
  assert.equal(kind(), null, 'set right, which needs nobody');
  clock.now += DAY;
  assert.equal(kind(), 'jumped');
});

test('a moved clock is trusted again when most others agree with it, as most are needed against it', (t) => {
  const { clock, guard } = guardOn(tempFolder(t));
  const kind = () => guard.fault()?.kind ?? null;
  assert.equal(kind(), null);
  clock.now += DAY;
  const [right, wrong] = [
    { name: 'a', ahead: 0 },
    { name: 'b', ahead: -DAY },
  ];
  guard.hear([right, wrong]);
  assert.equal(kind(), 'jumped');
  guard.hear([right, right, wrong]);
  assert.equal(kind(), null);
});

test('a date later than the clock by another process is found at the next check', (t) => {
  const { clock, guard } = guardOn(tempFolder(t));
  const kind = () => guard.fault()?.kind ?? null;
  assert.equal(kind(), null);
  clock.newest = NOON + DAY;
  guard.lookAgain();
  assert.deepEqual([kind(), kind()], ['behind', 'behind']);
  clock.now += DAY;
  assert.equal(kind(), 'jumped', 'what it was is not forgotten');
  clock.now -= DAY;
  clock.newest = NOON;
  assert.deepEqual([kind(), kind()], [null, null]);
});

test('a correction made during a check is not missed', (t) => {
  const clock = { now: NOON, newest: 0, corrections: 0 };
  const correct = () => {
    clock.newest = 0;
    clock.corrections = 1;
  };
  let between = () => {};
  const told = <T>(value: T): T => {
    between();
    return value;
  };
  const store = {
    database: { newestTime: () => told(clock.newest), clockCorrections: () => told(clock.corrections) },
  } as unknown as Pick<Store, 'database'>;
  const guard = new ClockGuard(
    { store, settings: { dataDir: tempFolder(t) }, clock: { now: () => clock.now } },
    () => 1_000,
  );
  assert.equal(guard.fault(), null);
  clock.now -= DAY;
  clock.newest = NOON;
  assert.equal(guard.fault()?.kind, 'behind');
  between = correct;
  guard.fault();
  assert.equal(guard.fault(), null);
});

test('commands beside a server with a wrong clock refuse to sign until it is right or the server is gone', (t) => {
  const { clock, open, guard } = guardOn(tempFolder(t));
  guard.fault();
  clock.now += DAY;
  guard.tell(guard.fault());
  assert.equal(open().fault()?.kind, 'jumped');
  clock.corrections++;
  assert.equal(guard.fault(), null, 'whoever told does not listen to himself');
  clock.steady += NOTE_LASTS + 1;
  assert.equal(open().fault(), null);
  guard.tell(guard.fault());
  guard.tell(null);
  assert.equal(open().fault(), null);
});

test('without an answer at startup, other machines are asked until one answers, and a wrong clock is found then', async (t) => {
  const { guard } = guardOn(tempFolder(t));
  guard.hear([]);
  const steady = performance.now.bind(performance);
  let minutes = 0;
  t.mock.method(performance, 'now', () => steady() + minutes * MINUTE);
  let asked = 0;
  let answers: OutsideTime[] = [];
  const ask = async () => {
    asked++;
    return answers;
  };
  const stop = watchClock({ guard, ask, onRight() {}, logger: pino({ level: 'silent' }) });
  t.after(stop);
  minutes = 1;
  await until(async () => (asked === 1 ? true : null));
  assert.equal(guard.fault(), null);
  answers = [{ name: 'a', ahead: DAY }];
  minutes = 2;
  await until(async () => (asked === 2 ? true : null));
  await until(async () => (guard.fault()?.kind === 'contradicted' ? true : null));
});

test('object storage, witnesses and a mail server provide the time, or are skipped', async (t) => {
  const folder = tempFolder(t);
  const at = (ahead: number) => new Date(NOON - ahead);
  const web = createHttp((request, answer) => {
    answer.sendDate = false;
    const date = at(DAY).getTime() - (request.url === '/cached' ? 600_000 : 0);
    answer
      .writeHead(403, { Date: new Date(date).toUTCString(), ...(request.url === '/cached' ? { Age: '600' } : {}) })
      .end();
  }).listen(0, '127.0.0.1');
  const mail = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(
      `220 mail.example ESMTP; ${at(2 * DAY)
        .toUTCString()
        .replace('GMT', '+0000')}\r\n`,
    );
  }).listen(0, '127.0.0.1');
  t.after(() => {
    web.close();
    mail.close();
  });
  await Promise.all([web, mail].map((server) => server.listening || once(server, 'listening')));
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  const settings = (env: Record<string, string>) => readSettings({ ...envIn(folder), ...env });
  const told = async (env: Record<string, string>) =>
    (await askOutside(settings(env), () => NOON, 5_000)).map(({ ahead }) => ahead);
  const bucket = (path = '') => `s3://papers/x?region=eu&endpoint=http://127.0.0.1:${portOf(web)}${path}`;
  assert.deepEqual(await told({}), []);
  assert.deepEqual(await told({ PUBLISH_URL: bucket(), LEASE_URL: bucket() }), [DAY], 'asked once');
  const smtp = { SMTP_URL: `smtp://127.0.0.1:${portOf(mail)}`, MAIL_FROM: 'desk@papers.example' };
  assert.deepEqual(await told({ PUBLISH_URL: bucket(), ...smtp }), [DAY, 2 * DAY]);
  assert.deepEqual(await told({ PUBLISH_URL: 's3://papers/x?region=eu&endpoint=http://127.0.0.1:9' }), []);
});

test('an id can be made at any time', (t) => {
  t.mock.method(Date, 'now', () => -DAY);
  assert.match(newId(), /^[0-9a-z]{26}$/);
});

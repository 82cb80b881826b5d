import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choose, confirm, end, manageToken, toConfirm, unsubscribe } from '../../src/desk/readers/link.ts';
import {
  deleteExpired,
  dossierOf,
  erase,
  subscribe,
  subscribeByAdmin,
  suppress,
} from '../../src/desk/readers/subscribe.ts';
import {
  type Choices,
  CONFIRM_REST,
  DEFAULT_CHOICES,
  SUPPRESSED_REST,
  UNCONFIRMED_KEPT,
} from '../../src/desk/readers/subscriber.ts';
import { CONFIRM_LIFETIME } from '../../src/desk/readers/token.ts';
import type { AppContext } from '../../src/server/context.ts';
import { linkToken, secretHash } from '../../src/shared/access-key.ts';
import { newId } from '../../src/shared/new-id.ts';
import { type Address, readAddress, readerOf } from '../../src/shared/outbound/mail-address.ts';
import {
  appContextIn,
  type Clock,
  createPaper,
  PAPER,
  type Scope,
  SECTIONS,
  tempFolder,
} from '../support/app-context.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ADDRESS = readAddress('Reader@example.org') as Address;
const READER = readerOf(PAPER, ADDRESS);
const WEEKLY: Choices = { cadence: 'weekly', sections: [SECTIONS[0] ?? ''], cast: false };

const SECRET = Buffer.alloc(32, 1);

function appIn(t: Scope, clock: Clock): AppContext {
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app);
  return app;
}

function request({ store, clock: { now } }: AppContext, choices: Choices): void {
  subscribe(store.desk, PAPER, ADDRESS, choices, { now: now(), newId });
}

function requestByAdmin({ store, clock: { now } }: AppContext, choices: Partial<Choices>): string {
  return subscribeByAdmin(store.desk, PAPER, ADDRESS, { choices }, { now: now(), newId });
}

/** Sends what is due, as the post does it, and returns the tokens of the links. */
function mailed(app: AppContext): string[] {
  return app.store.desk.readers.mails.lease(app.clock.now(), app.clock.now() + HOUR, 100).map((mail) => {
    const token = linkToken(SECRET, 'confirm', mail.id);
    const expires_at = app.clock.now() + CONFIRM_LIFETIME;
    app.store.desk.readers.tokens.keep({
      hash: secretHash(token),
      paper: PAPER,
      reader: READER,
      purpose: 'confirm',
      expires_at,
      used_at: null,
    });
    app.store.desk.readers.mails.sent(mail.id, app.clock.now());
    return token;
  });
}

const isNotFound = { code: 'not_found' };

test('an order is confirmed by its link, within 72 hours and no later', (t) => {
  const clock = { now: NOON };
  const app = appIn(t, clock);
  request(app, WEEKLY);
  const [token = ''] = mailed(app);
  clock.now += CONFIRM_LIFETIME - 1;
  assert.equal(toConfirm(app.store.desk.readers, PAPER, token, app.clock.now()).row.email, 'Reader@example.org');
  assert.equal(app.store.desk.readers.subscribers.of(PAPER, READER)?.confirmed_at, null, 'looking confirms nothing');
  clock.now += 1;
  assert.throws(() => confirm(app.store.desk, PAPER, token, app.clock.now()), isNotFound);
  request(app, WEEKLY);
  const [second = ''] = mailed(app);
  assert.throws(() => confirm(app.store.desk, 'another-paper', second, app.clock.now()), isNotFound);
  assert.throws(() => choose(app.store.desk, PAPER, second, {}, app.clock.now()), isNotFound);
  const row = confirm(app.store.desk, PAPER, second, app.clock.now());
  assert.deepEqual(
    [row.confirmed_at, row.cadence, row.sections, row.cast],
    [clock.now, 'weekly', [SECTIONS[0]], false],
  );
  clock.now += HOUR;
  assert.deepEqual(confirm(app.store.desk, PAPER, second, app.clock.now()), row);
});

test('the newest order is the one that is confirmed, and one mail is enough for several', (t) => {
  const clock = { now: NOON };
  const app = appIn(t, clock);
  request(app, DEFAULT_CHOICES);
  request(app, WEEKLY);
  const tokens = mailed(app);
  assert.equal(tokens.length, 1);
  clock.now += CONFIRM_REST - 1;
  request(app, WEEKLY);
  assert.deepEqual(mailed(app), []);
  clock.now += 1;
  request(app, WEEKLY);
  assert.equal(mailed(app).length, 1);
  assert.equal(confirm(app.store.desk, PAPER, tokens[0] ?? '', app.clock.now()).cadence, 'weekly');
});

test('who does not answer is asked ever more seldom, and a reader who confirmed once a day', {
  skip: ONLY_WIDE,
}, (t) => {
  const clock = { now: NOON };
  const app = appIn(t, clock);
  const mailsIn = (span: number): number => {
    const end = clock.now + span;
    let mails = 0;
    for (; clock.now < end; clock.now += CONFIRM_REST / 2) {
      request(app, WEEKLY);
      mails += mailed(app).length;
    }
    return mails;
  };
  assert.equal(mailsIn(DAY), 9); // at 0, 10, 20, 40 … 1,280 minutes
  assert.equal(mailsIn(13 * DAY), 3);
  clock.now += 14 * DAY;
  request(app, WEEKLY);
  confirm(app.store.desk, PAPER, mailed(app)[0] ?? '', app.clock.now());
  clock.now += CONFIRM_REST;
  assert.equal(mailsIn(3 * DAY), 3);
});

test('a confirmed reader’s choices stay until a change is confirmed', (t) => {
  const clock = { now: NOON };
  const app = appIn(t, clock);
  request(app, DEFAULT_CHOICES);
  const before = confirm(app.store.desk, PAPER, mailed(app)[0] ?? '', app.clock.now());
  clock.now += HOUR;
  request(app, WEEKLY);
  const between = app.store.desk.readers.subscribers.of(PAPER, READER);
  assert.deepEqual([between?.cadence, between?.confirmed_at], ['daily', before.confirmed_at]);
  const after = confirm(app.store.desk, PAPER, mailed(app)[0] ?? '', app.clock.now());
  assert.deepEqual([after.cadence, after.asked, after.confirmed_at], ['weekly', null, before.confirmed_at]);
  clock.now += HOUR;
  request(app, { ...WEEKLY, cadence: 'instant' });
  clock.now += UNCONFIRMED_KEPT;
  deleteExpired(app.store.desk.readers, clock.now);
  assert.deepEqual(
    [
      app.store.desk.readers.subscribers.of(PAPER, READER)?.cadence,
      app.store.desk.readers.subscribers.of(PAPER, READER)?.asked,
    ],
    ['weekly', null],
  );
});

test('an unconfirmed request is deleted after 14 days, with its mails', (t) => {
  const clock = { now: NOON };
  const app = appIn(t, clock);
  request(app, WEEKLY);
  const id = app.store.desk.readers.subscribers.of(PAPER, READER)?.id ?? '';
  deleteExpired(app.store.desk.readers, NOON + UNCONFIRMED_KEPT - 1);
  assert.equal(app.store.desk.readers.mails.ofSubscriber(id).length, 1);
  deleteExpired(app.store.desk.readers, NOON + UNCONFIRMED_KEPT);
  assert.equal(app.store.desk.readers.subscribers.of(PAPER, READER), null);
  assert.deepEqual(app.store.desk.readers.mails.ofSubscriber(id), []);
});

test('a suppression outlives requests for any reason, and only a confirmation lifts it', (t) => {
  for (const reason of ['unsubscribed', 'complained', 'bounced', 'by_hand'] as const) {
    const clock = { now: NOON };
    const app = appIn(t, clock);
    suppress(app.store.desk, PAPER, ADDRESS, { reason: 'by_hand', now: app.clock.now() });
    app.store.desk.readers.suppressions.put({
      paper: PAPER,
      reader: READER,
      email: ADDRESS.email,
      reason,
      at: NOON,
      mailed_at: null,
    });
    assert.equal(requestByAdmin(app, {}), 'suppressed');
    assert.equal(app.store.desk.readers.subscribers.of(PAPER, READER), null);
    request(app, WEEKLY);
    assert.equal(mailed(app).length, 1);
    clock.now += SUPPRESSED_REST[reason] - 1;
    request(app, WEEKLY);
    assert.deepEqual(mailed(app), [], `${reason}: asked again too soon`);
    clock.now += 1;
    request(app, WEEKLY);
    assert.equal(app.store.desk.readers.suppressions.of(PAPER, READER)?.reason, reason);
    confirm(app.store.desk, PAPER, mailed(app)[0] ?? '', app.clock.now());
    assert.equal(app.store.desk.readers.suppressions.of(PAPER, READER), null);
    assert.equal(requestByAdmin(app, {}), 'confirmed');
  }
});

test('who orders for a dead mailbox again and again has no mail sent to it each time', (t) => {
  const clock = { now: NOON };
  const app = appIn(t, clock);
  for (const days of [0, 7]) {
    clock.now = NOON + days * 24 * HOUR;
    request(app, WEEKLY);
    assert.equal(mailed(app).length, 1);
    const row = app.store.desk.readers.subscribers.of(PAPER, READER);
    assert.ok(row);
    end(app.store.desk.readers, row, 'bounced', app.clock.now());
    clock.now += SUPPRESSED_REST.bounced - 1;
    request(app, WEEKLY);
    assert.deepEqual(mailed(app), []);
  }
});

test('erasing forgets the address and not the refusal', (t) => {
  const clock = { now: NOON };
  const app = appIn(t, clock);
  assert.throws(() => erase(app.store.desk, PAPER, ADDRESS, app.clock.now()), isNotFound);
  request(app, WEEKLY);
  const [token = ''] = mailed(app);
  const own = manageToken(app.store.desk.readers.tokens, SECRET, PAPER, READER);
  confirm(app.store.desk, PAPER, token, app.clock.now());
  unsubscribe(app.store.desk, PAPER, own, app.clock.now());
  assert.equal(dossierOf(app.store.desk.readers, PAPER, ADDRESS).suppression?.reason, 'unsubscribed');
  erase(app.store.desk, PAPER, ADDRESS, app.clock.now());
  assert.throws(() => dossierOf(app.store.desk.readers, PAPER, ADDRESS), isNotFound);
  assert.equal(app.store.desk.readers.suppressions.of(PAPER, READER)?.email, null);
  assert.throws(() => unsubscribe(app.store.desk, PAPER, own, app.clock.now()), isNotFound);
  assert.equal(requestByAdmin(app, {}), 'suppressed');
});

/** What may happen to one reader, and what must then hold. */
interface Model {
  state: 'none' | 'unconfirmed' | 'confirmed';
  isSuppressed: boolean;
  inForce: Choices | null;
}

test('after any turn of events, only the reader has confirmed, chosen or come back', () => {
  const choices = fc.record({
    cadence: fc.constantFrom('instant' as const, 'daily' as const, 'weekly' as const),
    sections: fc.option(fc.constantFrom<string[]>([SECTIONS[1] ?? ''], SECTIONS.slice(1)), { nil: null }),
    cast: fc.boolean(),
  });
  const step = fc.oneof(
    fc.record({ does: fc.constantFrom('order' as const, 'admin' as const, 'choose' as const), choices }),
    fc.record({
      does: fc.constantFrom(
        'confirm' as const,
        'replay' as const,
        'end' as const,
        'erase' as const,
        'suppress' as const,
      ),
    }),
    fc.record({ does: fc.constant('wait' as const), hours: fc.constantFrom(1, 25, 73, 14 * 24, 31 * 24) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const endings: (() => void)[] = [];
      try {
        play(appIn.bind(null, { after: (work) => endings.push(work) }), steps);
      } finally {
        for (const end of endings.reverse()) end();
      }
    }),
    { numRuns: 60 },
  );
});

type Step =
  | { does: 'order' | 'admin' | 'choose'; choices: Choices }
  | { does: 'confirm' | 'replay' | 'end' | 'erase' | 'suppress' }
  | { does: 'wait'; hours: number };

function play(open: (clock: Clock) => AppContext, steps: Step[]): void {
  const clock = { now: NOON };
  const app = open(clock);
  const fresh: { token: string; until: number }[] = [];
  const spent: string[] = [];
  const model: Model = { state: 'none', isSuppressed: false, inForce: null };
  let orderedAt = NOON;
  const own = () => manageToken(app.store.desk.readers.tokens, SECRET, PAPER, READER);
  for (const step of steps) {
    if (step.does === 'wait') {
      clock.now += step.hours * HOUR;
      deleteExpired(app.store.desk.readers, clock.now);
    }
    if (model.state === 'unconfirmed' && clock.now - orderedAt >= UNCONFIRMED_KEPT) model.state = 'none';
    if (step.does === 'order') {
      request(app, step.choices);
      orderedAt = clock.now;
      if (model.state === 'none') model.state = 'unconfirmed';
    } else if (step.does === 'admin') {
      const expected = model.isSuppressed ? 'suppressed' : model.state === 'confirmed' ? 'confirmed' : 'pending';
      assert.equal(requestByAdmin(app, step.choices), expected);
      if (expected === 'pending') {
        orderedAt = clock.now;
        model.state = 'unconfirmed';
      }
    } else if (step.does === 'choose') {
      if (model.state === 'confirmed')
        model.inForce = { ...choose(app.store.desk, PAPER, own(), step.choices, app.clock.now()), ...step.choices };
      else assert.throws(() => choose(app.store.desk, PAPER, own(), step.choices, app.clock.now()), isNotFound);
    } else if (step.does === 'confirm') {
      const link = fresh.pop();
      if (link !== undefined) {
        if (link.until > clock.now && model.state !== 'none') {
          model.inForce = confirm(app.store.desk, PAPER, link.token, app.clock.now());
          Object.assign(model, { state: 'confirmed', isSuppressed: false });
          spent.push(link.token);
        } else assert.throws(() => confirm(app.store.desk, PAPER, link.token, app.clock.now()), isNotFound);
      }
    } else if (step.does === 'replay') {
      // A link that was used once changes nothing, whether it is refused or not.
      const [token] = spent;
      if (token !== undefined) attempt(() => confirm(app.store.desk, PAPER, token, app.clock.now()));
    } else if (step.does === 'end' || step.does === 'suppress') {
      if (step.does === 'end') unsubscribe(app.store.desk, PAPER, own(), app.clock.now());
      else suppress(app.store.desk, PAPER, ADDRESS, { reason: 'by_hand', now: app.clock.now() });
      if (step.does === 'suppress' || model.state !== 'none') {
        Object.assign(model, { state: 'none', isSuppressed: true });
        fresh.length = 0;
      }
    } else if (step.does === 'erase') {
      attempt(() => erase(app.store.desk, PAPER, ADDRESS, app.clock.now()));
      if (model.state !== 'none') fresh.length = 0;
      model.state = 'none';
    }
    for (const token of mailed(app)) fresh.push({ token, until: clock.now + CONFIRM_LIFETIME });
    const row = app.store.desk.readers.subscribers.of(PAPER, READER);
    assert.equal(row === null ? 'none' : row.confirmed_at === null ? 'unconfirmed' : 'confirmed', model.state);
    assert.equal(app.store.desk.readers.suppressions.of(PAPER, READER) !== null, model.isSuppressed);
    if (row !== null && model.state === 'confirmed' && model.inForce !== null) {
      const { cadence, sections, cast } = model.inForce;
      assert.deepEqual([row.cadence, row.sections, row.cast], [cadence, sections, cast]);
    }
  }
}

function attempt(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    assert.equal((error as { code?: string }).code, 'not_found');
  }
}

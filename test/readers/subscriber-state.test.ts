import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openReaderDesk } from '../../src/app/reader-desk.ts';
import type { Address } from '../../src/readers/address.ts';
import { readAddress, readerOf } from '../../src/readers/address.ts';
import { dossierOf, erase, suppress } from '../../src/readers/dossier.ts';
import { choose, confirm, end, manageToken, toConfirm, unsubscribe } from '../../src/readers/link.ts';
import { order, orderByAdmin, sweep } from '../../src/readers/order.ts';
import type { ReaderDesk } from '../../src/readers/reader-desk.ts';
import type { Choices } from '../../src/readers/subscriber.ts';
import { DEFAULT_CHOICES, UNCONFIRMED_KEPT } from '../../src/readers/subscriber.ts';
import { CONFIRM_REST, SUPPRESSED_REST } from '../../src/readers/suppression.ts';
import { CONFIRM_LASTS, tokenHash, tokenOf } from '../../src/readers/token.ts';
import type { Clock, Scope } from '../support/app-context.ts';
import { appContextIn, createPaper, PAPER, SECTIONS, tempFolder } from '../support/app-context.ts';
import * as fc from '../support/properties.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ADDRESS = readAddress('Reader@example.org') as Address;
const READER = readerOf(PAPER, ADDRESS);
const WEEKLY: Choices = { cadence: 'weekly', sections: [SECTIONS[0] ?? ''], cast: false };

function deskIn(t: Scope, clock: Clock): ReaderDesk {
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app);
  return openReaderDesk(app);
}

/** Sends what is due, as the post does it, and returns the tokens of the links. */
function mailed(desk: ReaderDesk): string[] {
  return desk.mails.claim(desk.now(), desk.now() + HOUR, 100).map((mail) => {
    const token = tokenOf(desk.secret, 'confirm', mail.id);
    const expires_at = desk.now() + CONFIRM_LASTS;
    desk.tokens.keep({
      hash: tokenHash(token),
      paper: PAPER,
      reader: READER,
      purpose: 'confirm',
      expires_at,
      used_at: null,
    });
    desk.mails.sent(mail.id, desk.now());
    return token;
  });
}

const isNotFound = { code: 'not_found' };

test('an order is confirmed by its link, within 72 hours and no later', (t) => {
  const clock = { now: NOON };
  const desk = deskIn(t, clock);
  order(desk, PAPER, ADDRESS, WEEKLY);
  const [token = ''] = mailed(desk);
  clock.now += CONFIRM_LASTS - 1;
  assert.equal(toConfirm(desk, PAPER, token).row.email, 'Reader@example.org');
  assert.equal(desk.subscribers.of(PAPER, READER)?.confirmed_at, null, 'looking confirms nothing');
  clock.now += 1;
  assert.throws(() => confirm(desk, PAPER, token), isNotFound);
  order(desk, PAPER, ADDRESS, WEEKLY);
  const [second = ''] = mailed(desk);
  assert.throws(() => confirm(desk, 'another-paper', second), isNotFound);
  assert.throws(() => choose(desk, PAPER, second, {}), isNotFound);
  const row = confirm(desk, PAPER, second);
  assert.deepEqual(
    [row.confirmed_at, row.cadence, row.sections, row.cast],
    [clock.now, 'weekly', [SECTIONS[0]], false],
  );
  clock.now += HOUR;
  assert.deepEqual(confirm(desk, PAPER, second), row);
});

test('the newest order is the one that is confirmed, and one mail is enough for several', (t) => {
  const clock = { now: NOON };
  const desk = deskIn(t, clock);
  order(desk, PAPER, ADDRESS, DEFAULT_CHOICES);
  order(desk, PAPER, ADDRESS, WEEKLY);
  const tokens = mailed(desk);
  assert.equal(tokens.length, 1);
  clock.now += CONFIRM_REST - 1;
  order(desk, PAPER, ADDRESS, WEEKLY);
  assert.deepEqual(mailed(desk), []);
  clock.now += 1;
  order(desk, PAPER, ADDRESS, WEEKLY);
  assert.equal(mailed(desk).length, 1);
  assert.equal(confirm(desk, PAPER, tokens[0] ?? '').cadence, 'weekly');
});

test('who does not answer is asked ever more seldom, and a reader who confirmed once a day', (t) => {
  const clock = { now: NOON };
  const desk = deskIn(t, clock);
  const mailsIn = (span: number): number => {
    const end = clock.now + span;
    let mails = 0;
    for (; clock.now < end; clock.now += CONFIRM_REST / 2) {
      order(desk, PAPER, ADDRESS, WEEKLY);
      mails += mailed(desk).length;
    }
    return mails;
  };
  assert.equal(mailsIn(DAY), 9); // at 0, 10, 20, 40 … 1,280 minutes
  assert.equal(mailsIn(13 * DAY), 3);
  clock.now += 14 * DAY;
  order(desk, PAPER, ADDRESS, WEEKLY);
  confirm(desk, PAPER, mailed(desk)[0] ?? '');
  clock.now += CONFIRM_REST;
  assert.equal(mailsIn(3 * DAY), 3);
});

test('a confirmed reader keeps what was chosen until a change is confirmed too', (t) => {
  const clock = { now: NOON };
  const desk = deskIn(t, clock);
  order(desk, PAPER, ADDRESS, DEFAULT_CHOICES);
  const before = confirm(desk, PAPER, mailed(desk)[0] ?? '');
  clock.now += HOUR;
  order(desk, PAPER, ADDRESS, WEEKLY);
  const between = desk.subscribers.of(PAPER, READER);
  assert.deepEqual([between?.cadence, between?.confirmed_at], ['daily', before.confirmed_at]);
  const after = confirm(desk, PAPER, mailed(desk)[0] ?? '');
  assert.deepEqual([after.cadence, after.asked, after.confirmed_at], ['weekly', null, before.confirmed_at]);
  clock.now += HOUR;
  order(desk, PAPER, ADDRESS, { ...WEEKLY, cadence: 'instant' });
  clock.now += UNCONFIRMED_KEPT;
  sweep(desk, clock.now);
  assert.deepEqual(
    [desk.subscribers.of(PAPER, READER)?.cadence, desk.subscribers.of(PAPER, READER)?.asked],
    ['weekly', null],
  );
});

test('what nobody confirms is gone after 14 days, with its mails', (t) => {
  const clock = { now: NOON };
  const desk = deskIn(t, clock);
  order(desk, PAPER, ADDRESS, WEEKLY);
  const id = desk.subscribers.of(PAPER, READER)?.id ?? '';
  sweep(desk, NOON + UNCONFIRMED_KEPT - 1);
  assert.equal(desk.mails.ofSubscriber(id).length, 1);
  sweep(desk, NOON + UNCONFIRMED_KEPT);
  assert.equal(desk.subscribers.of(PAPER, READER), null);
  assert.deepEqual(desk.mails.ofSubscriber(id), []);
});

test('whatever the reason, a refusal outlives orders and is lifted by a confirmation alone', (t) => {
  for (const reason of ['unsubscribed', 'complained', 'bounced', 'by_hand'] as const) {
    const clock = { now: NOON };
    const desk = deskIn(t, clock);
    suppress(desk, PAPER, ADDRESS);
    desk.suppressions.put({ paper: PAPER, reader: READER, email: ADDRESS.email, reason, at: NOON, mailed_at: null });
    assert.equal(orderByAdmin(desk, PAPER, ADDRESS, {}), 'suppressed');
    assert.equal(desk.subscribers.of(PAPER, READER), null);
    order(desk, PAPER, ADDRESS, WEEKLY);
    assert.equal(mailed(desk).length, 1);
    clock.now += SUPPRESSED_REST[reason] - 1;
    order(desk, PAPER, ADDRESS, WEEKLY);
    assert.deepEqual(mailed(desk), [], `${reason}: asked again too soon`);
    clock.now += 1;
    order(desk, PAPER, ADDRESS, WEEKLY);
    assert.equal(desk.suppressions.of(PAPER, READER)?.reason, reason);
    confirm(desk, PAPER, mailed(desk)[0] ?? '');
    assert.equal(desk.suppressions.of(PAPER, READER), null);
    assert.equal(orderByAdmin(desk, PAPER, ADDRESS, {}), 'confirmed');
  }
});

test('who orders for a dead mailbox again and again has no mail sent to it each time', (t) => {
  const clock = { now: NOON };
  const desk = deskIn(t, clock);
  for (const days of [0, 7]) {
    clock.now = NOON + days * 24 * HOUR;
    order(desk, PAPER, ADDRESS, WEEKLY);
    assert.equal(mailed(desk).length, 1);
    const row = desk.subscribers.of(PAPER, READER);
    assert.ok(row);
    end(desk, row, 'bounced');
    clock.now += SUPPRESSED_REST.bounced - 1;
    order(desk, PAPER, ADDRESS, WEEKLY);
    assert.deepEqual(mailed(desk), []);
  }
});

test('erasing forgets the address and not the refusal', (t) => {
  const clock = { now: NOON };
  const desk = deskIn(t, clock);
  assert.throws(() => erase(desk, PAPER, ADDRESS), isNotFound);
  order(desk, PAPER, ADDRESS, WEEKLY);
  const [token = ''] = mailed(desk);
  const own = manageToken(desk, PAPER, READER);
  confirm(desk, PAPER, token);
  unsubscribe(desk, PAPER, own);
  assert.equal(dossierOf(desk, PAPER, ADDRESS).suppression?.reason, 'unsubscribed');
  erase(desk, PAPER, ADDRESS);
  assert.throws(() => dossierOf(desk, PAPER, ADDRESS), isNotFound);
  assert.equal(desk.suppressions.of(PAPER, READER)?.email, null);
  assert.throws(() => unsubscribe(desk, PAPER, own), isNotFound);
  assert.equal(orderByAdmin(desk, PAPER, ADDRESS, {}), 'suppressed');
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
        play(deskIn.bind(null, { after: (work) => endings.push(work) }), steps);
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

function play(open: (clock: Clock) => ReaderDesk, steps: Step[]): void {
  const clock = { now: NOON };
  const desk = open(clock);
  const fresh: { token: string; until: number }[] = [];
  const spent: string[] = [];
  const model: Model = { state: 'none', isSuppressed: false, inForce: null };
  let orderedAt = NOON;
  const own = () => manageToken(desk, PAPER, READER);
  for (const step of steps) {
    if (step.does === 'wait') {
      clock.now += step.hours * HOUR;
      sweep(desk, clock.now);
    }
    if (model.state === 'unconfirmed' && clock.now - orderedAt >= UNCONFIRMED_KEPT) model.state = 'none';
    if (step.does === 'order') {
      order(desk, PAPER, ADDRESS, step.choices);
      orderedAt = clock.now;
      if (model.state === 'none') model.state = 'unconfirmed';
    } else if (step.does === 'admin') {
      const expected = model.isSuppressed ? 'suppressed' : model.state === 'confirmed' ? 'confirmed' : 'pending';
      assert.equal(orderByAdmin(desk, PAPER, ADDRESS, step.choices), expected);
      if (expected === 'pending') {
        orderedAt = clock.now;
        model.state = 'unconfirmed';
      }
    } else if (step.does === 'choose') {
      if (model.state === 'confirmed') model.inForce = { ...choose(desk, PAPER, own(), step.choices), ...step.choices };
      else assert.throws(() => choose(desk, PAPER, own(), step.choices), isNotFound);
    } else if (step.does === 'confirm') {
      const link = fresh.pop();
      if (link !== undefined) {
        if (link.until > clock.now && model.state !== 'none') {
          model.inForce = confirm(desk, PAPER, link.token);
          Object.assign(model, { state: 'confirmed', isSuppressed: false });
          spent.push(link.token);
        } else assert.throws(() => confirm(desk, PAPER, link.token), isNotFound);
      }
    } else if (step.does === 'replay') {
      // A link that was used once changes nothing, whether it is refused or not.
      const [token] = spent;
      if (token !== undefined) attempt(() => confirm(desk, PAPER, token));
    } else if (step.does === 'end' || step.does === 'suppress') {
      if (step.does === 'end') unsubscribe(desk, PAPER, own());
      else suppress(desk, PAPER, ADDRESS);
      if (step.does === 'suppress' || model.state !== 'none') {
        Object.assign(model, { state: 'none', isSuppressed: true });
        fresh.length = 0;
      }
    } else if (step.does === 'erase') {
      attempt(() => erase(desk, PAPER, ADDRESS));
      if (model.state !== 'none') fresh.length = 0;
      model.state = 'none';
    }
    for (const token of mailed(desk)) fresh.push({ token, until: clock.now + CONFIRM_LASTS });
    const row = desk.subscribers.of(PAPER, READER);
    assert.equal(row === null ? 'none' : row.confirmed_at === null ? 'unconfirmed' : 'confirmed', model.state);
    assert.equal(desk.suppressions.of(PAPER, READER) !== null, model.isSuppressed);
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

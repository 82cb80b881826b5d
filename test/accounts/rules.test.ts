import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { usageBars } from '../../api/records/account/overview.ts';
import { changeMail, fromRecords } from '../../src/records/accounts/account-mail.ts';
import { mailText } from '../../src/shared/outbound/letter.ts';
import {
  beginSession,
  SESSION_AGE_MAX,
  SESSION_IDLE_MAX,
  type SessionLife,
  type SessionTable,
  sessionOf,
} from '../../src/shared/session.ts';
import * as fc from '../support/properties.ts';

describe('a chart of usage', () => {
  const day = fc.record({
    included: fc.nat(1e9),
    on_credits: fc.nat(1e9),
    refused: fc.nat(1e9),
    failed: fc.nat(10),
  });

  it('has room for the tallest day, which takes at least a fifth of it; the scale is 1, 2 or 5 times a power of ten', () => {
    fc.assert(
      fc.property(fc.array(day, { minLength: 1, maxLength: 40 }), (rows) => {
        const days = rows.map((row, n) => ({ ...row, units: row.included + row.on_credits, day: `2026-01-${n}` }));
        const { bars, scale } = usageBars(days);
        assert.match(String(scale), /^[125]0*$/);
        const heights = bars.map(({ included, drawn, refused }) => included + drawn + refused);
        assert.ok(Math.max(...heights) <= 100.02);
        if (rows.some(({ included }) => included > 0)) assert.ok(Math.max(...heights) >= 20 || scale === 1);
      }),
    );
  });
});

describe('a mail of changes', () => {
  const links = { root: 'https://records.example', unsubscribe: 'https://records.example/account/unsubscribe?x=1' };
  const at = '2026-11-21T09:30:00.000Z';
  const changes = (hosts: number, each: number) =>
    Array.from({ length: hosts * each }, (_, n) => {
      const hostname = `h${Math.floor(n / each)}.example`;
      return { hostname, line: `${hostname} A changed: ${n}`, at };
    });

  it('lists sixty changes and counts the rest', () => {
    const letter = changeMail('changes', changes(50, 2), links);
    assert.equal(letter.subject, 'h0.example and 49 others changed');
    assert.equal(letter.content.hosts?.flatMap((host) => host.changes).length, 60);
    const text = mailText(fromRecords(links.root, letter).content);
    assert.match(text, /100 changes at 50 hostnames/);
    assert.match(text, /And 40 more/);
    assert.ok(text.includes(links.unsubscribe));
    // The name stands above its lines.
    assert.match(text, /\nh0\.example\n2026-11-21 09:30 {2}A changed: 0\n2026-11-21 09:30 {2}A changed: 1\n/);
  });

  it('counts one as one, and two as one other', () => {
    assert.equal(changeMail('changes', changes(1, 3), links).subject, 'h0.example changed');
    assert.equal(changeMail('changes', changes(2, 1), links).subject, 'h0.example and 1 other changed');
    assert.equal(changeMail('digest', changes(1, 1), links).subject, 'Daily digest: 1 change at 1 hostname');
  });
});

it('a session in permanent use still expires', () => {
  const rows = new Map<string, SessionLife>();
  const sessions: SessionTable<SessionLife> = {
    insert: (session, hash) => void rows.set(hash, session),
    byHash: (hash) => rows.get(hash) ?? null,
    touch(id, seen_at, expires_at) {
      for (const [hash, row] of rows) if (row.id === id) rows.set(hash, { ...row, seen_at, expires_at });
    },
    end: () => {},
    forget: () => {},
  };
  let now = 0;
  const maker = { sessions, now: () => now, newId: () => 'one', random: (n: number) => new Uint8Array(n) };
  const { token } = beginSession(maker, {});
  let lasted = 0;
  for (; sessionOf(maker, token) !== null; now += SESSION_IDLE_MAX / 3) lasted = now;
  assert.ok(lasted < SESSION_AGE_MAX && lasted >= SESSION_AGE_MAX - SESSION_IDLE_MAX / 3);
});

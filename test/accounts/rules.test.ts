import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeMail, fromRecords } from '../../src/records/accounts/account-mail.ts';
import { answer, openAnswer, sealAnswer } from '../../src/records/accounts/answer.ts';
import { chartOfKeys, chartOfOutcomes } from '../../src/records/accounts/usage-chart.ts';
import { browserName } from '../../src/shared/browser-name.ts';
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

  it('has room for the tallest day, which takes at least a third of it; half of the scale is whole', () => {
    fc.assert(
      fc.property(fc.array(day, { minLength: 1, maxLength: 40 }), fc.nat(1e10), (rows, allowance) => {
        const days = rows.map((row, n) => ({ ...row, units: row.included + row.on_credits, day: `2026-01-${n}` }));
        const { days: columns, scale, limit, total } = chartOfOutcomes(days, allowance);
        const most = Math.max(...columns.map((column) => column.total));
        assert.ok(Number.isInteger(scale / 2) && most <= scale);
        assert.ok(limit === null ? scale === 4 || most * 3 >= scale : limit <= scale && most * 4 >= limit);
        assert.equal(limit === null, most < allowance / 4);
        assert.equal(
          total,
          rows.reduce((sum, { included, on_credits, refused }) => sum + included + on_credits + refused, 0),
        );
      }),
    );
  });

  it('by key, draws four keys, the others as one and downloads apart, and loses no request', () => {
    const use = fc.record({
      key: fc.integer({ min: 0, max: 7 }).map((n) => `key-${n}`),
      day: fc.nat(6),
      units: fc.nat(50),
    });
    fc.assert(
      fc.property(
        fc.uniqueArray(use, { selector: ({ key, day }) => `${key} ${day}` }),
        fc.nat(9),
        (uses, downloads) => {
          const used = uses.map(({ day, ...row }) => ({
            ...row,
            name: `${row.key}’s name`,
            day: `2026-01-0${day + 1}`,
          }));
          const days = Array.from({ length: 7 }, (_, n) => {
            const day = `2026-01-0${n + 1}`;
            const units = used.filter((row) => row.day === day).reduce((sum, row) => sum + row.units, downloads);
            return { day, units, included: units, on_credits: 0, refused: 0, failed: 0 };
          });
          const { parts, days: columns } = chartOfKeys(days, used);
          assert.deepEqual(
            columns.map(({ total }) => total),
            days.map(({ units }) => units),
          );
          assert.equal(
            parts.some(({ name }) => name === 'downloads here'),
            downloads > 0,
          );
          const own = parts.filter(({ look }) => /^key-\d$/.test(look));
          assert.ok(own.length <= 4 && own.every(({ name }) => name.endsWith('’s name')));
          for (const part of parts.keys()) assert.ok(columns.some(({ counts }) => (counts[part] ?? 0) > 0));
        },
      ),
    );
  });
});

describe('an answer in an address', () => {
  it('is that of its own session and no other, whole', () => {
    const said = answer('The key “Café” is revoked.', {
      action: '/account/keys',
      label: 'Again',
      fields: { name: 'é' },
    });
    const sealed = sealAnswer('a token', said);
    assert.deepEqual(openAnswer('a token', sealed), said);
    assert.equal(openAnswer('another token', sealed), null);
    const [text = '', seal = ''] = sealed.split('.');
    const forged = Buffer.from(JSON.stringify(answer('Type your key here.'))).toString('base64url');
    for (const wrong of [undefined, '', '.', text, `${forged}.${seal}`, `${text}.${seal.slice(1)}`, `${forged}.`])
      assert.equal(openAnswer('a token', wrong), null, wrong);
  });
});

it('a browser is named without its version, and an unknown one is a browser', () => {
  const mozilla =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  const names: [string | undefined, string][] = [
    [mozilla, 'Chrome on Windows'],
    [`${mozilla} Edg/140.0.0.0`, 'Edge on Windows'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15',
      'Safari on macOS',
    ],
    ['Something (Linux)', 'A browser on Linux'],
    ['curl/8.5.0', 'A browser'],
    [undefined, 'A browser'],
    [`${'x'.repeat(100_000)} Firefox/143.0`, 'A browser'],
  ];
  for (const [text, name] of names) assert.equal(browserName(text), name, text?.slice(0, 80));
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

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stacked } from '../../src/parts/records/stacked.ts';
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

  it('names its tallest day and no more days than fit, and loses no request', () => {
    const row = (n: number) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString().slice(0, 10);
    fc.assert(
      fc.property(fc.array(day, { minLength: 1, maxLength: 90 }), fc.nat(1e10), (rows, allowance) => {
        const days = rows.map((counts, n) => ({ ...counts, units: counts.included + counts.on_credits, day: row(n) }));
        const { days: columns, marks, top, limit, total } = chartOfOutcomes(days, allowance);
        const most = Math.max(...columns.map((column) => column.total));
        assert.deepEqual([limit === null, top?.total ?? 0], [most < allowance / 4, most]);
        assert.ok(marks.length <= 10 && (rows.length < 16 || marks.length > 1), `${marks.length} of ${rows.length}`);
        assert.equal(
          total,
          rows.reduce((sum, { included, on_credits, refused }) => sum + included + on_credits + refused, 0),
        );
      }),
    );
  });

  it('is drawn on a scale of whole, round numbers, on which the tallest column takes at least a third', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(1e7), { minLength: 3, maxLength: 3 }), { maxLength: 90 }),
        fc.nat(1e7),
        (counts, most) => {
          const { y, ticks, bars } = stacked(counts, most);
          const tops = counts.map((row) => row.reduce((sum, count) => sum + count, 0));
          const tallest = Math.max(most, ...tops);
          assert.ok(ticks.length >= 3 && ticks[0] === 0 && ticks.every(Number.isInteger), String(ticks));
          assert.ok(y(tallest) >= -1e-9 && (tallest < 4 || y(tallest) <= 67), String(y(tallest)));
          for (const [at, column] of bars.entries()) {
            const drawn = column.reduce((sum, { height }) => sum + height, 0);
            assert.ok(Math.abs(drawn - (100 - y(tops[at] ?? 0))) < 0.05, `${drawn}`);
          }
        },
      ),
    );
    assert.deepEqual(stacked([], 0).ticks, [0, 1, 2, 3, 4]);
    assert.deepEqual(stacked([[10_000_000, 0, 0]]).ticks.slice(-1), [10_000_000]);
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

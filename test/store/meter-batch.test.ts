import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { KeyLife } from '../../src/key-life.ts';
import type { ReserveOutcome } from '../../src/meter/meter-table.ts';
import { openStore } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import * as fc from '../support/properties.ts';

const START = Date.UTC(2026, 1, 28, 23, 58);
const LIMITS = { daily: 3, perMinute: 7 };

/** What happens: requests at once, time that passes (ms, also backwards), or bought micro-credits. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ requests: fc.integer({ min: 1, max: 12 }) }) },
  { weight: 2, arbitrary: fc.record({ passes: fc.constantFrom(1, 30_000, 60_000, 86_400_000, -60_000, -200_000) }) },
  { weight: 1, arbitrary: fc.record({ buys: fc.integer({ min: 1, max: 250_000 }) }) },
);

test('concurrent charges equal sequential ones', (t) => {
  const store = openStore({ file: join(tempFolder(t), 'broadsheet.db') });
  t.after(() => store.close());
  let run = 0;
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 12 }),
      fc.constantFrom('daily' as const, 'monthly' as const),
      (steps, plan) => {
        run++;
        const [single, batch] = ['single', 'batch'].map((name) => {
          const account = `${name}-${run}`;
          store.accounts.ofEmail(`${account}@${account}.example`, { id: account, plan, made_at: START });
          const key = `key-${account}`;
          const life: KeyLife = {
            made_at: START,
            made_by: 'cli',
            expires_at: null,
            used_at: null,
            revoked_at: null,
            revoked_by: null,
          };
          store.serviceKeys.insert({ id: key, account, level: 'account', name: 'N', ...life }, key);
          return { account, key };
        });
        assert.ok(single && batch);
        const plain = (value: unknown): unknown =>
          JSON.parse(JSON.stringify(value).replaceAll(`batch-${run}`, `single-${run}`));
        let now = START;
        for (const one of steps) {
          if ('passes' in one) now += one.passes;
          if ('buys' in one) {
            for (const { account } of [single, batch])
              store.credits.append(account, { at: now, amount: one.buys, note: null });
          }
          if (!('requests' in one)) continue;
          const each: (ReserveOutcome | null)[] = Array.from({ length: one.requests }, () =>
            store.meter.reserve({ ...single, at: now }, LIMITS),
          );
          assert.deepEqual(plain(store.meter.reserveAll({ ...batch, at: now }, one.requests, LIMITS)), plain(each));
          const standing = ({ account }: { account: string }): unknown => [
            store.meter.usage(account, now, LIMITS.daily),
            store.meter.days(account, '2026-01-01'),
            store.meter.keys(account, now),
            store.credits.entries(account, now),
          ];
          assert.deepEqual(plain(standing(batch)), plain(standing(single)));
        }
      },
    ),
  );
  assert.deepEqual(store.credits.faults(), []);
  assert.equal(store.meter.reserveAll({ account: 'nobody', key: 'none', at: START }, 3, LIMITS), null);
});

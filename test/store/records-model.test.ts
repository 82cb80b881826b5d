import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { auditRecords } from '../../src/operate/audit/records.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import type { AppContext } from '../../src/server/context.ts';
import { openStore } from '../../src/store/store.ts';
import { type Scope, tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';
import { HOUR, KEY, probe, toolsAt } from '../support/probes.ts';
import * as fc from '../support/properties.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const START = Date.UTC(2026, 10, 20, 12);
const MINUTE = 60_000;

const HOSTS = ['a.test', 'b.test', 'sub.b.test', 'c.example'];
const address = fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3');
const answer = fc.oneof(
  { weight: 4, arbitrary: fc.uniqueArray(address, { minLength: 1 }) },
  fc.constantFrom('nodata' as const, 'nxdomain' as const, 'timeout' as const, 'servfail' as const),
);
const action = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant('look' as const), host: fc.constantFrom(...HOSTS), A: answer, MX: answer }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lease' as const), max: fc.integer({ min: 1, max: 3 }) }) },
  fc.record({ do: fc.constant('crash' as const) }),
  fc.record({ do: fc.constant('pause' as const), host: fc.constantFrom(...HOSTS) }),
  fc.record({ do: fc.constant('watch' as const), host: fc.constantFrom(...HOSTS) }),
  fc.record({ do: fc.constant('opt-out' as const), host: fc.constantFrom('b.test', 'c.example') }),
  fc.record({ do: fc.constant('clock' as const), by: fc.integer({ min: -3 * 24 * HOUR, max: 5 * 24 * HOUR }) }),
);

test('after any sequence of operations, every table of the records is consistent', { skip: ONLY_WIDE }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      // A turn of its own for what was collected of earlier runs to be given back.
      await setImmediate();
      const endings: (() => void)[] = [];
      const scope: Scope = { after: (work) => void endings.unshift(work) };
      try {
        const store = openStore({ file: emptyDatabase(tempFolder(scope)) });
        scope.after(() => store.database.close());
        const { records } = store;
        records.watch(HOSTS.map(parseHostname), START);
        let now = START;
        let lease = 0;
        for (const step of actions) {
          now += 1000;
          if (step.do === 'clock') now = Math.max(START, now + step.by);
          if (step.do === 'pause') records.pause(step.host);
          if (step.do === 'watch') records.watch([parseHostname(step.host)], now);
          if (step.do === 'opt-out') records.optOut(parseHostname(step.host), 'asked', 'test', now);
          if (step.do === 'lease') {
            const id = `l${++lease}`;
            for (const { hostname } of records.lease({ id, owner: 'x', max: step.max, until: now + MINUTE, now })) {
              assert.equal(records.find(hostname)?.state, 'watched');
            }
          }
          if (step.do === 'look' || step.do === 'crash') {
            const id = `l${++lease}`;
            const host = step.do === 'look' ? step.host : 'a.test';
            const [leased] = records.leaseNames({ id, owner: 'x', names: [host], until: now + MINUTE });
            const taken =
              step.do === 'look'
                ? probe(host, now, { A: step.A, MX: step.MX })
                : probe(host, now, { A: ['192.0.2.4'] });
            const enter = () => recordProbe(records, id, taken, toolsAt(now));
            if (step.do === 'look') {
              assert.equal(enter().outcome, leased === undefined ? 'lost' : 'recorded');
            } else {
              const before = [records.observationTotals(), records.deltaTotals(), records.find(host)?.due_at];
              assert.throws(
                () =>
                  store.database.transact(() => {
                    enter();
                    throw new Error('the power went');
                  }),
                /the power went/,
              );
              assert.deepEqual(
                [records.observationTotals(), records.deltaTotals(), records.find(host)?.due_at],
                before,
              );
            }
          }
        }
        const faults: string[] = [];
        auditRecords(
          { store: { ...store, desk: { ...store.desk, verifyingKeys: () => [KEY] } } } as unknown as AppContext,
          faults,
        );
        assert.deepEqual(faults, []);
        // The counts that are kept are the counts of what is read.
        const shown = records.deltas({}, { limit: 1e6 });
        assert.equal(records.deltaCount({}), shown.length);
        for (const [since, until] of [
          [START, now],
          [START + 5 * HOUR, now + 24 * HOUR],
          [now, START],
        ] as const) {
          for (const signal of [undefined, 'A', 'MX']) {
            const read = records.deltas({ since, until, signal }, { limit: 1e6 });
            assert.equal(records.deltaCount({ since, until, signal }), read.length);
            const fits = shown.filter(
              (d) => d.at >= since && d.at < until && (signal === undefined || d.signal === signal),
            );
            assert.deepEqual(read, fits);
            const paged: typeof read = [];
            for (let cursor: number | undefined; ; cursor = paged.at(-1)?.seq) {
              const page = records.deltas({ since, until, signal }, { limit: 2, order: 'oldest', cursor });
              paged.push(...page);
              if (page.length < 2) break;
            }
            assert.deepEqual(paged, fits.toReversed());
          }
        }
        const byDay = records.changesByDay('0000', '9999').reduce((sum, { count }) => sum + count, 0);
        assert.equal(byDay, shown.length);
      } finally {
        for (const end of endings) end();
      }
    }),
    { numRuns: 60 },
  );
});

import { setTimeout } from 'node:timers/promises';
import { recordProbe } from '../../src/records/recording.ts';
import { openStore } from '../../src/store/store.ts';
import { probe, toolsAt } from '../support/probes.ts';

// A scanner in a process of its own: leases, looks and records until nothing is due or leased.

const [file = '', owner = ''] = process.argv.slice(2);
const store = openStore({ file });
const { records } = store;
/** Long enough for one batch, short enough that a test can wait for a dead scanner's lease to end. */
const LEASE = 1_500;

for (let n = 0; ; n++) {
  const now = Date.now();
  const id = `${owner}-${n}`;
  const leased = records.lease({ id, owner, max: 20, until: now + LEASE, now });
  if (leased.length > 0) process.send?.('leased');
  for (const { hostname } of leased) {
    await setTimeout(2);
    recordProbe(records, id, probe(hostname, Date.now(), { A: ['192.0.2.1'] }), toolsAt(Date.now()));
  }
  const { due, leased: held } = records.stats(Date.now());
  if (due + held === 0) break;
  await setTimeout(20);
}
store.database.close();
process.disconnect?.();

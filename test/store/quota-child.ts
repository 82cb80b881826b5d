import { once } from 'node:events';
import { openStore } from '../../src/store/store.ts';

// A server in a process of its own: tries 25 times each to count a sign-up, to open a stream and to take an included unit.

const [file = '', name = ''] = process.argv.slice(2);
const store = openStore({ file });
const at = Date.UTC(2026, 10, 21, 12);
const came = { signUps: 0, streams: 0, units: 0 };

process.send?.('ready');
await once(process, 'message');
for (let n = 0; n < 25; n++) {
  if (store.records.quotas.signUp('192.0.2.0/24', at, 20) === null) came.signUps++;
  const stream = { id: `${name}-${n}`, holder: 'account:ada' };
  if (store.records.quotas.openStream(stream, () => at, { most: 10, lasts: 60_000 })) came.streams++;
  const take = store.records.meter.reserve({ account: name, key: name, at }, { daily: 30, perMinute: 1_000 });
  if (take?.outcome === 'reserved') came.units++;
}
store.database.close();
process.send?.(came);
process.disconnect?.();

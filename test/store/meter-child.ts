import { once } from 'node:events';
import { openStore } from '../../src/store/store.ts';

// A server in a process of its own: takes units as quickly as it can, every fifth of which it gives back.

const [file = '', key = '', requests = ''] = process.argv.slice(2);
const store = openStore({ file });
const at = Date.UTC(2026, 10, 21, 23, 59, 59, 999);
const came = { included: 0, drawn: 0, refused: 0, failed: 0 };

process.send?.('ready');
await once(process, 'message');
for (let n = 0; n < Number(requests); n++) {
  const take = store.records.meter.reserve({ account: 'ada', key, at }, { daily: 150, perMinute: 1_000 });
  if (take?.outcome === 'exhausted') came.refused++;
  if (take?.outcome !== 'reserved') continue;
  if (n % 5 > 0) came[take.reservation.from === 'included' ? 'included' : 'drawn']++;
  else {
    // After midnight.
    store.records.meter.refund(take.reservation, at + 1, 150);
    came.failed++;
  }
}
store.database.close();
process.send?.(came);
process.disconnect?.();

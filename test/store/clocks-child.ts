import { openStore } from '../../src/store/store.ts';

// A process of its own on a database: asks for what its neighbours ask for too, by the real clock, and says whether it got it.

const [file = '', what = ''] = process.argv.slice(2);
const store = openStore({ file });

const asks: Record<string, (n: number) => boolean> = {
  keyless: (n) => store.records.keyless.admit(`caller-${n}`, Date.now, 1_000_000).pass === 'open',
  duty: (n) => store.database.leases.acquire(`duty-${n}`, String(process.pid), Date.now, 60_000) !== null,
  press: (n) => store.desk.manifest.acquireLease(`paper-${n}`, String(process.pid), Date.now(), 30_000),
};

process.on('message', (n: number) => {
  process.send?.(asks[what]?.(n));
});
process.once('disconnect', () => store.database.close());
process.send?.('ready');

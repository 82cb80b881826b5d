import { openStore } from '../../src/store/store.ts';

// A process of its own on a database: asks for what its neighbours ask for too, by the real clock, and says whether it got it.

const [file = '', what = ''] = process.argv.slice(2);
const store = openStore({ file });

process.on('message', (n: number) => {
  const isMine =
    what === 'keyless'
      ? store.keyless.enter(`caller-${n}`, Date.now, 1_000_000).pass === 'open'
      : store.duties.take(`duty-${n}`, String(process.pid), Date.now, 60_000) !== null;
  process.send?.(isMine);
});
process.once('disconnect', () => store.close());
process.send?.('ready');

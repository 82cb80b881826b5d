import { fillLogs } from '../../src/signing/log/log-fill.ts';
import { openStore } from '../../src/store/store.ts';

// A process that upgrades a database when it is told to, with everything that a start makes from its rows.

const [file = ''] = process.argv.slice(2);
process.once('message', () => {
  const store = openStore({ file });
  fillLogs(store);
  while (store.records.indexValues());
  process.send?.('done', () => process.exit(0));
});
process.send?.('ready');

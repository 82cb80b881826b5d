import { fillLog } from '../../src/signing/log/log-fill.ts';
import { openStore } from '../../src/store/store.ts';

// A process that fills the records' log in small batches, and says after each how far it is.

const [file = '', batch = '1'] = process.argv.slice(2);
const store = openStore({ file });
process.once('message', () => {
  fillLog(store, 'records', (leaves) => process.send?.(leaves), Number(batch));
  store.database.close();
  process.disconnect?.();
});
process.send?.('ready');

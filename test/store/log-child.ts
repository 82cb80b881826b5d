import { openStore } from '../../src/store/store.ts';

// A process that appends leaves, each in a transaction of its own; every third transaction is rolled back.

const [file = '', owner = '', count = '0'] = process.argv.slice(2);
const store = openStore({ file });

process.send?.('ready');
process.once('message', () => {
  for (let n = 0; n < Number(count); n++) {
    try {
      store.database.transact(() => {
        store.database.log.append('desk', `${owner} ${n}\n`);
        // Both processes log this one.
        store.database.log.append('desk', `shared ${n}\n`);
        if (n % 3 === 2) throw new Error('rolled back');
      });
    } catch (error) {
      if (!(error instanceof Error) || error.message !== 'rolled back') throw error;
    }
  }
  store.database.close();
  process.disconnect?.();
});

import { setImmediate } from 'node:timers/promises';
import { openStore } from '../../src/store/store.ts';
import { RACES } from './races.ts';

// A process of its own, of which so many callers run each race that it is told.

const [file = '', name = '', callers = ''] = process.argv.slice(2);
const store = openStore({ file });

process.on('message', async (race: string) => {
  const run = RACES[race]?.run;
  const outcomes = Array.from({ length: Number(callers) }, async (_, n) => {
    await setImmediate();
    return run?.(store, `${name}-${n}`);
  });
  process.send?.((await Promise.all(outcomes)).map((outcome) => outcome ?? null));
});
process.on('disconnect', () => store.database.close());
process.send?.('ready');

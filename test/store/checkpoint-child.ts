import { setTimeout as pause } from 'node:timers/promises';
import { openStore } from '../../src/store/store.ts';

// A process that appends leaves, some in each transaction, until its input ends; then it prints how many.

const [file = '', name = ''] = process.argv.slice(2);
const store = openStore({ file, checkpointPages: 5 });
let isEnding = false;
process.stdin.on('end', () => {
  isEnding = true;
});
process.stdin.resume();

let count = 0;
while (!isEnding) {
  const some = Math.ceil(Math.random() * 20);
  store.database.transact(() => {
    for (let n = 0; n < some; n++) store.database.log.append('desk', `${name} ${count + n}\n`);
  });
  count += some;
  await pause(Math.random() * 3);
}
store.database.close();
process.stdout.write(`${count}\n`);

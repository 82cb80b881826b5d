import { getHeapSpaceStatistics } from 'node:v8';
import pino from 'pino';
import { listenDesk } from '../../api/server.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { collectGarbage, createPaper } from '../support/app-context.ts';

// A desk with a paper, in a process of its own, that says what its old generation holds. Sends its address; answers
// each message with bytes, after a collection if the message is `collect`.

const app = openAppContext(readSettings());
createPaper(app);
const { url } = await listenDesk({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) });
process.on('message', (message) => {
  if (message === 'collect') collectGarbage();
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => /^(?:large_object|old)_space$/.test(space_name));
  process.send?.(spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0));
});
process.send?.(url);

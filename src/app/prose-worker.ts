import { parentPort } from 'node:worker_threads';
import { preparedProse } from '../desk/search.ts';
import { proseHtml } from '../press/prose-html.ts';
import type { ProseTask } from './prose-pool.ts';

// The thread behind `ProsePool`: parses prose by the same rules as the main thread. It may be terminated at any time.

parentPort?.on('message', (task: ProseTask) => {
  if (typeof task !== 'string') {
    parentPort?.postMessage(proseHtml(task.prose, task.facts, (path) => task.pictures.get(path) ?? path));
    return;
  }
  parentPort?.postMessage(preparedProse(task));
});

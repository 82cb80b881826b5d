import { parentPort } from 'node:worker_threads';
import type { CachedProse } from '../desk/prose-cache.ts';
import { proseWords } from '../desk/search.ts';
import { parseProse } from '../ledger/prose.ts';
import { proseHtml } from '../press/prose-html.ts';
import type { ProseTask } from './prose-pool.ts';

// The thread behind `ProsePool`: parses prose by the same rules as the main thread. It may be terminated at any time.

parentPort?.on('message', (task: ProseTask) => {
  if (typeof task !== 'string') {
    parentPort?.postMessage(proseHtml(task.prose, task.facts, (path) => task.pictures.get(path) ?? path));
    return;
  }
  const prose = task;
  const parsed = parseProse(prose);
  const words = parsed.openBrackets === null ? proseWords(parsed.plain) : null;
  parentPort?.postMessage({ parsed, words } satisfies CachedProse);
});

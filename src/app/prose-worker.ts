import { parentPort } from 'node:worker_threads';
import type { CachedProse } from '../desk/prose-cache.ts';
import { proseWords } from '../desk/search.ts';
import { parseProse } from '../ledger/prose.ts';

// The thread behind `ProsePool`: parses prose by the same rules as the main thread. It may be terminated at any time.

parentPort?.on('message', (prose: string) => {
  const parsed = parseProse(prose);
  const words = parsed.openBrackets === null ? proseWords(parsed.plain) : null;
  parentPort?.postMessage({ parsed, words } satisfies CachedProse);
});

import { parentPort } from 'node:worker_threads';
import type { CachedProse } from '../desk/readings.ts';
import { proseWords } from '../desk/search.ts';
import { parseProse } from '../ledger/prose.ts';

// Reads a stranger's prose with the same rules as everybody, on a thread that whoever started it may end.

parentPort?.on('message', (prose: string) => {
  const reading = parseProse(prose);
  const words = reading.openBrackets === null ? proseWords(reading.plain) : null;
  parentPort?.postMessage({ parsed: reading, words } satisfies CachedProse);
});

import { parentPort } from 'node:worker_threads';
import type { KeptReading } from '../desk/readings.ts';
import { proseWords } from '../desk/search.ts';
import { readProse } from '../ledger/prose.ts';

// Reads a stranger's prose with the same rules as everybody, on a thread that whoever started it may end.

parentPort?.on('message', (prose: string) => {
  const reading = readProse(prose);
  const words = reading.tangled === null ? proseWords(reading.plain) : null;
  parentPort?.postMessage({ reading, words } satisfies KeptReading);
});

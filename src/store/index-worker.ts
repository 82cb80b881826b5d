import { parentPort, workerData } from 'node:worker_threads';
import type { IndexedWords } from './search-segment.ts';
import { segmentMaker } from './search-segment.ts';

// The thread behind `IndexAhead`: makes a segment of the search index for each message. It may be terminated at any time.

const make = segmentMaker(workerData as string);

parentPort?.on('message', (docs: IndexedWords[]) => {
  const segment = make(docs);
  parentPort?.postMessage(segment, [segment.blob.buffer as ArrayBuffer]);
});

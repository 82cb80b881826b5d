import { parentPort } from 'node:worker_threads';
import type { IndexedWords } from './segment-maker.ts';
import { makeSegment } from './segment-maker.ts';

// The thread behind `IndexAhead`: makes a segment of the search index for each message. It may be terminated at any time.

parentPort?.on('message', (docs: IndexedWords[]) => {
  const segment = makeSegment(docs);
  parentPort?.postMessage(segment, [segment.blob.buffer as ArrayBuffer]);
});

import { parentPort } from 'node:worker_threads';
import type { IndexedWords } from './search-segment.ts';
import { SegmentMaker } from './search-segment.ts';

// The thread behind `IndexAhead`: makes a segment of the search index for each message. It may be terminated at any time.

const maker = new SegmentMaker();

parentPort?.on('message', (docs: IndexedWords[]) => {
  const segment = maker.make(docs);
  parentPort?.postMessage(segment, [segment.blob.buffer as ArrayBuffer]);
});

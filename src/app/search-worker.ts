import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf, messageOf } from '../fault.ts';
import { openReader } from '../store/open.ts';
import type { Question } from '../store/search-reads.ts';
import { searchReads } from '../store/search-reads.ts';
import type { SearchAnswer } from './search-pool.ts';

// The thread behind `SearchPool`: searches on a connection of its own. It may be terminated at any time.

/** On Linux, this thread yields to those that answer other requests. Elsewhere the whole process would yield. */
const YIELDS = 5;
if (process.platform === 'linux') setPriority(YIELDS);

const { found } = searchReads(openReader(workerData));

function answer(question: Question): SearchAnswer {
  try {
    return found(question);
  } catch (error) {
    return { failure: messageOf(error), code: codeOf(error) };
  }
}

parentPort?.on('message', (question: Question) => parentPort?.postMessage(answer(question)));
parentPort?.postMessage('ready');

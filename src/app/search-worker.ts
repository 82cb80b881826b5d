import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { codeOf, messageOf } from '../fault.ts';
import { openReader } from '../store/open.ts';
import type { Question } from '../store/search-reads.ts';
import { searchReads } from '../store/search-reads.ts';
import type { SearchAnswer } from './search-pool.ts';

// The thread behind `SearchPool`: searches on a connection of its own. It may be terminated at any time.

/** How much nicer this thread is than the one that answers all requests. */
const NICER = 5;
yieldToOthers();

const { found } = searchReads(openReader(workerData));

/** Lowers the priority of this thread on Linux. Elsewhere that would be the priority of the whole process. */
function yieldToOthers(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + NICER));
  } catch {
    // Some containers forbid it. The thread searches all the same.
  }
}

function answer(question: Question): SearchAnswer {
  try {
    return found(question);
  } catch (error) {
    return { failure: messageOf(error), code: codeOf(error) };
  }
}

parentPort?.on('message', (question: Question) => parentPort?.postMessage(answer(question)));
parentPort?.postMessage('ready');

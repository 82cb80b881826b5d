import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Busy, Fault, messageOf } from '../fault.ts';
import type { Found, Question } from '../store/search-reads.ts';
import { Turns } from './turns.ts';

/** How long a question may take from its arrival to its answer, in ms. */
const WAIT_MAX = 900;
/** The most waiting questions, in total and per paper. */
const WAITING_MAX = 1_024;
const WAITING_PER_PAPER = 512;
/** Leaves one core to other requests. */
const THREADS_MAX = Math.min(4, Math.max(1, availableParallelism() - 1));
/** How many questions a thread holds: the next one, so that it need not wait for this thread after each. */
const HELD_MAX = 2;
/** How many questions are answered on this thread while the first reader starts. */
const HERE_MAX = 8;
/** How long an idle thread is kept, in ms. */
const IDLE = 60_000;
/** The heap of a thread, in MB. Its connection has a cache of its own. */
const HEAP = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

/** What a thread answers: what it found, or the error of the database. */
export type SearchAnswer = Found | { failure: string; code: string };

interface Job {
  paper: string;
  question: Question;
  /** Whether a thread has died of it. */
  hasFailed: boolean;
  isSettled: boolean;
  settle(outcome: { found: Found } | { fault: unknown }): void;
}

interface Reader {
  worker: Worker;
  isReady: boolean;
  /** In the order of their answers: the first one is being answered. */
  held: Job[];
  /** Ends the thread when it is idle. */
  idle: NodeJS.Timeout;
}

export interface SearchLimits {
  wait: number;
  waiting: number;
  threads: number;
  idle: number;
  /** How many questions are answered on this thread while the first reader starts. */
  here: number;
  /** The threads' module. */
  code: URL;
}

/**
 * Threads that search the papers on connections of their own, so that no other request waits for a search. They start
 * on demand and end when idle.
 */
export class SearchPool {
  readonly #file: string;
  readonly #here: (question: Question) => Found;
  readonly #limits: SearchLimits;
  readonly #waiting = new Turns<Job>();
  readonly #readers = new Set<Reader>();
  #leftHere: number;
  #isClosed = false;

  /** `file` is the database; `here` searches on this thread. */
  constructor(file: string, here: (question: Question) => Found, limits: Partial<SearchLimits> = {}) {
    const code = new URL('./search-worker.ts', import.meta.url);
    const defaults = { wait: WAIT_MAX, waiting: WAITING_MAX, threads: THREADS_MAX, idle: IDLE, here: HERE_MAX, code };
    this.#file = file;
    this.#here = here;
    this.#limits = { ...defaults, ...limits };
    this.#leftHere = this.#limits.here;
  }

  /**
   * Searches a state of the database that is not older than this call. `since` is when the question arrived, by
   * `performance.now()`. Throws `unavailable` when too many questions wait, when its time is over, or when the thread
   * fails; the caller may then ask again.
   */
  async ask(question: Question, since = performance.now()): Promise<Found> {
    const left = since + this.#limits.wait - performance.now();
    const { paper } = question;
    const isFull =
      this.#waiting.size >= this.#limits.waiting ||
      this.#waiting.sizeOf(paper) >= Math.min(WAITING_PER_PAPER, this.#limits.waiting);
    if (this.#isClosed || isFull || left <= 0) throw tooMany();
    if (this.#leftHere > 0 && ![...this.#readers].some(({ isReady }) => isReady)) {
      this.#leftHere--;
      if (this.#readers.size === 0) this.#start();
      return this.#here(question);
    }
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#waiting.remove(job);
        job.settle({ fault: tooMany() });
      }, left);
      const job: Job = {
        paper,
        question,
        hasFailed: false,
        isSettled: false,
        settle: (outcome) => {
          clearTimeout(late);
          job.isSettled = true;
          if ('found' in outcome) resolve(outcome.found);
          else reject(outcome.fault);
        },
      };
      this.#waiting.add(job);
      this.#next();
    });
  }

  /** The threads, and the questions that wait for one or are being answered. */
  get load(): { threads: number; waiting: number; answering: number } {
    const answering = [...this.#readers].reduce((sum, { held }) => sum + held.length, 0);
    return { threads: this.#readers.size, waiting: this.#waiting.size, answering };
  }

  /** Ends the threads. Questions without an answer get a fault. */
  close(): void {
    this.#isClosed = true;
    this.#giveUp(tooMany());
    for (const reader of this.#readers) {
      for (const job of reader.held.splice(0)) job.settle({ fault: tooMany() });
      this.#end(reader);
    }
  }

  /** Gives waiting questions to readers, and starts another reader when those that run have enough to do. */
  #next(): void {
    for (const reader of this.#readers) {
      while (reader.isReady && reader.held.length < HELD_MAX) {
        const job = this.#waiting.take();
        if (job === null) return;
        this.#give(reader, job);
      }
    }
    const isStarting = [...this.#readers].some(({ isReady }) => !isReady);
    if (this.#waiting.size > 0 && !isStarting && this.#readers.size < this.#limits.threads) this.#start();
  }

  #give(reader: Reader, job: Job): void {
    reader.held.push(job);
    reader.idle.refresh();
    reader.worker.ref();
    reader.worker.postMessage(job.question);
  }

  #start(): void {
    let worker: Worker;
    try {
      worker = new Worker(this.#limits.code, { workerData: this.#file, resourceLimits: HEAP });
    } catch (error) {
      this.#giveUp(failed(messageOf(error)));
      return;
    }
    const idle = setTimeout(() => {
      if (reader.isReady && reader.held.length === 0) this.#end(reader);
      else idle.refresh();
    }, this.#limits.idle).unref();
    const reader: Reader = { worker, isReady: false, held: [], idle };
    this.#readers.add(reader);
    // An idle thread does not keep the process alive; a question that waits has a timer that does.
    worker.unref();
    let why = 'it ended';
    worker.once('error', (error) => {
      why = messageOf(error);
    });
    worker.on('message', (message: 'ready' | SearchAnswer) => {
      idle.refresh();
      if (message === 'ready') reader.isReady = true;
      else this.#settle(reader, message);
      this.#next();
    });
    worker.once('exit', () => this.#ended(reader, why));
  }

  #settle(reader: Reader, answer: SearchAnswer): void {
    const job = reader.held.shift();
    if (reader.held.length === 0) reader.worker.unref();
    if ('failure' in answer) job?.settle({ fault: Object.assign(new Error(answer.failure), { code: answer.code }) });
    else job?.settle({ found: answer });
  }

  /** Asks another thread what a dead one held: the question that it was answering once more, then no more. */
  #ended(reader: Reader, why: string): void {
    this.#forget(reader);
    // A thread that never was ready would not be so now.
    if (!reader.isReady && this.#readers.size === 0) this.#giveUp(failed(why));
    for (const [n, job] of reader.held.splice(0).entries()) {
      if (n === 0 && job.hasFailed) job.settle({ fault: failed(why) });
      job.hasFailed ||= n === 0;
      if (!job.isSettled) this.#waiting.add(job);
    }
    this.#next();
  }

  #giveUp(fault: Fault): void {
    for (let job = this.#waiting.take(); job !== null; job = this.#waiting.take()) job.settle({ fault });
  }

  #end(reader: Reader): void {
    this.#forget(reader);
    // None is left, so that the next question finds none ready.
    if (this.#readers.size === 0) this.#leftHere = this.#limits.here;
    void reader.worker.terminate();
  }

  #forget(reader: Reader): void {
    clearTimeout(reader.idle);
    this.#readers.delete(reader);
  }
}

function tooMany(): Busy {
  return new Busy('too many searches are waiting; ask again soon');
}

function failed(why: string): Fault {
  return new Fault('unavailable', `the thread that searches failed: ${why}; ask again`);
}

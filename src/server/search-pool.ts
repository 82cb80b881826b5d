import { availableParallelism } from 'node:os';
import { Busy, codeOf, Fault, messageOf } from '../shared/fault.ts';
import { type Found, INTERRUPTED, type Question, type SearchReader } from '../store/desk/search-reader.ts';

const LIMITS = {
  /** How long a search may take from its arrival to its answer, in ms. */
  deadline: 900,
  /** How long it may occupy a connection of the quick lane, in ms. */
  turn: 100,
  /** The connections of the quick lane. */
  connections: Math.max(2, availableParallelism()),
  /** The most waiting searches of one caller. */
  waiting: 256,
};
export type SearchLimits = typeof LIMITS;

interface Job extends Pick<PromiseWithResolvers<Found>, 'resolve' | 'reject'> {
  question: Question;
  caller: string;
  isOver: boolean;
}

/**
 * Searches on threads of libSQL, so that no other request waits for a search. SQLite cannot tell in advance what a
 * search costs: words take microseconds, a phrase of common words may read the whole index for a second. So each search
 * gets a turn on a connection of the quick lane. One that does not end within its turn is interrupted and begins anew
 * in the slow lane, which has one connection. In both lanes callers take turns. At its deadline a search is refused.
 */
export class SearchPool {
  readonly #open: () => SearchReader;
  readonly #limits: SearchLimits;
  readonly #quick: Lane;
  readonly #slow = new Lane(1);
  /** All searches without an answer. */
  readonly #jobs = new Set<Job>();
  #isClosed = false;

  constructor(open: () => SearchReader, limits: Partial<SearchLimits> = {}) {
    this.#open = open;
    this.#limits = { ...LIMITS, ...limits };
    this.#quick = new Lane(this.#limits.connections);
  }

  /**
   * Searches the database in a state no older than this call. `since` is when the request arrived
   * (`performance.now()`). Throws `unavailable` when too many wait, at the deadline, or without a connection.
   */
  async ask(question: Question, caller: string, since: number): Promise<Found> {
    const left = since + this.#limits.deadline - performance.now();
    const waiting = this.#quick.waiting(caller) + this.#slow.waiting(caller);
    if (this.#isClosed || left <= 0 || waiting >= this.#limits.waiting) throw tooMany();
    const { promise, resolve, reject } = Promise.withResolvers<Found>();
    const job: Job = { question, caller, isOver: false, resolve, reject };
    this.#jobs.add(job);
    // An answer that arrived while this thread was blocked is still read before `setImmediate` runs.
    const timer = setTimeout(() => setImmediate(() => this.#refuse(job)), left);
    this.#quick.add(job);
    this.#next(this.#quick);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      job.isOver = true;
      this.#jobs.delete(job);
    }
  }

  /** The connections, and the searches that wait for one or are running. */
  get load(): { threads: number; waiting: number; answering: number } {
    const [quick, slow] = [this.#quick, this.#slow];
    const answering = quick.running.size + slow.running.size;
    const threads = answering + quick.idle.length + slow.idle.length;
    return { threads, waiting: quick.waiting() + slow.waiting(), answering };
  }

  /** Refuses all searches and closes the connections. */
  close(): void {
    this.#isClosed = true;
    for (const job of this.#jobs) this.#refuse(job);
    for (const { idle, running } of [this.#quick, this.#slow]) {
      for (const reader of idle.splice(0)) reader.close();
      for (const reader of running) reader.interrupt();
    }
  }

  #refuse(job: Job): void {
    job.isOver = true;
    this.#quick.remove(job);
    this.#slow.remove(job);
    job.reject(tooMany());
  }

  #next(lane: Lane): void {
    while (lane.running.size < lane.most) {
      const job = lane.take();
      if (job === null) return;
      try {
        void this.#run(job, lane.idle.pop() ?? this.#open(), lane);
      } catch (error) {
        job.reject(new Fault('unavailable', `the database could not be opened to search it: ${messageOf(error)}`));
      }
    }
  }

  async #run(job: Job, reader: SearchReader, lane: Lane): Promise<void> {
    lane.running.add(reader);
    // Repeated, because interrupting a search that has not begun yet has no effect.
    const turns = setInterval(() => {
      if (lane === this.#quick || job.isOver) reader.interrupt();
    }, this.#limits.turn);
    let isSound = true;
    try {
      job.resolve(await reader.found(job.question));
    } catch (error) {
      isSound = codeOf(error) === INTERRUPTED;
      if (!isSound) job.reject(error);
      else if (!job.isOver) this.#slow.add(job);
    }
    clearInterval(turns);
    lane.running.delete(reader);
    // After an error another connection takes its place.
    if (isSound && !this.#isClosed) lane.idle.push(reader);
    else reader.close();
    this.#next(lane);
    this.#next(this.#slow);
  }
}

/** Connections, and the searches that wait for one. */
class Lane {
  /** The most connections. */
  readonly most: number;
  readonly idle: SearchReader[] = [];
  readonly running = new Set<SearchReader>();
  /** By caller, in the order of their turns. */
  readonly #lines = new Map<string, Set<Job>>();

  constructor(most: number) {
    this.most = most;
  }

  /** How many searches wait, of one caller or of all. */
  waiting(caller?: string): number {
    if (caller !== undefined) return this.#lines.get(caller)?.size ?? 0;
    return [...this.#lines.values()].reduce((sum, { size }) => sum + size, 0);
  }

  add(job: Job): void {
    this.#lines.set(job.caller, (this.#lines.get(job.caller) ?? new Set()).add(job));
  }

  /** The next search; its caller goes to the end of the line. */
  take(): Job | null {
    for (const [caller, line] of this.#lines) {
      const [job = null] = line;
      this.#lines.delete(caller);
      if (job !== null && line.delete(job) && line.size > 0) this.#lines.set(caller, line);
      return job;
    }
    return null;
  }

  remove(job: Job): void {
    const line = this.#lines.get(job.caller);
    if (line?.delete(job) && line.size === 0) this.#lines.delete(job.caller);
  }
}

function tooMany(): Busy {
  return new Busy('too many searches are waiting; ask again soon');
}

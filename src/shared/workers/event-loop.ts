import type { Logger } from 'pino';

/** How often the delay is measured, in ms. */
const TICK = 20;
/** Longer delays are logged, in ms. */
export const DELAY_LOGGED = 200;
/** The minimum interval between log lines, in ms. The next line counts the skipped ones. */
const LOG_EVERY = 1_000;
/** Retention of the worst delays, in seconds. */
const KEPT = 60;
/** The most requests and jobs that a log line names. */
const NAMED_MAX = 20;

/** A request or a job, as log fields. */
type Work = Readonly<Record<string, string | number>>;

interface Running {
  work: Work;
  /** Its index among all that runs; -1 when it has ended. */
  index: number;
  /** When the work began, in ms of the monotonic clock. */
  since: number;
}

/** Measures the delay of an event loop, and logs which requests and jobs may have caused it. */
export class EventLoop {
  readonly #now: () => number;
  /** In no order. Not a Set, whose hash tables would outlive the requests (see test/api/heap.test.ts). */
  readonly #running: Running[] = [];
  /** Work that ended since the last tick and took longer than one tick, with its duration in ms. */
  #ended: { work: Work; ms: number }[] = [];
  /** The worst delay of each second, in ms, with that second. */
  readonly #worst = Array.from({ length: KEPT }, () => ({ second: Number.NEGATIVE_INFINITY, delay: 0 }));
  #tickedAt: number | null = null;
  #cpuAt = 0;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  /** `now` is the monotonic clock, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Records the start of a request or job. Returns a function that records its end. */
  began(work: Work): () => void {
    const running: Running = { work, index: this.#running.length, since: this.#now() };
    this.#running.push(running);
    return () => {
      if (!this.#remove(running)) return;
      // Work that blocked the loop took at least one tick; shorter work is dropped.
      const ms = this.#now() - running.since;
      if (ms > TICK && this.#ended.length < NAMED_MAX) this.#ended.push({ work, ms });
    };
  }

  /** Whether it was still among all that runs. */
  #remove(running: Running): boolean {
    const { index } = running;
    if (index === -1) return false;
    running.index = -1;
    const last = this.#running.pop();
    if (last === undefined || last === running) return true;
    this.#running[index] = last;
    last.index = index;
    return true;
  }

  /** The worst delay of the last minute, in whole ms; 0 when nothing is measured. */
  worst(): number {
    const now = this.#now();
    const second = Math.floor(now / 1_000);
    const late = this.#tickedAt === null ? 0 : now - this.#tickedAt - TICK;
    const kept = this.#worst.filter((bucket) => bucket.second > second - KEPT).map(({ delay }) => delay);
    return Math.round(Math.max(0, late, ...kept));
  }

  /**
   * Starts measuring, and logs each long delay with the work that ran. Returns a function that stops the measurement.
   */
  watch(logger: Pick<Logger, 'warn'>): () => void {
    this.#tickedAt = this.#now();
    this.#cpuAt = cpuMs();
    const timer = setInterval(() => this.tick(logger), TICK).unref();
    return () => {
      clearInterval(timer);
      this.#tickedAt = null;
    };
  }

  /** Measures the delay since the last tick. */
  tick(logger: Pick<Logger, 'warn'>): void {
    const now = this.#now();
    const cpu = cpuMs();
    const delay = Math.max(0, now - (this.#tickedAt ?? now) - TICK);
    this.#note(now, delay);
    if (delay > DELAY_LOGGED) this.#log(logger, now, { delay, cpu: cpu - this.#cpuAt });
    this.#ended = [];
    [this.#tickedAt, this.#cpuAt] = [now, cpu];
  }

  #note(now: number, delay: number): void {
    const second = Math.floor(now / 1_000);
    const bucket = this.#worst[second % KEPT];
    if (bucket === undefined) return;
    if (bucket.second !== second) Object.assign(bucket, { second, delay });
    else bucket.delay = Math.max(bucket.delay, delay);
  }

  #log(logger: Pick<Logger, 'warn'>, now: number, { delay, cpu }: { delay: number; cpu: number }): void {
    if (now - this.#loggedAt < LOG_EVERY) {
      this.#unlogged++;
      return;
    }
    // Work that just ended comes first, because the other work was most likely waiting for it.
    const ran = [...this.#ended, ...this.#running.map(({ work, since }) => ({ work, ms: now - since }))];
    logger.warn(
      {
        delay_ms: Math.round(delay),
        // If this is much lower than the delay, the machine was busy elsewhere or this thread waited for a disk.
        cpu_ms: Math.round(cpu),
        ran: ran.slice(0, NAMED_MAX).map(({ work, ms }) => ({ ...work, ms: Math.round(ms) })),
        running: ran.length,
        unlogged: this.#unlogged,
      },
      'the event loop was held up',
    );
    [this.#loggedAt, this.#unlogged] = [now, 0];
  }
}

/** The CPU time of this thread, in ms; before Node 23.9, that of all threads. */
function cpuMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)();
  return (user + system) / 1_000;
}

/** The event loop of this thread, shared by all services and jobs. */
export const eventLoop = new EventLoop();

import { availableParallelism } from 'node:os';
import { Busy, codeOf, Fault, messageOf } from '../fault.ts';
import type { SearchReader } from '../store/search-reader.ts';
import { INTERRUPTED } from '../store/search-reader.ts';
import type { Found, Question } from '../store/search-reads.ts';
import { Turns } from './turns.ts';

/** How long a question may take from its arrival to its answer, in ms. */
const WAIT_MAX = 900;
/** The most waiting questions: in total, per paper, and per caller of a paper. */
const WAITING_MAX = { all: 1_024, paper: 512, caller: 256 };
/** Leaves one core to other requests. */
const QUICK_READERS = Math.min(4, Math.max(1, availableParallelism() - 1));
/** How long a question may keep others waiting in the quick lane, in ms. Nearly all take less than one. */
const QUICK_MAX = 100;
/** How long one may be in the way of other callers in the slow lane, in ms. */
const SLOW_MAX = 300;
/** How often the times are looked at while there are questions, in ms. */
const TICK = 20;
/** From when on a late tick means that the server stood still, and not that it has much to do, in ms. */
const STANDSTILL = 200;
/** How long idle connections are kept, in ms. */
const IDLE = 60_000;

export interface Asker {
  /** Names the caller: callers take turns. */
  caller: string;
  /** Whether the question has neighbouring words to find. */
  isPhrase: boolean;
  /** When it arrived, by `performance.now()`; later by the time in which this thread stood still since. */
  since: number;
  /** Of which ids found the rows are wanted too. */
  wanted(ids: readonly string[]): string[];
}

interface Job {
  paper: string;
  caller: string;
  question: Question;
  asker: Asker;
  lane: Lane;
  isSettled: boolean;
  resolve(found: Found): void;
  reject(fault: unknown): void;
}

/** A connection, and what it is answering. */
interface Seat {
  reader: SearchReader;
  lane: Lane;
  job: Job | null;
  /** When it began to answer, by `performance.now()`. */
  began: number;
}

interface Lane {
  waiting: Turns<Job>;
  seats: Set<Seat>;
  /** The most connections. */
  most: number;
}

export interface SearchLimits {
  wait: number;
  waiting: { all: number; paper: number; caller: number };
  readers: number;
  quick: number;
  slow: number;
  idle: number;
}

/**
 * Connections that search the papers on libSQL's threads, so that no other request waits for a search. SQLite does not
 * tell what a question will cost: words are looked up in microseconds, but a phrase of common words may read the whole
 * index for a second. So there are two lanes. Phrases, and what kept the quick lane waiting too long, go through the
 * slow one, which has one connection, and there one begins anew when it has kept other callers waiting too long. In
 * both, papers take turns, and the callers of a paper. A question whose time is over is interrupted.
 */
export class SearchPool {
  readonly #open: () => SearchReader;
  readonly #limits: SearchLimits;
  readonly #quick: Lane;
  readonly #slow: Lane = newLane(1);
  /** All questions without an answer. */
  readonly #jobs = new Set<Job>();
  #ticking: NodeJS.Timeout | null = null;
  #tickedAt = 0;
  #idle: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** `open` opens a connection. */
  constructor(open: () => SearchReader, limits: Partial<SearchLimits> = {}) {
    this.#open = open;
    this.#limits = {
      wait: WAIT_MAX,
      waiting: WAITING_MAX,
      readers: QUICK_READERS,
      quick: QUICK_MAX,
      slow: SLOW_MAX,
      idle: IDLE,
      ...limits,
    };
    this.#quick = newLane(this.#limits.readers);
  }

  /**
   * Searches a state of the database that is not older than this call. Throws `unavailable` when too many questions
   * wait, when its time is over, or when no connection opens; the caller may then ask again.
   */
  async ask(question: Question, asker: Asker): Promise<Found> {
    const { paper } = question;
    const { caller, isPhrase, since } = asker;
    if (this.#isClosed || performance.now() >= since + this.#limits.wait || this.#isFull(paper, caller)) {
      throw tooMany();
    }
    return new Promise((resolve, reject) => {
      const lane = isPhrase ? this.#slow : this.#quick;
      const job: Job = { paper, caller, question, asker, lane, isSettled: false, resolve, reject };
      this.#jobs.add(job);
      this.#startTicking();
      lane.waiting.add(job);
      this.#next(lane);
    });
  }

  /** The connections, and the questions that wait for one or are being answered. */
  get load(): { threads: number; waiting: number; answering: number } {
    const seats = this.#seats();
    const answering = seats.filter(({ job }) => job !== null).length;
    return { threads: seats.length, waiting: this.#quick.waiting.size + this.#slow.waiting.size, answering };
  }

  /** Closes the connections. Questions without an answer get a fault. */
  close(): void {
    this.#isClosed = true;
    for (const job of this.#jobs) this.#refuse(job, tooMany());
    this.#tick();
    this.#closeIdle();
  }

  #isFull(paper: string, caller: string): boolean {
    const { all, paper: ofPaper, caller: ofCaller } = this.#limits.waiting;
    const waiting = (of: (lane: Lane) => number) => of(this.#quick) + of(this.#slow);
    return (
      waiting((lane) => lane.waiting.size) >= all ||
      waiting((lane) => lane.waiting.sizeOf(paper)) >= ofPaper ||
      waiting((lane) => lane.waiting.sizeOf(paper, caller)) >= ofCaller
    );
  }

  #seats(): Seat[] {
    return [...this.#quick.seats, ...this.#slow.seats];
  }

  /** Gives waiting questions to free connections, and opens another when all are busy. */
  #next(lane: Lane): void {
    while (lane.waiting.size > 0) {
      const seat = [...lane.seats].find(({ job }) => job === null) ?? this.#seatIn(lane);
      if (seat === null) return;
      const job = lane.waiting.take();
      if (job !== null) this.#answer(seat, job);
    }
  }

  /** Another connection; null when there are enough, or when none opens, which everybody is told who waits for one. */
  #seatIn(lane: Lane): Seat | null {
    if (lane.seats.size >= lane.most) return null;
    try {
      const seat: Seat = { reader: this.#open(), lane, job: null, began: 0 };
      lane.seats.add(seat);
      return seat;
    } catch (error) {
      if (lane.seats.size > 0) return null;
      for (const job of this.#jobs) if (job.lane === lane) this.#refuse(job, failed(messageOf(error)));
      return null;
    }
  }

  #answer(seat: Seat, job: Job): void {
    seat.job = job;
    seat.began = performance.now();
    seat.reader.found(job.question, job.asker.wanted).then(
      (found) => {
        this.#settle(job);
        job.resolve(found);
        this.#free(seat);
      },
      (error: unknown) => {
        const isInterrupted = codeOf(error) === INTERRUPTED;
        if (isInterrupted && !job.isSettled) this.#slowDown(job);
        else this.#refuse(job, error);
        this.#free(seat);
      },
    );
  }

  #free(seat: Seat): void {
    seat.job = null;
    if (this.#isClosed) this.#end(seat);
    else this.#next(seat.lane);
  }

  /** Has a question wait for the slow lane. It begins anew there. */
  #slowDown(job: Job): void {
    job.lane = this.#slow;
    this.#slow.waiting.add(job);
    this.#next(this.#slow);
  }

  #isInTheWay({ paper, caller }: Job, lane: Lane, took: number): boolean {
    if (lane === this.#quick) return took >= this.#limits.quick && lane.waiting.size > 0;
    return took >= this.#limits.slow && lane.waiting.size > lane.waiting.sizeOf(paper, caller);
  }

  #startTicking(): void {
    if (this.#ticking !== null) return;
    this.#tickedAt = performance.now();
    this.#ticking = setInterval(() => this.#tick(), TICK);
  }

  /**
   * Leaves the time out of account in which this thread stood still, such as for a slow disk: answers that came
   * meanwhile are read after this tick.
   */
  #forgiveStandstill(now: number): void {
    const late = now - this.#tickedAt - TICK;
    this.#tickedAt = now;
    if (late < STANDSTILL) return;
    // What came after it has waited for nothing of it.
    for (const { asker } of this.#jobs) asker.since = Math.min(now, asker.since + late);
    for (const seat of this.#seats()) seat.began = Math.min(now, seat.began + late);
  }

  /** Refuses the questions whose time is over, and interrupts what nobody waits for and what is in the way. */
  #tick(): void {
    const now = performance.now();
    this.#forgiveStandstill(now);
    for (const job of this.#jobs) if (now >= job.asker.since + this.#limits.wait) this.#refuse(job, tooMany());
    const busy = this.#seats().filter(({ job }) => job !== null);
    for (const { reader, lane, job, began } of busy) {
      // Interrupting what has not begun, or has just ended, has no effect: so again with the next tick.
      if (job?.isSettled || (job !== null && this.#isInTheWay(job, lane, now - began))) reader.interrupt();
    }
    if (this.#jobs.size > 0 || busy.length > 0 || this.#ticking === null) return;
    clearInterval(this.#ticking);
    this.#ticking = null;
    this.#idle ??= setTimeout(() => this.#closeIdle(), this.#limits.idle).unref();
    this.#idle.refresh();
  }

  #settle(job: Job): void {
    job.isSettled = true;
    this.#jobs.delete(job);
  }

  #refuse(job: Job, fault: unknown): void {
    job.lane.waiting.remove(job);
    this.#settle(job);
    job.reject(fault);
  }

  #closeIdle(): void {
    for (const seat of this.#seats()) if (seat.job === null) this.#end(seat);
  }

  #end(seat: Seat): void {
    seat.lane.seats.delete(seat);
    seat.reader.close();
  }
}

function newLane(most: number): Lane {
  return {
    waiting: new Turns(
      ({ paper }) => paper,
      ({ caller }) => caller,
    ),
    seats: new Set(),
    most,
  };
}

function tooMany(): Busy {
  return new Busy('too many searches are waiting; ask again soon');
}

function failed(why: string): Fault {
  return new Fault('unavailable', `the database could not be opened to search it: ${why}; ask again`);
}

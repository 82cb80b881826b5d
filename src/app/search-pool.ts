import { availableParallelism } from 'node:os';
import { Busy, codeOf, Fault, messageOf } from '../fault.ts';
import type { Asked, SearchReader } from '../store/search-reader.ts';
import { INTERRUPTED } from '../store/search-reader.ts';
import type { Found, Question } from '../store/search-reads.ts';
import { eventLoop } from './event-loop.ts';
import { Turns } from './turns.ts';

/** How long a question may take from its arrival to its answer, in ms. */
const WAIT_MAX = 900;
/** The most waiting questions: in total, per paper, and per caller of a paper. */
const WAITING_MAX = { all: 1_024, paper: 512, caller: 256 };
/** Two even on one or two cores, so that not everybody waits while one reads from the disk or has much to read. */
const QUICK_READERS = Math.min(4, Math.max(2, availableParallelism() - 1));
/** The most questions that a connection of the quick lane answers at once: more would save little. */
const BATCH_MAX = 8;
/** How long those of a batch should take together, in ms: after one that took longer, half as many are asked at once. */
const BATCH_TIME = 20;
/** How long questions may keep others waiting in the quick lane, in ms. Nearly all take less than one. */
const QUICK_MAX = 100;
/** How long one may be in the way of other callers in the slow lane, in ms. */
const SLOW_MAX = 300;
/** How many callers are answered in one turn of the event loop while nobody else asks for anything. */
const ANSWERS_A_TURN = 8;
/** How long others are thought to ask on after a request of theirs, in ms. */
const BESIDE = 20;
/** The most questions that a connection answers at once while others ask: some are given in the time that one takes. */
const BESIDE_BATCH = 2;
/** How long after an answer the next one is given while others ask, in ms: receiving and sending keeps them waiting. */
const PACE = 3;
/** How often the times are looked at while there are questions, in ms. */
const TICK = 20;
/** From when on a late tick means that the server stood still, and not that it has much to do, in ms. */
const STANDSTILL = 200;
/** How long idle connections are kept, in ms. */
const IDLE = 60_000;

export interface Asker extends Pick<Asked, 'wanted'> {
  /** Names the caller: callers take turns. */
  caller: string;
  /** Whether the question has neighbouring words to find. */
  isPhrase: boolean;
  /** When it arrived, by `performance.now()`; later by the time in which this thread stood still since. */
  since: number;
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
  jobs: readonly Job[];
  /** When it began to answer, by `performance.now()`. */
  began: number;
}

interface Lane {
  waiting: Turns<Job>;
  /** What has to be asked by itself, and before all that waits: one of a batch failed or kept others waiting. */
  alone: Turns<Job>;
  seats: Set<Seat>;
  /** How many questions a connection answers at once, and the most that it ever may. */
  batch: number;
  batchMax: number;
  /** The most connections. */
  most: number;
}

export interface SearchLimits {
  wait: number;
  waiting: { all: number; paper: number; caller: number };
  readers: number;
  batch: number;
  batchTime: number;
  quick: number;
  slow: number;
  pace: number;
  idle: number;
}

/**
 * Connections that search the papers on libSQL's threads, so that no other request waits for a search. SQLite does not
 * tell what a question will cost: words are looked up in microseconds, but a phrase of common words may read the whole
 * index for a second. So there are two lanes. In the quick one a connection answers some questions at once, because
 * giving one to another thread costs as much as its answer; if they keep others waiting too long, each is asked by
 * itself, and the one that does so again goes to the slow lane, as all phrases do. That one has one connection, and there
 * a question begins anew when it has kept other callers waiting too long. In both, papers take turns, and the callers of
 * a paper. A question whose time is over is interrupted. While other requests arrive, answers are given one at a time,
 * with pauses between, because sending one takes as long as another request.
 */
export class SearchPool {
  readonly #open: () => SearchReader;
  readonly #limits: SearchLimits;
  readonly #quick: Lane;
  readonly #slow: Lane = newLane(1, 1);
  /** All questions without an answer. */
  readonly #jobs = new Set<Job>();
  /** Resolves the promises of callers whose answers are there. */
  readonly #answers: (() => void)[] = [];
  /** When some were given last. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** The pause before the next. */
  #pacing: NodeJS.Timeout | undefined;
  /** How many requests other than searches have ended so far. */
  readonly #othersDone: () => number;
  /** The same by the last look, and when a look last found more than the one before. */
  #others = { done: 0, at: Number.NEGATIVE_INFINITY };
  #ticking: NodeJS.Timeout | null = null;
  #tickedAt = 0;
  #idle: NodeJS.Timeout | null = null;
  #isClosed = false;

  /** `open` opens a connection; `othersDone` tells how many requests other than searches have ended so far. */
  constructor(open: () => SearchReader, limits: Partial<SearchLimits> = {}, othersDone = () => eventLoop.urgentDone) {
    this.#open = open;
    this.#othersDone = othersDone;
    this.#limits = {
      wait: WAIT_MAX,
      waiting: WAITING_MAX,
      readers: QUICK_READERS,
      batch: BATCH_MAX,
      batchTime: BATCH_TIME,
      quick: QUICK_MAX,
      slow: SLOW_MAX,
      pace: PACE,
      idle: IDLE,
      ...limits,
    };
    this.#quick = newLane(this.#limits.readers, this.#limits.batch);
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
    const answering = seats.reduce((sum, { jobs }) => sum + jobs.length, 0);
    return { threads: seats.length, waiting: waitingIn(this.#quick) + waitingIn(this.#slow), answering };
  }

  /** Closes the connections. Questions without an answer get a fault. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#pacing);
    for (const answer of this.#answers.splice(0)) answer();
    for (const job of this.#jobs) this.#refuse(job, tooMany());
    this.#tick();
    this.#closeIdle();
  }

  #isFull(paper: string, caller: string): boolean {
    const { all, paper: ofPaper, caller: ofCaller } = this.#limits.waiting;
    const waiting = (...owner: string[]) => waitingIn(this.#quick, ...owner) + waitingIn(this.#slow, ...owner);
    return waiting() >= all || waiting(paper) >= ofPaper || waiting(paper, caller) >= ofCaller;
  }

  #seats(): Seat[] {
    return [...this.#quick.seats, ...this.#slow.seats];
  }

  /**
   * Gives waiting questions to free connections, and opens another when all are busy. Little is asked while answers wait
   * for their callers: questions wait before they are answered, not after it, when the paper may change and their time
   * is no longer looked at.
   */
  #next(lane: Lane): void {
    const isBeside = this.#isBesideOthers(performance.now());
    const batch = isBeside ? Math.min(lane.batch, BESIDE_BATCH) : lane.batch;
    while (waitingIn(lane) > 0 && this.#answers.length <= (isBeside ? 0 : this.#limits.batch)) {
      const seat = [...lane.seats].find(({ jobs }) => jobs.length === 0) ?? this.#seatIn(lane);
      if (seat === null) return;
      const jobs = nextIn(lane, batch);
      if (jobs.length > 0) this.#answer(seat, jobs);
    }
  }

  /** Another connection; null when there are enough, or when none opens, which everybody is told who waits for one. */
  #seatIn(lane: Lane): Seat | null {
    if (lane.seats.size >= lane.most) return null;
    try {
      const seat: Seat = { reader: this.#open(), lane, jobs: [], began: 0 };
      lane.seats.add(seat);
      return seat;
    } catch (error) {
      if (lane.seats.size > 0) return null;
      for (const job of this.#jobs) if (job.lane === lane) this.#refuse(job, failed(messageOf(error)));
      return null;
    }
  }

  #answer(seat: Seat, jobs: readonly Job[]): void {
    seat.jobs = jobs;
    seat.began = performance.now();
    const asked = jobs.map(({ question, asker }) => ({ question, wanted: asker.wanted }));
    seat.reader.found(asked).then(
      (found) => {
        for (const [at, answer] of found.entries()) {
          const job = jobs[at];
          if (job === undefined || job.isSettled) continue;
          this.#settle(job);
          this.#answerSoon(() => job.resolve(answer));
        }
        this.#free(seat);
      },
      (error: unknown) => {
        for (const job of jobs) if (!job.isSettled) this.#failed(job, error, jobs.length > 1);
        this.#free(seat);
      },
    );
  }

  /** Answers a caller after those before, and lets other requests have their turns between. */
  #answerSoon(answer: () => void): void {
    this.#answers.push(answer);
    if (this.#answers.length === 1) setImmediate(this.#answerNext);
  }

  readonly #answerNext = (): void => {
    const now = performance.now();
    const isBeside = this.#isBesideOthers(now);
    const pause = isBeside ? this.#answeredAt + this.#limits.pace - now : 0;
    if (pause > 0) {
      this.#pacing = setTimeout(this.#answerNext, pause);
      return;
    }
    this.#answeredAt = now;
    for (const answer of this.#answers.splice(0, isBeside ? 1 : ANSWERS_A_TURN)) answer();
    if (this.#answers.length > 0) setImmediate(this.#answerNext);
    for (const lane of [this.#quick, this.#slow]) this.#next(lane);
  };

  /** Whether a request other than a search has ended a moment ago. */
  #isBesideOthers(now: number): boolean {
    const done = this.#othersDone();
    if (done > this.#others.done) this.#others.at = now;
    this.#others.done = done;
    return now - this.#others.at < BESIDE;
  }

  #free(seat: Seat): void {
    const { lane, began } = seat;
    const isSlow = performance.now() - began > this.#limits.batchTime;
    lane.batch = isSlow ? Math.ceil(lane.batch / 2) : Math.min(lane.batch + 1, lane.batchMax);
    seat.jobs = [];
    if (this.#isClosed) this.#end(seat);
    else this.#next(lane);
  }

  /** What failed among others is asked by itself. A question that was interrupted begins anew in the slow lane. */
  #failed(job: Job, error: unknown, amongOthers: boolean): void {
    if (amongOthers) {
      job.lane.alone.add(job);
    } else if (codeOf(error) === INTERRUPTED) {
      job.lane = this.#slow;
      job.lane.waiting.add(job);
      this.#next(job.lane);
    } else {
      this.#refuse(job, error);
    }
  }

  #isInTheWay({ lane, jobs, began }: Seat, now: number): boolean {
    const [took, waiting] = [now - began, waitingIn(lane)];
    if (lane === this.#quick) return took >= this.#limits.quick && (waiting > 0 || jobs.length > 1);
    return took >= this.#limits.slow && jobs.some(({ paper, caller }) => waiting > waitingIn(lane, paper, caller));
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
    const busy = this.#seats().filter(({ jobs }) => jobs.length > 0);
    for (const seat of busy) {
      // Interrupting what has not begun, or has just ended, has no effect: so again with the next tick.
      if (seat.jobs.every(({ isSettled }) => isSettled) || this.#isInTheWay(seat, now)) seat.reader.interrupt();
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
    job.lane.alone.remove(job);
    this.#settle(job);
    job.reject(fault);
  }

  #closeIdle(): void {
    for (const seat of this.#seats()) if (seat.jobs.length === 0) this.#end(seat);
  }

  #end(seat: Seat): void {
    seat.lane.seats.delete(seat);
    seat.reader.close();
  }
}

function newLane(most: number, batchMax: number): Lane {
  const turns = () =>
    new Turns<Job>(
      ({ paper }) => paper,
      ({ caller }) => caller,
    );
  return { waiting: turns(), alone: turns(), seats: new Set(), batch: 1, batchMax, most };
}

/** How many questions wait in a lane; of a paper, or of a caller of a paper. */
function waitingIn({ waiting, alone }: Lane, ...owner: string[]): number {
  const [paper, ...caller] = owner;
  if (paper === undefined) return waiting.size + alone.size;
  return waiting.sizeOf(paper, ...caller) + alone.sizeOf(paper, ...caller);
}

/** Takes the questions that are next, so many at most. */
function nextIn({ waiting, alone }: Lane, batch: number): Job[] {
  const single = alone.take();
  if (single !== null) return [single];
  const jobs: Job[] = [];
  while (jobs.length < batch) {
    const job = waiting.take();
    if (job === null) break;
    jobs.push(job);
  }
  return jobs;
}

function tooMany(): Busy {
  return new Busy('too many searches are waiting; ask again soon');
}

function failed(why: string): Fault {
  return new Fault('unavailable', `the database could not be opened to search it: ${why}; ask again`);
}

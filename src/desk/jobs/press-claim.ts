import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, isLocked } from '../../shared/fault.ts';
import { isDead, PROCESS } from '../../shared/workers/process-name.ts';
import type { Manifest } from '../press/manifest.ts';

/** How long a claim lasts without renewal, in ms, and how often it is renewed. */
const CLAIM_MS = 30_000;
const RENEW_EVERY = CLAIM_MS / 6;
/** How often a waiting press tries again to claim the paper, in ms. */
const POLL = 50;

let claims = 0;
/** Claims of this process that ended while the database was locked, so that it still has them. */
const ended = new Set<string>();

type ClaimTable = Pick<Manifest, 'claim' | 'renew' | 'owner' | 'release'>;

/**
 * The right to press one paper, held by one press at a time across all processes. A timer renews the claim, and a press
 * checks it before every write: a press that was paused too long, by a suspended machine or a debugger, has lost its
 * claim.
 *
 * The table uses the wall clock, which all processes share. The press also uses the monotonic clock, and the claim ends
 * when either one expires: the wall clock may be set back, and the monotonic clock stops while the machine sleeps.
 */
export class PressClaim {
  /** Unique among the claims of all processes. */
  readonly token: string;
  readonly #table: ClaimTable;
  readonly #paper: string;
  readonly #deadline = new ClaimDeadline();
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;
  #signal: AbortSignal | undefined;

  private constructor(table: ClaimTable, paper: string, token: string) {
    this.#table = table;
    this.#paper = paper;
    this.token = token;
    this.#deadline.extend();
    this.#timer = setInterval(() => this.#renew(), RENEW_EVERY);
    this.#timer.unref();
  }

  /**
   * Waits for the holder of a paper's claim, unless it died on this machine. `signal` ends the wait, and later the
   * claim.
   */
  static async acquire(table: ClaimTable, paper: string, signal?: AbortSignal): Promise<PressClaim> {
    const token = `${PROCESS}:${claims++}`;
    for (;;) {
      if (signal?.aborted) throw stopped();
      if (table.claim(paper, token, Date.now(), CLAIM_MS)) break;
      const owner = table.owner(paper);
      if (owner !== null && (ended.has(owner) || isDead(owner))) {
        table.release(paper, owner);
        ended.delete(owner);
      } else await sleep(POLL);
    }
    const claim = new PressClaim(table, paper, token);
    signal?.addEventListener('abort', claim.#stop, { once: true });
    claim.#signal = signal;
    return claim;
  }

  /** The deadline that this press's workers check before each write (`ClaimDeadline`). */
  get shared(): SharedArrayBuffer {
    return this.#deadline.shared;
  }

  /** Throws `unavailable` when another press may hold the claim by now. Call it before each write. */
  assertHeld = (): void => {
    if (this.#deadline.isAhead()) return;
    if (this.#isStopped) throw stopped();
    if (!this.#renew()) throw lostClaim();
  };

  /**
   * Throws `unavailable` when the table has another claim. Call it in each transaction that records what was written.
   */
  assertOwner = (): void => {
    if (this.#table.owner(this.#paper) !== this.token) throw lostClaim();
  };

  release(): void {
    this.#signal?.removeEventListener('abort', this.#stop);
    this.#stop();
    try {
      this.#table.release(this.#paper, this.token);
    } catch (error) {
      if (!isLocked(error)) throw error;
      // The next press of this process takes it. For others it ends by itself.
      ended.add(this.token);
    }
  }

  readonly #stop = (): void => {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#deadline.end();
  };

  #renew(): boolean {
    if (this.#isStopped) return false;
    try {
      if (!this.#table.renew(this.#paper, this.token, Date.now(), CLAIM_MS)) {
        // Another press holds the claim: write nothing more, even before the deadline.
        this.#deadline.end();
        return false;
      }
    } catch {
      // The database is busy. The claim holds until its deadline, and the next call tries again.
      return this.#deadline.isAhead();
    }
    this.#deadline.extend();
    return true;
  }
}

/** When a claim ends, by both clocks, in memory shared by the threads of one press. */
export class ClaimDeadline {
  readonly shared: SharedArrayBuffer;
  readonly #until: BigInt64Array;

  constructor(shared = new SharedArrayBuffer(16)) {
    this.shared = shared;
    this.#until = new BigInt64Array(shared);
  }

  extend(): void {
    Atomics.store(this.#until, 0, BigInt(Date.now() + CLAIM_MS));
    Atomics.store(this.#until, 1, process.hrtime.bigint() / 1_000_000n + BigInt(CLAIM_MS));
  }

  end(): void {
    Atomics.store(this.#until, 0, 0n);
  }

  isAhead(): boolean {
    return (
      BigInt(Date.now()) < Atomics.load(this.#until, 0) &&
      process.hrtime.bigint() / 1_000_000n < Atomics.load(this.#until, 1)
    );
  }

  /** Throws `unavailable` after the deadline. A worker, which cannot renew the claim, calls it before each write. */
  assertHeld = (): void => {
    if (!this.isAhead()) throw lostClaim();
  };
}

function lostClaim(): Fault {
  return new Fault('unavailable', 'this press lost its claim after a pause; the next press finishes its work');
}

function stopped(): Fault {
  return new Fault('unavailable', 'the press was stopped; the next press finishes its work');
}

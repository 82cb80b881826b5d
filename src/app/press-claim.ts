import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, Fault } from '../fault.ts';
import type { Manifest } from '../press/manifest.ts';

/** How long a claim on a paper's press holds without renewal, in ms, and how often it is renewed. */
const CLAIM_MS = 30_000;
const RENEW_EVERY = CLAIM_MS / 6;
/** How often a press that waits for another one tries again, in ms. */
const POLL = 50;

/** Distinguishes this process from an earlier one of the same pid: in a container the pid is 1 each time. */
const PROCESS = `${machine()}:${process.pid}:${randomBytes(6).toString('hex')}`;
let claims = 0;

type ClaimTable = Pick<Manifest, 'claim' | 'renew' | 'owner' | 'release'>;

/**
 * The right to press one paper. One press holds it at a time, across all
 * processes. A timer renews it, and a press checks it before every write: one
 * that was paused for too long (a suspended machine, a debugger) has lost it.
 *
 * The table uses the wall clock, which all processes share. The press itself
 * uses whichever of the wall and the monotonic clock runs out first, because the
 * former may be set back and the latter stops while a machine sleeps.
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
   * Acquires a paper's claim, waiting for its holder unless that process is dead
   * on this machine. `signal` ends the wait, and later the claim.
   */
  static async acquire(table: ClaimTable, paper: string, signal?: AbortSignal): Promise<PressClaim> {
    const token = `${PROCESS}:${claims++}`;
    for (;;) {
      if (signal?.aborted) throw stopped();
      if (table.claim(paper, token, Date.now(), CLAIM_MS)) break;
      const owner = table.owner(paper);
      if (owner !== null && isDead(owner)) table.release(paper, owner);
      else await sleep(POLL);
    }
    const claim = new PressClaim(table, paper, token);
    signal?.addEventListener('abort', claim.#stop, { once: true });
    claim.#signal = signal;
    return claim;
  }

  /** What this press's workers check before they write (`ClaimDeadline`). */
  get shared(): SharedArrayBuffer {
    return this.#deadline.shared;
  }

  /** Throws `unavailable` when another press may hold the paper by now. Call it before each write. */
  assertHeld = (): void => {
    if (this.#deadline.isAhead()) return;
    if (this.#isStopped) throw stopped();
    if (!this.#renew()) throw lostClaim();
  };

  /** Throws `unavailable` unless the table has this claim. Call it in a transaction that records what was written. */
  assertOwner = (): void => {
    if (this.#table.owner(this.#paper) !== this.token) throw lostClaim();
  };

  release(): void {
    this.#signal?.removeEventListener('abort', this.#stop);
    this.#stop();
    this.#table.release(this.#paper, this.token);
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
        // Another press holds it: nothing more is written, even before the deadline.
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

/** When a claim ends, by both clocks, in memory that the threads of one press share. */
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

  /** The check of a worker, which cannot renew, before each write. */
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

/** Names the pid namespace: a container of the same hostname numbers its processes itself. */
function machine(): string {
  try {
    return `${hostname()}/${readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')}`;
  } catch {
    return hostname();
  }
}

function isDead(owner: string): boolean {
  const [host, pid] = owner.split(':');
  if (host !== machine()) return false;
  if (Number(pid) === process.pid) return !owner.startsWith(`${PROCESS}:`);
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, isLocked } from '../../shared/fault.ts';
import { isDead, PROCESS } from '../../shared/workers/process-name.ts';
import type { Manifest } from '../press/manifest.ts';

/** How long a lease lasts without renewal, in ms, and how often it is renewed. */
const LEASE_MS = 30_000;
const RENEW_EVERY = LEASE_MS / 6;
/** How often a waiting press tries again to take the lease, in ms. */
const POLL = 50;

let leases = 0;
/** Leases of this process that ended while the database was locked, so the table still lists them. */
const ended = new Set<string>();

type LeaseTable = Pick<Manifest, 'acquireLease' | 'renewLease' | 'leaseOwner' | 'releaseLease'>;

/** The end of a lease by both clocks, in memory shared by the threads of one press. */
export class LeaseDeadline {
  readonly shared: SharedArrayBuffer;
  readonly #until: BigInt64Array;

  constructor(shared = new SharedArrayBuffer(16)) {
    this.shared = shared;
    this.#until = new BigInt64Array(shared);
  }

  extend(): void {
    Atomics.store(this.#until, 0, BigInt(Date.now() + LEASE_MS));
    Atomics.store(this.#until, 1, process.hrtime.bigint() / 1_000_000n + BigInt(LEASE_MS));
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

  /** Throws `unavailable` after the deadline. A worker, which cannot renew the lease, calls it before each write. */
  assertHeld = (): void => {
    if (!this.isAhead()) throw lostLease();
  };
}

/**
 * The right to press one paper, held by one press at a time across all processes. A timer renews the lease, and a press
 * checks it before every write: a press that was paused too long, by a suspended machine or a debugger, has lost it.
 *
 * The table uses the wall clock, which all processes share. The press also uses the monotonic clock, and the lease ends
 * when either one expires: the wall clock may be set back, and the monotonic clock stops while the machine sleeps.
 */
export type PressLease = ReturnType<typeof heldLease>;

/**
 * Acquires the lease of a paper. Waits until its holder releases it, or takes it if that process died on this machine.
 * `signal` ends the wait, and later the lease.
 */
export async function acquirePressLease(table: LeaseTable, paper: string, signal?: AbortSignal): Promise<PressLease> {
  const token = `${PROCESS}:${leases++}`;
  for (;;) {
    if (signal?.aborted) throw stopped();
    if (table.acquireLease(paper, token, Date.now(), LEASE_MS)) return heldLease(table, paper, token, signal);
    const owner = table.leaseOwner(paper);
    if (owner !== null && (ended.has(owner) || isDead(owner))) {
      table.releaseLease(paper, owner);
      ended.delete(owner);
    } else await sleep(POLL);
  }
}

/** `token` is unique among the leases of all processes. */
function heldLease(table: LeaseTable, paper: string, token: string, signal: AbortSignal | undefined) {
  const deadline = new LeaseDeadline();
  deadline.extend();
  let isStopped = false;

  const renew = (): boolean => {
    if (isStopped) return false;
    try {
      // Another press may hold the lease: write nothing more, even before the deadline.
      if (table.renewLease(paper, token, Date.now(), LEASE_MS)) deadline.extend();
      else deadline.end();
    } catch {
      // The database is busy. The lease holds until its deadline, and the next call tries again.
    }
    return deadline.isAhead();
  };
  const timer = setInterval(renew, RENEW_EVERY);
  timer.unref();
  const stop = (): void => {
    isStopped = true;
    clearInterval(timer);
    deadline.end();
  };
  signal?.addEventListener('abort', stop, { once: true });

  return {
    token,
    /** Shared with this press's workers. */
    deadline,
    /** Throws `unavailable` when another press may hold the lease by now. Call it before each write. */
    assertHeld(): void {
      if (deadline.isAhead()) return;
      if (isStopped) throw stopped();
      if (!renew()) throw lostLease();
    },
    /** Throws `unavailable` when the table has another lease. Call it in each transaction that records what was written. */
    assertOwner(): void {
      if (table.leaseOwner(paper) !== token) throw lostLease();
    },
    release(): void {
      signal?.removeEventListener('abort', stop);
      stop();
      try {
        table.releaseLease(paper, token);
      } catch (error) {
        if (!isLocked(error)) throw error;
        // The next press of this process takes it over. For other processes it expires.
        ended.add(token);
      }
    },
  };
}

function lostLease(): Fault {
  return new Fault('unavailable', 'this press lost its lease after a pause; the next press finishes its work');
}

function stopped(): Fault {
  return new Fault('unavailable', 'the press was stopped; the next press finishes its work');
}

import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../fault.ts';
import type { Manifest } from '../press/manifest.ts';

/** For how long a claim on a paper's press holds without being renewed, in ms, and how often it is renewed. */
const CLAIM_MS = 30_000;
const RENEW_EVERY = CLAIM_MS / 6;
/** How often a press that waits for another looks again, in ms. */
const POLL = 50;

/** Tells this process from a former one that had its number, as in a container, where it is 1 each time. */
const PROCESS = `${machine()}:${process.pid}:${randomBytes(6).toString('hex')}`;
let claims = 0;

type ClaimTable = Pick<Manifest, 'claim' | 'renew' | 'owner' | 'release'>;

/**
 * The right to press one paper. One press at a time has it, whichever process
 * it runs in. It is renewed by a timer, and a press asks before every write: one
 * that stood still for too long (a suspended machine, a debugger) has lost it.
 *
 * The table is compared with the wall clock, which all processes share; the
 * press itself goes by whichever of wall and monotonic clock runs out first,
 * because the one may be set back and the other stops while a machine sleeps.
 */
export class PressClaim {
  /** Names this claim and no other, of this process or any. */
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
   * Takes a paper's press, waiting for whoever has it. A holder that is dead on
   * this machine does not count. `signal` ends the wait, and later the claim.
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

  /** What workers of this press look at before they write (`ClaimDeadline`). */
  get shared(): SharedArrayBuffer {
    return this.#deadline.shared;
  }

  /** Throws `unavailable` when another press may have the paper by now. To be called before each write. */
  assertHeld = (): void => {
    if (this.#deadline.isAhead()) return;
    if (this.#isStopped) throw stopped();
    if (!this.#renew()) throw lostClaim();
  };

  /** Throws `unavailable` unless the table says that the claim is held. To be called within a transaction that notes what was written. */
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
        // Somebody else has it: nothing more is written, whatever is left of the time.
        this.#deadline.end();
        return false;
      }
    } catch {
      // The database is busy. The claim still holds until its deadline, and the next call asks again.
      return this.#deadline.isAhead();
    }
    this.#deadline.extend();
    return true;
  }
}

/** Until when a claim holds, by both clocks, where the threads of one press see it. */
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

  /** What a worker asks before each write: it cannot renew. */
  assertHeld = (): void => {
    if (!this.isAhead()) throw lostClaim();
  };
}

function lostClaim(): Fault {
  return new Fault('unavailable', 'this press lost its claim after a pause; the next press finishes what it had not');
}

function stopped(): Fault {
  return new Fault('unavailable', 'the press was stopped; what it had not finished is pressed next time');
}

/** Where process numbers mean what they mean here: a container of the same host name counts its own. */
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
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

import { rmSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { DAY, HOUR, isoTime, MINUTE, SECOND } from '../../proof/time.ts';
import { CLI } from '../../shared/command-line.ts';
import { Busy } from '../../shared/fault.ts';
import { putFile } from '../../shared/files/durable-file.ts';
import { noteIn } from '../../shared/files/plain-file.ts';
import { plural } from '../../shared/plural.ts';
import type { Store } from '../../store/store.ts';

/** Decides whether a clock is wrong. Pure functions: all times come from the caller, in ms. */

/** How far a clock may be off before this process stops signing. */
export const TOLERANCE = 5 * MINUTE;
/** A correct clock is never earlier than the first version of this program. */
const FIRST = Date.UTC(2026, 0, 1);

/** The wall clock, and a monotonic clock that keeps running during suspend, read together. */
interface ClockReading {
  wall: number;
  steady: number;
}

/** The time according to another machine. */
export interface OutsideTime {
  /** The name of that machine, for display. */
  name: string;
  /** By how much the wall clock here was ahead of it, in ms; negative when it was behind. */
  ahead: number;
}

export interface ClockEvidence {
  now: ClockReading;
  /** The last time at which the clock was known to be right; null at the start. */
  trusted: ClockReading | null;
  /** The newest time signed or stored here, in ms; 0 before the first. */
  newest: number;
  outside: readonly OutsideTime[];
}

/** Why nothing is signed. `message` is a sentence without its full stop, ending with the cure. */
const ClockFault = z.object({ kind: z.enum(['too_early', 'jumped', 'behind', 'contradicted']), message: z.string() });
export type ClockFault = z.infer<typeof ClockFault>;

const SYNC = 'set it, and synchronize it with NTP';

/** What is wrong with a clock; null when there is no evidence of a fault. */
export function clockFault({ now, trusted, newest, outside }: ClockEvidence): ClockFault | null {
  const { wall } = now;
  const here = `the clock here says ${shown(wall)}`;
  if (!(wall >= FIRST))
    return { kind: 'too_early', message: `${here}, which is before this program was written: ${SYNC}` };
  if (newest - wall > TOLERANCE) {
    const cure = `set it right; if it is right, and ran ahead before, run \`${CLI} clock correct\``;
    return { kind: 'behind', message: `${here}, and the newest record is of ${shown(newest)}: ${cure}` };
  }
  const jump = trusted === null ? 0 : jumpBetween(trusted, now);
  if (Math.abs(jump) > TOLERANCE) {
    const way = jump > 0 ? 'ahead' : 'back';
    const message = `${here}, and was moved ${way} by ${spanText(jump)} meanwhile: set it right; if it is right now, restart the server`;
    return { kind: 'jumped', message };
  }
  const off = outside.filter(({ ahead }) => Math.abs(ahead) > TOLERANCE);
  const [first] = off;
  // A majority must disagree, so that one machine with a wrong clock cannot stop this one from signing.
  if (first === undefined || off.length * 2 <= outside.length) return null;
  const said = off.map(({ name, ahead }) => `${spanText(ahead)} ${ahead > 0 ? 'ahead of' : 'behind'} ${name}`);
  return { kind: 'contradicted', message: `${here}, ${said.join(', ')}: ${SYNC}` };
}

/** By how much the wall clock was moved ahead between two readings, in ms; negative when it was moved back. */
function jumpBetween(before: ClockReading, after: ClockReading): number {
  return after.wall - before.wall - (after.steady - before.steady);
}

/** A time as text, even if it is outside the range of ISO dates. */
function shown(at: number): string {
  return Math.abs(at) <= 8.64e15 ? isoTime(at) : String(at);
}

/** A span in the largest unit in which it is at least two: `365 days`, `20 minutes`. */
export function spanText(ms: number): string {
  const size = Math.abs(ms);
  if (size >= 2 * DAY) return plural(Math.round(size / DAY), 'day');
  if (size >= 2 * HOUR) return plural(Math.round(size / HOUR), 'hour');
  return size >= 2 * MINUTE ? plural(Math.round(size / MINUTE), 'minute') : plural(Math.round(size / SECOND), 'second');
}

/** Reports what is wrong with the clock; null when no fault is known. */
interface ClockCheck {
  fault(): ClockFault | null;
}

/** The time, and whether it may be used to date signatures. */
export interface Clock extends ClockCheck {
  /** The current time, in ms. */
  now(): number;
  /** The check in force. Commands and servers set it to their guard. */
  check: ClockCheck;
  /** Throws `unavailable`, with the cure, when the clock is wrong. */
  assertRight(): void;
}

/** For callers that bring their own clock, such as tests. */
export const UNCHECKED: ClockCheck = { fault: () => null };

export function clockOf(now: () => number): Clock {
  const clock: Clock = {
    now,
    check: UNCHECKED,
    fault: () => clock.check.fault(),
    assertRight() {
      const found = clock.fault();
      if (found !== null) throw new Busy(`nothing is signed: ${found.message}`);
    },
  };
  return clock;
}

/** The note by which a server informs commands on its machine that the clock is wrong. */
const NOTE = 'clock.wrong';
/** How long a note counts without being renewed, in ms: its server may have been killed. */
export const NOTE_LASTS = 30 * SECOND;

const Note = ClockFault.extend({ until: z.number() });

interface Parts {
  store: Pick<Store, 'database'>;
  settings: { dataDir: string };
  clock: { now(): number };
}

/** Guards the clock of a command or a server. */
export class ClockGuard implements ClockCheck {
  readonly #parts: Parts;
  readonly #steady: () => number;
  #trusted: ClockReading | null = null;
  #corrections = -1;
  /** Whether to check the database although the clock did not jump. */
  #looksAgain = false;
  #outside: readonly OutsideTime[] = [];
  /** When other machines were last asked. */
  #heardAt: ClockReading | null = null;
  /** A server writes the note and never reads its own. */
  #isTelling = false;

  /** `steady` is a monotonic clock in ms that keeps running during suspend. */
  constructor(parts: Parts, steady: () => number = () => uptime() * SECOND) {
    this.#parts = parts;
    this.#steady = steady;
  }

  fault(): ClockFault | null {
    const now = this.#read();
    const trusted = this.#trusted;
    const { store, settings } = this.#parts;
    const evidence = { now, trusted, outside: this.#outsideAt(now) };
    // While the clock is right, nothing newer than it gets signed. So the database is only checked after a sign of
    // trouble.
    if (!this.#looksAgain && trusted !== null && clockFault({ ...evidence, newest: 0 }) === null) return null;
    // Counted before the check: if another process makes a correction in between, the next call notices it.
    const corrections = store.database.clockCorrections();
    const found = clockFault({ ...evidence, newest: store.database.newestTime() });
    // An operator who corrected the ledger confirmed that the clock is right now.
    const isCorrected = this.#corrections !== -1 && corrections !== this.#corrections;
    this.#corrections = corrections;
    this.#looksAgain = found !== null;
    if (found?.kind === 'jumped' && isCorrected) {
      this.#trusted = null;
      return this.fault();
    }
    if (found !== null) return found;
    const reported = this.#isTelling ? null : faultNotedIn(settings.dataDir, now.steady);
    if (reported === null) this.#trusted = now;
    return reported;
  }

  /** Makes the next call check the database too: another process with another clock may have signed meanwhile. */
  lookAgain(): void {
    this.#looksAgain = true;
  }

  /**
   * Takes in the time of other machines. If most of them agree with a clock that jumped, the jump corrected it. Without
   * answers, the previous ones remain valid.
   */
  hear(outside: readonly OutsideTime[]): void {
    if (outside.length === 0) return;
    this.#outside = outside;
    this.#heardAt = this.#read();
    const agreeing = outside.filter(({ ahead }) => Math.abs(ahead) <= TOLERANCE);
    if (agreeing.length * 2 > outside.length) this.#trusted = null;
  }

  #read(): ClockReading {
    return { wall: this.#parts.clock.now(), steady: this.#steady() };
  }

  /** The other machines' answers, adjusted for jumps of this clock since then. */
  #outsideAt(now: ClockReading): OutsideTime[] {
    const moved = this.#heardAt === null ? 0 : jumpBetween(this.#heardAt, now);
    return this.#outside.map(({ name, ahead }) => ({ name, ahead: ahead + moved }));
  }

  /** Whether any other machine has answered. Shortly after boot, the network may not be up yet. */
  get hasHeard(): boolean {
    return this.#heardAt !== null;
  }

  /** Tells the commands on this machine about the fault, or, if null, that there is none. */
  tell(fault: ClockFault | null): void {
    this.#isTelling = true;
    const file = join(this.#parts.settings.dataDir, NOTE);
    if (fault === null) return rmSync(file, { force: true });
    const note = JSON.stringify({ ...fault, until: this.#steady() + NOTE_LASTS });
    putFile(file, (aside) => writeFileSync(aside, `${note}\n`));
  }
}

/**
 * The fault that a server on this machine reports; null without one. A note from before a reboot may be accepted once
 * more.
 */
function faultNotedIn(dataDir: string, steady: number): ClockFault | null {
  const note = noteIn(join(dataDir, NOTE), Note);
  if (note === null || note.until <= steady || note.until > steady + NOTE_LASTS) return null;
  return { kind: note.kind, message: note.message };
}

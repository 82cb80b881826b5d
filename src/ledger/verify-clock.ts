import type { ClockStatement } from './clock-note.ts';
import { parseClock } from './clock-note.ts';
import { keyOfNote } from './key-of-note.ts';
import type { VerifyingKey } from './keyring.ts';
import type { LogService } from './log/leaf.ts';
import type { Verify } from './note.ts';
import { parseNote } from './note.ts';
import { isSignedBy } from './verifier-key.ts';

/** What the corrections of a service or a paper say, and the faults of those that do not hold. */
export function checkClockNotes(
  notes: readonly string[],
  of: { service: LogService; paper: string | null },
  keys: readonly VerifyingKey[],
  verify: Verify,
): { statements: ClockStatement[]; faults: string[] } {
  const statements: ClockStatement[] = [];
  const faults: string[] = [];
  for (const [at, text] of notes.entries()) {
    const fault = (why: string) => faults.push(`clock[${at}]: ${why}`);
    const note = parseNote(text);
    const said = note === null ? null : parseClock(note.text);
    const key = note === null ? null : keyOfNote(keys, said?.kid, note);
    if (note === null || said === null) fault('it is not a clock/v1 note');
    else if (said.service !== of.service || said.paper !== of.paper) fault(`it is of ${said.paper ?? said.service}`);
    else if (key === null) fault(`no key with kid ${said.kid} is known`);
    else if (!isSignedBy(note, key, verify)) fault('the signature does not hold');
    else statements.push(said);
  }
  return { statements, faults };
}

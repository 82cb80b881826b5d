import { type ClockStatement, correctionsIn, parseClock, type TimeCorrection } from '../../../proof/clock-note.ts';
import { keyOfNote } from '../../../proof/key-text.ts';
import { parseNote } from '../../../proof/note.ts';
import { type ListedKey, signedBy } from './crypto.ts';

/** The corrections of the clock that a listed key has signed for a service or a paper, and the faults of others. */
export async function readClock(
  notes: readonly string[],
  of: Pick<ClockStatement, 'service' | 'paper'>,
  keys: ListedKey[],
): Promise<{ corrections: TimeCorrection[]; faults: string[] }> {
  const statements: ClockStatement[] = [];
  for (const text of notes) {
    const note = parseNote(text);
    const said = note === null ? null : parseClock(note.text);
    const key = note === null ? null : keyOfNote(keys, said?.kid, note);
    if (note === null || said === null || key === null) continue;
    if (said.service !== of.service || said.paper !== of.paper) continue;
    if (await signedBy(note, key)) statements.push(said);
  }
  const isWhole = statements.length === notes.length;
  const faults = isWhole ? [] : ['a correction of the clock is not signed by a key that is listed'];
  return { corrections: correctionsIn(statements), faults };
}

import type { keyLifeRow, keyLog } from '../key-life.ts';
import { isoTime } from '../time.ts';
import { say } from './run.ts';

/** What a list says of a key's life, after its name. */
export function lifeOf({
  state,
  expires_at,
  used_at,
}: Pick<ReturnType<typeof keyLifeRow>, 'state' | 'expires_at' | 'used_at'>): string {
  const used = used_at === null ? '' : `  last used ${used_at}`;
  if (state !== 'in_force') return `${used}  (${state})`;
  return `${used}${expires_at === null ? '' : `  until ${expires_at}`}`;
}

/** Until when a key that was just made lasts, for the line that says so. */
export function endOf(expires_at: number | null): string {
  return expires_at === null ? '' : `, until ${isoTime(expires_at)}`;
}

/** Prints the log of a key, a line for each thing that happened. */
export function sayLog(json: boolean | undefined, rows: ReturnType<typeof keyLog>): void {
  say(
    json,
    rows,
    rows.map(({ at, event, by }) => `${at.padEnd(24)}  ${event}${by === undefined ? '' : ` by ${by}`}`),
  );
}

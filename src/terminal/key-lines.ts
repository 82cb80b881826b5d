import type { keyLifeRow } from '../key-life.ts';
import { isoTime } from '../time.ts';

/** The end of a line about a key: when it was last used and when it expires. */
export function lifeOf({
  state,
  expires_at,
  used_at,
}: Pick<ReturnType<typeof keyLifeRow>, 'state' | 'expires_at' | 'used_at'>): string {
  const used = used_at === null ? '' : `  last used ${used_at}`;
  if (state !== 'in_force') return `${used}  (${state})`;
  return `${used}${expires_at === null ? '' : `  until ${expires_at}`}`;
}

/** When a new key expires, in words. */
export function endOf(expires_at: number | null): string {
  return expires_at === null ? '' : `, until ${isoTime(expires_at)}`;
}

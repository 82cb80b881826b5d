import type { Note } from './note.ts';

/**
 * The key with a kid under the name by which it signed a note. A key that signed under several names is listed once for
 * each. Null when no key has the kid. This module does not hash: a reader's browser also uses it.
 */
export function keyOfNote<Key extends { kid: string; name: string }>(
  keys: readonly Key[],
  kid: string | undefined,
  { signatures }: Pick<Note, 'signatures'>,
): Key | null {
  const own = keys.filter((key) => key.kid === kid);
  return own.find(({ name }) => signatures.some((line) => line.name === name)) ?? own[0] ?? null;
}

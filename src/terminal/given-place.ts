import { givenPath } from './given-path.ts';

/** Returns addresses and `-` unchanged, and resolves paths from the user's current folder. */
export function givenPlace(where: string): string {
  return /^(?:https?:\/\/|s3:)/i.test(where) || where === '-' ? where : givenPath(where);
}

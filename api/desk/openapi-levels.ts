import type { Level } from '../../src/desk/keys.ts';

const WORDS: Record<Level, string> = {
  read: 'Takes any key of the paper.',
  agent: 'Takes an admin key, or an agent’s once the paper has signed the agreement.',
  admin: 'Takes an admin key.',
};

/** The level of the key that an operation takes, in words; few viewers show the roles of a security requirement. */
export function levelWords(security: readonly Record<string, string[]>[]): string {
  const level = security[0]?.bearer?.[0] as Level | undefined;
  return level === undefined ? '' : WORDS[level];
}

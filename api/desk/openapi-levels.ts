import type { Level } from '../../src/desk/keys.ts';

const WORDS: Record<Level, string> = {
  read: 'Takes any key of the paper.',
  agent: 'Takes an admin key, or an agent’s once the paper has signed the agreement.',
  admin: 'Takes an admin key.',
};

/** The level of the key that an operation takes; undefined when it takes none. */
export function levelOf(security: readonly Record<string, string[]>[]): Level | undefined {
  return security[0]?.bearer?.[0] as Level | undefined;
}

/** The same in words; few viewers show the roles of a security requirement. */
export function levelWords(security: readonly Record<string, string[]>[]): string {
  const level = levelOf(security);
  return level === undefined ? '' : WORDS[level];
}

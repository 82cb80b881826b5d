import type { Level } from '../../src/desk/keys.ts';

const WORDS: Record<Level, string> = {
  read: 'Takes any key of the paper.',
  agent: 'Takes an admin key, or an agent’s once the paper has signed the agreement.',
  admin: 'Takes an admin key.',
};

/**
 * An operation's description with the level of the key that it takes: few
 * viewers show the roles of a security requirement.
 */
export function withLevel(security: readonly Record<string, string[]>[], description = ''): string {
  const level = security[0]?.bearer?.[0] as Level | undefined;
  return [level === undefined ? '' : WORDS[level], description].filter(Boolean).join(' ');
}

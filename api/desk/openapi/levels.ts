import type { Level } from '../../../src/desk/keys.ts';
import type { Operation } from '../../openapi/document.ts';
import type { Access } from '../route.ts';

const WORDS: Record<Level, string> = {
  read: 'Takes any key of the paper.',
  agent: 'Takes an admin key, or an agent’s once the paper has signed the agreement.',
  admin: 'Takes an admin key.',
};

/** The OpenAPI security requirements of an operation. The roles of a requirement name the key level. */
export function securityOf(access: Access): Record<string, string[]>[] {
  // Open to all callers. A key also reads its own desk, private papers included.
  if (access === 'public' || access === 'token') return [{}, { bearer: [] }, { header: [] }];
  return [{ bearer: [access] }, { header: [access] }];
}

/** The key level that an operation requires: the role in its first security requirement. */
export function levelOf({ security }: Operation): 'public' | Level {
  return (security?.[0]?.bearer?.[0] as Level | undefined) ?? 'public';
}

/** The same in words: few viewers show the roles of a security requirement. */
export function levelWords(operation: Operation): string {
  const level = levelOf(operation);
  return level === 'public' ? '' : WORDS[level];
}

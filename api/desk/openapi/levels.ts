import type { Level } from '../../../src/desk/keys.ts';
import type { Access } from '../routes.ts';
import { PAPER_ROUTES } from '../routes.ts';

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

/** The path of an operation, and its access level. */
export function routeOf(operationId: string): { path: string; access: Access } {
  const row = PAPER_ROUTES.find(([, , , name]) => name === operationId);
  if (row === undefined) throw new Error(`no route leads to ${operationId}`);
  return { path: row[1], access: row[2] };
}

/** The key level that an operation requires. */
export function levelOf(operationId: string): 'public' | Level {
  const { access } = routeOf(operationId);
  return access === 'token' ? 'public' : access;
}

/** The same in words: few viewers show the roles of a security requirement. */
export function levelWords(operationId: string): string {
  const level = levelOf(operationId);
  return level === 'public' ? '' : WORDS[level];
}

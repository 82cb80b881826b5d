import type { Problem } from '../fault.ts';

/** A broken rule of a field; `offset` is where in its text, in UTF-16 units. */
export function problem(field: string, rule: string, message: string, offset?: number): Problem {
  return { field, rule, message, ...(offset === undefined ? {} : { offset }) };
}

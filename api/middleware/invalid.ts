import type { ZodError } from 'zod';
import { Fault } from '../../src/fault.ts';
import { shapeProblems } from '../../src/ledger/filing.ts';

/** How many problems of a malformed request are told at once. */
const PROBLEMS_MAX = 100;

/** Throws `invalid_request` for what a route's schema does not take, with every problem in it. */
export function tellProblems(result: { success: true } | { success: false; error: ZodError }): undefined {
  if (result.success) return;
  // The hook is handed what came in too; its type forgets that.
  const problems = shapeProblems(result.error, (result as { data?: unknown }).data).slice(0, PROBLEMS_MAX);
  const [first] = problems;
  throw new Fault('invalid_request', `${first?.field}: ${first?.message}`, { field: first?.field, problems });
}

import type { ZodError } from 'zod';
import { Fault, listedProblems } from '../../src/fault.ts';
import { shapeProblems } from '../../src/ledger/shape.ts';

/** Throws `invalid_request` for what a route's schema does not take, with every problem in it. */
export function tellProblems(result: { success: true } | { success: false; error: ZodError }): undefined {
  if (result.success) return;
  // The hook is handed what came in too, and from where; its type forgets that.
  const { data, target } = result as { data?: unknown; target?: string };
  const problems = shapeProblems(result.error, data).map((problem) =>
    target === 'query' ? { ...problem, message: onceSaid(problem.field, data) ?? problem.message } : problem,
  );
  const [first] = problems;
  throw new Fault('invalid_request', `${first?.field}: ${first?.message}`, {
    field: first?.field,
    ...listedProblems(problems),
  });
}

/** A parameter that came more than once is a list, which no door takes. */
function onceSaid(field: string, query: unknown): string | null {
  const given = (query as Record<string, unknown>)[field];
  return Array.isArray(given)
    ? `${JSON.stringify(given).slice(0, 80)}: comes ${given.length} times; send it once`
    : null;
}

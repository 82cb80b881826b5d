import type { ZodError } from 'zod';
import { Fault, listedProblems } from '../../src/fault.ts';
import { shapeProblems } from '../../src/ledger/shape.ts';

/** What the library's hook is given: also what came in, and from where, which its own type does not say. */
type Validated = { target?: string; data?: unknown } & ({ success: true } | { success: false; error: ZodError });

/** Throws `invalid_request` for what a route's schema does not take, with every problem in it. */
export function rejectInvalid(result: Validated): undefined {
  if (result.success) return;
  const { data, target } = result;
  const problems = shapeProblems(result.error, data).map((problem) =>
    target === 'query' ? { ...problem, message: onceSaid(problem.field, data) ?? problem.message } : problem,
  );
  const [first] = problems;
  throw new Fault('invalid_request', `${first?.field}: ${first?.message}`, {
    field: first?.field,
    ...listedProblems(problems),
  });
}

/** A parameter that came more than once is a list, which no route takes. */
function onceSaid(field: string, query: unknown): string | null {
  const given =
    typeof query === 'object' && query !== null ? Object.entries(query).find(([name]) => name === field)?.[1] : null;
  return Array.isArray(given)
    ? `${JSON.stringify(given).slice(0, 80)}: comes ${given.length} times; send it once`
    : null;
}

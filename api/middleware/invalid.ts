import type { ZodError } from 'zod';
import type { Problem } from '../../src/fault.ts';
import { Fault, listedProblems } from '../../src/fault.ts';
import { shapeProblems } from '../../src/ledger/shape.ts';

/** The argument of the library's hook. Its own type omits the input and its location. */
export type Validated = { target?: string; data?: unknown } & ({ success: true } | { success: false; error: ZodError });

/** Throws `invalid_request` with every problem when the input does not match a route's schema. */
export function rejectInvalid(result: Validated): undefined {
  if (result.success) return;
  const { data, target } = result;
  throw invalid(
    shapeProblems(result.error, data).map((problem) =>
      target === 'query' ? { ...problem, message: onceSaid(problem.field, data) ?? problem.message } : problem,
    ),
  );
}

/** The fault for input with these problems, of which the first is of its shape. */
export function invalid(problems: Problem[]): Fault {
  const [first] = problems;
  return new Fault('invalid_request', `${first?.field}: ${first?.message}`, {
    field: first?.field,
    ...listedProblems(problems),
  });
}

/** A repeated query parameter arrives as an array, which no route accepts. */
function onceSaid(field: string, query: unknown): string | null {
  const given =
    typeof query === 'object' && query !== null ? Object.entries(query).find(([name]) => name === field)?.[1] : null;
  return Array.isArray(given)
    ? `${JSON.stringify(given).slice(0, 80)}: comes ${given.length} times; send it once`
    : null;
}

import { createMiddleware } from 'hono/factory';
import type { ZodError } from 'zod';
import { Fault, listedProblems } from '../../src/shared/fault.ts';
import { type Problem, shapeProblems } from '../../src/shared/shape.ts';

/** The argument of the library's hook. Its own type omits the input and its location. */
export type Validated = { target?: string; data?: unknown } & ({ success: true } | { success: false; error: ZodError });

/** Throws `invalid_request` with every problem when the input does not match a route's schema. */
export function rejectInvalid(result: Validated): undefined {
  if (result.success) return;
  const { data, target } = result;
  throw invalid(
    shapeProblems(result.error, data).map((problem) =>
      target === 'query' ? { ...problem, message: repeatedParameter(problem.field, data) ?? problem.message } : problem,
    ),
  );
}

/** The fault for input with these problems. Its message is about the first one. */
export function invalid(problems: Problem[]): Fault {
  const [first] = problems;
  return new Fault('invalid_request', `${first?.field}: ${first?.message}`, {
    field: first?.field,
    ...listedProblems(problems),
  });
}

/** A repeated query parameter arrives as an array, which no route accepts. */
function repeatedParameter(field: string, query: unknown): string | null {
  const given =
    typeof query === 'object' && query !== null ? Object.entries(query).find(([name]) => name === field)?.[1] : null;
  return Array.isArray(given)
    ? `${JSON.stringify(given).slice(0, 80)}: comes ${given.length} times; send it once`
    : null;
}

/** Throws `invalid_request` for a query that is not percent-encoded UTF-8: parsing would corrupt it. */
export const requireUtf8Query = createMiddleware((c, next) => {
  const { url } = c.req;
  const start = url.indexOf('?');
  if (start !== -1 && url.includes('%', start)) {
    for (const pair of url.slice(start + 1).split('&')) needDecodable(pair);
  }
  return next();
});

function needDecodable(pair: string): void {
  try {
    decodeURIComponent(pair);
  } catch {
    const [field = ''] = pair.split('=');
    throw new Fault(
      'invalid_request',
      `${JSON.stringify(pair.slice(0, 100))} in the query is not percent-encoded UTF-8; percent-encode it`,
      { field: field.slice(0, 100) },
    );
  }
}

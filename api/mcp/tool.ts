import type { z } from '@hono/zod-openapi';

/** A tool of the MCP server: one read of the data service, and how an agent is told of it. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: z.ZodObject;
  /** What the door answers, and so what the tool gives. */
  output: z.ZodType;
  /** The address of the door for these arguments, from the root of the service. */
  path(given: Record<string, unknown>): string;
}

/** Puts a tool together, so that `path` knows the types of its arguments. */
export function tool<I extends z.ZodObject>(
  told: Omit<Tool, 'input' | 'path'> & { input: I; path(given: z.output<I>): string },
): Tool {
  return told as unknown as Tool;
}

/** A path with those members of a query that are there. */
export function withQuery(path: string, query: Record<string, unknown>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

import type { z } from '@hono/zod-openapi';
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';

/** A tool of the MCP server: one read of the data API, and its description for agents. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: StandardSchemaWithJSON<unknown, Record<string, unknown>>;
  /** The schema of the route's response, and so of the tool's result. */
  output: StandardSchemaWithJSON;
  /** The path and query of the route for these arguments. */
  path(given: Record<string, unknown>): string;
}

/** A tool whose `path` knows the types of its arguments. */
export function tool<I extends z.ZodObject, O extends z.ZodType>(
  parts: Omit<Tool, 'input' | 'output' | 'path'> & { input: I; output: O; path(given: z.output<I>): string },
): Tool {
  const { input, output } = parts;
  return { ...parts, input: readOnce(input), output: readOnce(output) } as never;
}

/** A schema that converts to JSON Schema once: every message has its own server, which would convert it again. */
function readOnce(schema: StandardSchemaWithJSON): StandardSchemaWithJSON {
  const { jsonSchema, ...standard } = schema['~standard'];
  const once = (convert: typeof jsonSchema.input): typeof jsonSchema.input => {
    let made: Record<string, unknown> | undefined;
    return (options) => {
      made ??= convert(options);
      return made;
    };
  };
  return {
    '~standard': { ...standard, jsonSchema: { input: once(jsonSchema.input), output: once(jsonSchema.output) } },
  };
}

/** A path with the defined members of a query. */
export function withQuery(path: string, query: Record<string, unknown>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

import type { z } from '@hono/zod-openapi';
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';

/** A tool of the MCP server: one read of the data service, and how an agent is told of it. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  input: StandardSchemaWithJSON<unknown, Record<string, unknown>>;
  /** What the door answers, and so what the tool gives. */
  output: StandardSchemaWithJSON;
  /** The address of the door for these arguments, from the root of the service. */
  path(given: Record<string, unknown>): string;
}

/** Puts a tool together, so that `path` knows the types of its arguments. */
export function tool<I extends z.ZodObject, O extends z.ZodType>(
  told: Omit<Tool, 'input' | 'output' | 'path'> & { input: I; output: O; path(given: z.output<I>): string },
): Tool {
  const { input, output } = told;
  return { ...told, input: readOnce(input), output: readOnce(output) } as unknown as Tool;
}

/** A schema whose JSON Schema is made once: each message has a server of its own, which asks for it again. */
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

/** A path with those members of a query that are there. */
export function withQuery(path: string, query: Record<string, unknown>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

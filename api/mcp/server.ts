import {
  type CallToolResult,
  createMcpHandler,
  type Implementation,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
  type StandardSchemaWithJSON,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { Context } from 'hono';
import type { Logger } from 'pino';
import { caught, Fault } from '../../src/shared/fault.ts';
import { parseJson } from '../middleware/json-body.ts';

/** A tool as agents see it. */
export interface ToolText {
  name: string;
  title: string;
  description: string;
  input: StandardSchemaWithJSON<unknown, Record<string, unknown>>;
  /** The schema of the route's response, and so of the tool's result. */
  output: StandardSchemaWithJSON;
  annotations: ToolAnnotations;
}

/** The members of a call’s `_meta`. */
export type Meta = Record<string, unknown> | undefined;

/** The tools and texts for the caller of one request. */
export interface Offer<T extends ToolText> {
  identity: Implementation;
  /** What an agent needs to use the tools well without reading another page. */
  instructions: string;
  tools: readonly T[];
  call(tool: T, given: Record<string, unknown>, meta: Meta): Promise<CallToolResult>;
}

/** The parts of a server whose address begins with `origin`. */
export interface Serving<C extends Context, T extends ToolText> {
  origin: string;
  logger: Logger;
  offer(c: C): Offer<T>;
  /** Answers a message in place of the protocol’s library, or returns null. It may throw a fault. */
  before?(c: C, message: unknown): Response | null;
}

/** Answers one message. */
export type McpHandler<C extends Context> = (c: C) => Promise<Response>;

export function mcpHandler<C extends Context, T extends ToolText>({
  origin,
  logger,
  offer,
  before = () => null,
}: Serving<C, T>): McpHandler<C> {
  const contexts = new WeakMap<Request, C>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const c = requestInfo && contexts.get(requestInfo);
      if (c === undefined) throw new Error('an MCP message has no request');
      return mcpServer(offer(c));
    },
    {
      // The tools of a caller never change, so there is nothing to subscribe to.
      maxSubscriptions: 0,
      onerror: (error) => logger.debug({ err: error }, 'an MCP message was rejected'),
    },
  );
  const isLocal = localhostAllowedOrigins().includes(new URL(origin).hostname);
  return async (c) => {
    // DNS rebinding: a page elsewhere may reach a server on its reader's machine under a name of its own.
    const rejection = isLocal ? originValidationResponse(c.req.raw, localhostAllowedOrigins()) : undefined;
    if (rejection !== undefined) return rejection;
    const parsedBody = readMessage(new Uint8Array(await c.req.arrayBuffer()));
    if (parsedBody instanceof Response) return parsedBody;
    const answered = before(c, parsedBody);
    if (answered !== null) return answered;
    contexts.set(c.req.raw, c);
    return handler.fetch(c.req.raw, { parsedBody });
  };
}

/** One message, or the response that rejects it. Protocol 2025-06-18 removed batches. */
function readMessage(bytes: Uint8Array): unknown {
  // U+0000 is accepted here: a tool's arguments become the body of its route, whose own rules reject it by field.
  const message = caught(Fault, () => parseJson(bytes, { judgesZeros: true }));
  if (message instanceof Fault) return refusal(-32700, message.message);
  return Array.isArray(message) ? refusal(-32600, 'batches are not supported; send one message per request') : message;
}

/** A JSON-RPC 2.0 error (section 5.1) for a message without an id. */
function refusal(code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status: 400 });
}

/** The server of one request; it keeps no state between requests. */
function mcpServer<T extends ToolText>({ identity, instructions, tools, call }: Offer<T>) {
  const server = new McpServer(identity, { instructions, capabilities: { tools: { listChanged: false } } });
  for (const tool of tools) {
    const { name, title, description, input, output, annotations } = tool;
    server.registerTool(
      name,
      { title, description, inputSchema: input, outputSchema: output, annotations: { title, ...annotations } },
      (given, { mcpReq }) => call(tool, given, mcpReq._meta),
    );
  }
  return server;
}

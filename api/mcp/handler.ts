import { createMcpHandler, localhostAllowedOrigins, originValidationResponse } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { Fault } from '../../src/fault.ts';
import { parseJson } from '../middleware/json-body.ts';
import type { RecordsContext } from '../records/route.ts';
import type { Ask } from './call.ts';
import { instructionsAt } from './instructions.ts';
import type { Identity } from './server.ts';
import { mcpServer } from './server.ts';

/** Answers one message. */
export type McpHandler = (c: RecordsContext) => Promise<Response>;

interface HandlerParts {
  dataOrigin: string;
  identity: Identity;
  logger: Logger;
  ask: Ask;
}

export function mcpHandler({ dataOrigin, identity, logger, ask }: HandlerParts): McpHandler {
  const instructions = instructionsAt(dataOrigin);
  const contexts = new WeakMap<Request, RecordsContext>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const c = requestInfo && contexts.get(requestInfo);
      if (c === undefined) throw new Error('an MCP message has no request');
      return mcpServer(identity, instructions, { c, ask });
    },
    {
      // The tools never change, so there is nothing to subscribe to.
      maxSubscriptions: 0,
      onerror: (error) => logger.debug({ err: error }, 'an MCP message was rejected'),
    },
  );
  const isLocal = localhostAllowedOrigins().includes(new URL(dataOrigin).hostname);
  return async (c) => {
    // DNS rebinding: a page elsewhere may reach a server on its reader's machine under a name of its own.
    const rejection = isLocal ? originValidationResponse(c.req.raw, localhostAllowedOrigins()) : undefined;
    if (rejection !== undefined) return rejection;
    const parsedBody = readMessage(new Uint8Array(await c.req.arrayBuffer()));
    if (parsedBody instanceof Response) return parsedBody;
    contexts.set(c.req.raw, c);
    return handler.fetch(c.req.raw, { parsedBody });
  };
}

/** One message, or the response that rejects it. Protocol 2025-06-18 removed batches. */
function readMessage(bytes: Uint8Array): unknown {
  try {
    const message = parseJson(bytes);
    return Array.isArray(message)
      ? refusal(-32600, 'batches are not supported; send one message per request')
      : message;
  } catch (error) {
    if (error instanceof Fault) return refusal(-32700, error.message);
    throw error;
  }
}

/** A JSON-RPC 2.0 error (section 5.1) for a message without an id. */
function refusal(code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status: 400 });
}

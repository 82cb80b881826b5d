import { createMcpHandler, localhostAllowedOrigins, originValidationResponse } from '@modelcontextprotocol/server';
import { bodyLimit } from 'hono/body-limit';
import type { Logger } from 'pino';
import type { Settings } from '../../src/env.ts';
import { Fault } from '../../src/fault.ts';
import { VERSION } from '../../src/project.ts';
import { parseJson } from '../middleware/json-body.ts';
import type { RecordsContext } from '../records/context.ts';
import { sendPublic } from '../records/send.ts';
import { representationOf } from '../responses/response-cache.ts';
import type { Ask } from './call.ts';
import { CARD_TYPE, cardAt } from './card.ts';
import { instructionsAt } from './instructions.ts';
import type { Identity } from './server.ts';
import { mcpServer } from './server.ts';

/** The largest message, in bytes. A payment and the arguments of a tool take a few kB. */
const MESSAGE_MAX = 64 * 1024;

const limited = bodyLimit({
  maxSize: MESSAGE_MAX,
  onError: () => {
    throw new Fault('too_large', `the message is larger than ${MESSAGE_MAX} bytes (64 KiB); send less`);
  },
});

/**
 * The MCP server at /mcp: streamable HTTP, stateless, for clients of protocol 2026-07-28 and earlier. A bad key is
 * rejected here with 401; every other access decision is made by the route that a tool calls.
 */
export function mcpEndpoint({ dataOrigin }: Pick<Settings, 'dataOrigin'>, logger: Logger, ask: Ask) {
  const identity: Identity = {
    name: 'broadsheet-domain-records',
    title: 'Domain records',
    version: VERSION,
    websiteUrl: `${dataOrigin}/docs`,
  };
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
  const card = representationOf(JSON.stringify(cardAt(dataOrigin, identity)));
  const cardAs = (type: string) => (c: RecordsContext) => sendPublic(c, card, { 'Content-Type': type });

  return {
    message: {
      before: [limited],
      handle: async (c: RecordsContext) => {
        // DNS rebinding: a page elsewhere may reach a server on its reader's machine under a name of its own.
        const rejection = isLocal ? originValidationResponse(c.req.raw, localhostAllowedOrigins()) : undefined;
        if (rejection !== undefined) return rejection;
        const parsedBody = readMessage(new Uint8Array(await c.req.arrayBuffer()));
        if (parsedBody instanceof Response) return parsedBody;
        contexts.set(c.req.raw, c);
        return handler.fetch(c.req.raw, { parsedBody });
      },
    },
    /** Served at the path that the extension reserves, and at the path that older clients read. */
    card: cardAs(CARD_TYPE),
    cardAsJson: cardAs('application/json'),
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

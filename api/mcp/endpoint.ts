import { createMcpHandler, localhostAllowedOrigins, originValidationResponse } from '@modelcontextprotocol/server';
import { bodyLimit } from 'hono/body-limit';
import { Fault } from '../../src/fault.ts';
import { VERSION } from '../../src/project.ts';
import { parseJson } from '../middleware/json-body.ts';
import { sendPublic } from '../records/answers.ts';
import type { RecordsContext, RecordsDoors } from '../records/route.ts';
import type { Ask } from './call.ts';
import { CARD_TYPE, cardAt } from './card.ts';
import { instructionsAt } from './instructions.ts';
import type { Identity } from './server.ts';
import { mcpServer } from './server.ts';

/** The largest message, in bytes: a payment and the arguments of a tool are a few kB. */
const MESSAGE_MAX = 64 * 1024;

const limited = bodyLimit({
  maxSize: MESSAGE_MAX,
  onError: () => {
    throw new Fault('too_large', `the message is larger than ${MESSAGE_MAX} bytes (64 KiB); send less`);
  },
});

/**
 * The MCP server at /mcp: streamable HTTP, stateless, for clients of the
 * protocol of 2026-07-28 and of those before it. A bad key is refused here with
 * 401; everything else about access is decided by the door that a tool asks.
 */
export function mcpDoor({ router, enter, app, logger }: RecordsDoors, ask: Ask): void {
  const { dataOrigin } = app.settings;
  const identity: Identity = {
    name: 'broadsheet-domain-records',
    title: 'Domain records',
    version: VERSION,
    websiteUrl: `${dataOrigin}/docs`,
  };
  const instructions = instructionsAt(dataOrigin);
  const callers = new WeakMap<Request, RecordsContext>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const c = requestInfo && callers.get(requestInfo);
      if (c === undefined) throw new Error('a message came without its request');
      return mcpServer(identity, instructions, { c, ask });
    },
    {
      // There is nothing to subscribe to: the tools stay as they are.
      maxSubscriptions: 0,
      onerror: (error) => logger.debug({ err: error }, 'an MCP message was refused'),
    },
  );
  const isLocal = localhostAllowedOrigins().includes(new URL(dataOrigin).hostname);

  router.post('/mcp', enter('public'), limited, async (c) => {
    // A page elsewhere may reach a server on its reader's own machine by a name of its own (DNS rebinding).
    const stranger = isLocal ? originValidationResponse(c.req.raw, localhostAllowedOrigins()) : undefined;
    if (stranger !== undefined) return stranger;
    const parsedBody = messageIn(new Uint8Array(await c.req.arrayBuffer()));
    if (parsedBody instanceof Response) return parsedBody;
    callers.set(c.req.raw, c);
    return handler.fetch(c.req.raw, { parsedBody });
  });

  const card = JSON.stringify(cardAt(dataOrigin, identity));
  // Where the extension reserves a place for it, and where clients looked before there was one.
  for (const path of ['/mcp/server-card', '/.well-known/mcp/server-card.json']) {
    router.get(path, enter('public'), (c) => {
      const answer = sendPublic(c, card);
      answer.headers.set('Content-Type', path.endsWith('.json') ? 'application/json' : CARD_TYPE);
      return answer;
    });
  }
}

/** One message, or the answer that refuses what is none. Batches ended with the protocol of 2025-06-18. */
function messageIn(bytes: Uint8Array): unknown {
  try {
    const message = parseJson(bytes);
    return Array.isArray(message) ? refusal(-32600, 'batches are not taken; send one message a request') : message;
  } catch (error) {
    if (error instanceof Fault) return refusal(-32700, error.message);
    throw error;
  }
}

/** An error of JSON-RPC 2.0 (section 5.1) to a message without an id. */
function refusal(code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status: 400 });
}

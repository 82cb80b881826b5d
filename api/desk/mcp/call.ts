import { ServerResponse } from 'node:http';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { caught, Fault } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { type Ask, actingAs } from '../../middleware/acting.ts';
import type { DeskTool } from './tools.ts';

/** The path of the endpoint below a paper's root. */
export const MCP_PATH = '/mcp';

/** Response headers that a result repeats in `_meta`. */
const REPEATED = ['retry-after', 'x-request-id'];

/** Calls a tool: one request to its route, with the caller's key, so that access, rules and records are the route's. */
export async function callTool(
  tool: DeskTool,
  given: Record<string, unknown>,
  { c, ask }: { c: PaperContext; ask: Ask },
): Promise<CallToolResult> {
  const asked = caught(Fault, () => tool.request(given));
  if (asked instanceof Fault) return refused({ error: asked.code, message: asked.message, ...asked.details });
  const { method, path } = asked;
  const isBytes = Buffer.isBuffer(asked.body);
  const body =
    asked.body === undefined || Buffer.isBuffer(asked.body) ? asked.body : Buffer.from(JSON.stringify(asked.body));
  const headers = new Headers({ Accept: 'application/json', 'X-Request-Id': c.get('requestId') });
  for (const name of ['Authorization', 'X-NRF-Key']) {
    const value = c.req.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  if (body !== undefined) {
    headers.set('Content-Length', String(body.length));
    if (!isBytes) headers.set('Content-Type', 'application/json');
  }
  // Rejects values that headers cannot hold, and names the header.
  const set = caught(TypeError, () =>
    Object.entries(asked.headers ?? {}).map(([name, value]) => headers.set(name, value)),
  );
  if (set instanceof TypeError) {
    const message = 'media_type, path and idempotency_key must be printable ASCII; correct the one that is not';
    return refused({ error: 'invalid_request', message });
  }
  const url = new URL(c.req.url);
  // The root as the caller reaches it, with the paper's slug or on its own domain.
  const root = url.pathname.slice(0, -MCP_PATH.length);
  const request = new Request(new URL(`${root}${path}`, url), {
    method,
    headers,
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  });
  // Handlers may set headers on Node's response: one of its own keeps them off that of the MCP request.
  const env = { ...c.env, outgoing: new ServerResponse(c.env.incoming) };
  const response = await ask(request, actingAs(env, { way: 'mcp' }));
  const answer = await response.json();
  const _meta = Object.fromEntries(
    REPEATED.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
  const shown = response.ok ? (tool.shown?.(answer) ?? answer) : answer;
  return { ...(response.ok ? resultOf(shown) : refused(shown)), _meta };
}

/** The text is the same as the structured content, for clients that read text. */
function resultOf(body: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body };
}

/** A refusal has its problems as structured content, as the schema of each tool allows. */
const refused = (body: Record<string, unknown>): CallToolResult => ({ isError: true, ...resultOf(body) });

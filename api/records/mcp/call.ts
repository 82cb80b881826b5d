import { ServerResponse } from 'node:http';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { membersIn } from '../../../src/proof/narrow.ts';
import type { Meta } from '../../mcp/server.ts';
import type { Ask } from '../../middleware/acting.ts';
import type { RecordsContext } from '../route.ts';
import type { Tool } from './tools.ts';

/** The member of `_meta` that holds an x402 payment. */
const PAYMENT = 'x402/payment';

/** Calls a tool: one request to its route, so that lane, meter, payment and errors are those of the route. */
export async function callTool(
  { path }: Tool,
  given: Record<string, unknown>,
  { c, ask, meta }: { c: RecordsContext; ask: Ask; meta: Meta },
): Promise<CallToolResult> {
  const headers = new Headers({ Accept: 'application/json', 'X-Request-Id': c.get('requestId') });
  for (const name of ['X-Service-Key', 'Authorization']) {
    const value = c.req.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  const payment = meta?.[PAYMENT];
  if (payment !== undefined) {
    const header = paymentHeader(payment);
    if (header === null) return invalid(`_meta["${PAYMENT}"] must be an x402 payment payload, as an object`);
    headers.set(...header);
  }
  // Lanes set headers on Node's response. A response of its own keeps them off that of the MCP request.
  const outgoing = new ServerResponse(c.env.incoming);
  const response = await ask(new Request(new URL(path(given), c.req.url), { headers }), { ...c.env, outgoing });
  const set = Object.entries(outgoing.getHeaders()).map(([name, value]): [string, string] => [name, String(value)]);
  const text = await response.text();
  const result: CallToolResult = {
    content: [{ type: 'text', text }],
    _meta: metaOf([...set, ...response.headers]),
  };
  // Errors are text only: clients validate structured content by the tool's schema.
  return response.status >= 300 ? { isError: true, ...result } : { ...result, structuredContent: JSON.parse(text) };
}

/** The header for a payment, by its x402 version; null for an invalid payload. */
function paymentHeader(payment: unknown): [name: string, value: string] | null {
  if (typeof payment !== 'object' || payment === null || Array.isArray(payment)) return null;
  const isSecond = membersIn(payment).x402Version === 2;
  const value = Buffer.from(JSON.stringify(payment)).toString('base64');
  return [isSecond ? 'PAYMENT-SIGNATURE' : 'X-PAYMENT', value];
}

function invalid(message: string): CallToolResult {
  const text = JSON.stringify({ error: 'invalid_request', message, field: PAYMENT });
  return { isError: true, content: [{ type: 'text', text }] };
}

/** Response headers that say how much is left, and when to retry. */
const METER = /^(?:x-service-|x-ratelimit-|ratelimit|retry-after$|x-request-id$)/;
/** The base64 headers of x402: payment receipts of both versions, and the offer of version 2. */
const X402: Record<string, string> = {
  'x-payment-response': 'x402/payment-response',
  'payment-response': 'x402/payment-response',
  'payment-required': 'x402/payment-required',
};

/** The metadata in a response's headers: the caller's meter, and the outcome of a payment. */
function metaOf(headers: [string, string][]): Record<string, unknown> {
  const lowerCase = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const meter = Object.fromEntries(lowerCase.filter(([name]) => METER.test(name)));
  const paid = lowerCase.flatMap(([name, value]) => {
    const key = X402[name];
    return key === undefined ? [] : [[key, JSON.parse(Buffer.from(value, 'base64').toString())]];
  });
  return { 'records/meter': meter, ...Object.fromEntries(paid) };
}

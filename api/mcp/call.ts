import { ServerResponse } from 'node:http';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { RecordsContext } from '../records/route.ts';
import { resultOf } from './answer.ts';
import type { Tool } from './tool.ts';

/** Puts a request to the whole service, as if it had come in by the network. */
export type Ask = (request: Request, env: RecordsContext['env']) => Response | Promise<Response>;

/** Where an x402 payment stands among what a caller sends beside the arguments. */
const PAYMENT = 'x402/payment';

/**
 * Calls a tool: one request to the door that it stands for, on behalf of the
 * caller, so that lane, meter, payment and refusals are the door's own.
 */
export async function callTool(
  { path }: Tool,
  given: Record<string, unknown>,
  { c, ask, meta }: { c: RecordsContext; ask: Ask; meta: Record<string, unknown> | undefined },
): Promise<CallToolResult> {
  const headers = new Headers({ Accept: 'application/json', 'X-Request-Id': c.get('requestId') });
  const key = c.req.header('x-service-key');
  if (key !== undefined) headers.set('X-Service-Key', key);
  const payment = meta?.[PAYMENT];
  if (payment !== undefined) {
    const carried = paymentHeader(payment);
    if (carried === null) return refusal(`_meta["${PAYMENT}"] must be an x402 payment payload, as an object`);
    headers.set(...carried);
  }
  // What the door sets on Node's own response is read here, and does not reach that of the MCP request.
  const outgoing = new ServerResponse(c.env.incoming);
  const response = await ask(new Request(new URL(path(given), c.req.url), { headers }), { ...c.env, outgoing });
  const set = Object.entries(outgoing.getHeaders()).map(([name, value]): [string, string] => [name, String(value)]);
  return resultOf(response.status, await response.text(), [...set, ...response.headers]);
}

/** The header that a payment goes into: version 2 has one of its own. Null for what is no payload. */
function paymentHeader(payment: unknown): [name: string, value: string] | null {
  if (typeof payment !== 'object' || payment === null || Array.isArray(payment)) return null;
  const isSecond = (payment as { x402Version?: unknown }).x402Version === 2;
  const value = Buffer.from(JSON.stringify(payment)).toString('base64');
  return [isSecond ? 'PAYMENT-SIGNATURE' : 'X-PAYMENT', value];
}

function refusal(message: string): CallToolResult {
  const text = JSON.stringify({ error: 'invalid_request', message, field: PAYMENT });
  return { isError: true, content: [{ type: 'text', text }] };
}

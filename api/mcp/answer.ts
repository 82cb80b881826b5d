import type { CallToolResult } from '@modelcontextprotocol/server';

type Headers = Iterable<[string, string]>;

/** Headers of an answer that tell a caller how much is left, and when to come back. */
const METER = /^(?:x-service-|x-ratelimit-|ratelimit|retry-after$|x-request-id$)/;
/** Where a receipt of a payment stands: x402 version 1, and version 2. */
const RECEIPTS = ['x-payment-response', 'payment-response'];

/**
 * What a tool gives for a door's answer. A refusal is told in band, in the
 * door's own words, and as text alone: clients hold structured content against
 * the tool's schema, and a refusal is not of it.
 */
export function resultOf(status: number, text: string, headers: Headers): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  const _meta = metaOf(headers);
  if (status >= 400) return { isError: true, content, _meta };
  return { content, structuredContent: JSON.parse(text) as Record<string, unknown>, _meta };
}

/** What an answer says beside its body: the state of the caller's meter, and the receipt of a payment. */
function metaOf(headers: Headers): Record<string, unknown> {
  const told = [...headers].map(([name, value]) => [name.toLowerCase(), value] as const);
  const meter = Object.fromEntries(told.filter(([name]) => METER.test(name)));
  const receipt = told.find(([name]) => RECEIPTS.includes(name))?.[1];
  return {
    ...(Object.keys(meter).length > 0 && { 'records/meter': meter }),
    ...(receipt !== undefined && { 'x402/payment-response': JSON.parse(Buffer.from(receipt, 'base64').toString()) }),
  };
}

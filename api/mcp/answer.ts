import type { CallToolResult } from '@modelcontextprotocol/server';

type Headers = Iterable<[string, string]>;

/** Headers of an answer that tell a caller how much is left, and when to come back. */
const METER = /^(?:x-service-|x-ratelimit-|ratelimit|retry-after$|x-request-id$)/;
/** What x402 says in headers, in base64: the receipt of a payment in both versions, and the second one's offer. */
const X402: Record<string, string> = {
  'x-payment-response': 'x402/payment-response',
  'payment-response': 'x402/payment-response',
  'payment-required': 'x402/payment-required',
};

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

/** What an answer says beside its body: the state of the caller's meter, and what there is of a payment. */
function metaOf(headers: Headers): Record<string, unknown> {
  const told = [...headers].map(([name, value]) => [name.toLowerCase(), value] as const);
  const meter = Object.fromEntries(told.filter(([name]) => METER.test(name)));
  const paid = told.flatMap(([name, value]) => {
    const key = X402[name];
    return key === undefined ? [] : [[key, JSON.parse(Buffer.from(value, 'base64').toString())]];
  });
  return { 'records/meter': meter, ...Object.fromEntries(paid) };
}

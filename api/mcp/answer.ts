import type { CallToolResult } from '@modelcontextprotocol/server';

type Headers = Iterable<[string, string]>;

/** Response headers that say how much is left, and when to retry. */
const METER = /^(?:x-service-|x-ratelimit-|ratelimit|retry-after$|x-request-id$)/;
/** The base64 headers of x402: payment receipts of both versions, and the offer of version 2. */
const X402: Record<string, string> = {
  'x-payment-response': 'x402/payment-response',
  'payment-response': 'x402/payment-response',
  'payment-required': 'x402/payment-required',
};

/**
 * The tool result for a response of the data API. Errors are in band, with the API's own message, and text only:
 * clients validate structured content against the tool's output schema, which describes no errors.
 */
export function resultOf(status: number, text: string, headers: Headers): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  const _meta = metaOf(headers);
  if (status >= 400) return { isError: true, content, _meta };
  return { content, structuredContent: JSON.parse(text) as Record<string, unknown>, _meta };
}

/** The metadata in a response's headers: the caller's meter, and the outcome of a payment. */
function metaOf(headers: Headers): Record<string, unknown> {
  const lowerCase = [...headers].map(([name, value]) => [name.toLowerCase(), value] as const);
  const meter = Object.fromEntries(lowerCase.filter(([name]) => METER.test(name)));
  const paid = lowerCase.flatMap(([name, value]) => {
    const key = X402[name];
    return key === undefined ? [] : [[key, JSON.parse(Buffer.from(value, 'base64').toString())]];
  });
  return { 'records/meter': meter, ...Object.fromEntries(paid) };
}

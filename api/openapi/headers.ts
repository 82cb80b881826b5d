/** Response headers of both services, as OpenAPI components. */
export const COMMON_HEADERS = {
  RequestId: {
    description: 'Identifies this response in the server’s log; include it when you report a problem.',
    required: true,
    schema: { type: 'string' },
    example: '0b1f5c52-7f0e-4c39-9a38-7d9f0a5d7f11',
  },
  NextPage: {
    description: 'The next page, with `rel="next"`; absent on the last page.',
    schema: { type: 'string' },
  },
  Location: {
    description: 'The address of the new resource.',
    required: true,
    schema: { type: 'string', format: 'uri' },
  },
  Challenge: { description: 'How to authenticate.', required: true, schema: { type: 'string' }, example: 'Bearer' },
  Allow: {
    description: 'The methods that the address takes.',
    required: true,
    schema: { type: 'string' },
    example: 'GET, HEAD, OPTIONS',
  },
  RetryAfter: {
    description: 'When to try again, in whole seconds.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
} as const;

/** The response to `If-None-Match` with the current ETag. */
export const NOT_MODIFIED = {
  description: 'Nothing has changed since the response whose `ETag` was sent in `If-None-Match`. No body.',
  headers: headerRefs({ 'X-Request-Id': 'RequestId', ETag: 'ETag' }),
};

/** Maps the headers of a response to references: names on the wire to names among the components. */
export function headerRefs(names: Record<string, string>): Record<string, { $ref: string }> {
  return Object.fromEntries(
    Object.entries(names).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  );
}

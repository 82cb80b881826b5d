import { withLevel } from './openapi-levels.ts';

/** Headers that answers carry, as the document's components have them. */
export const HEADERS = {
  RequestId: {
    description: 'Names this answer in the server’s log; give it when you report a fault.',
    required: true,
    schema: { type: 'string' },
    example: '0b1f5c52-7f0e-4c39-9a38-7d9f0a5d7f11',
  },
  ETag: {
    description: 'The edition that the answer was made of. Sent on the public lane; an answer to a key has none.',
    schema: { type: 'string' },
    example: '"412-9f86d081"',
  },
  NextPage: {
    description: 'Where the list goes on, with `rel="next"`; absent at its end.',
    schema: { type: 'string' },
  },
  Challenge: { description: 'How to come back.', required: true, schema: { type: 'string' }, example: 'Bearer' },
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

/** The answer to `If-None-Match` with the mark of the present edition. */
export const NOT_MODIFIED = {
  description: 'Nothing has changed since the answer whose `ETag` came in `If-None-Match`. Without a body.',
  headers: headers({ 'X-Request-Id': 'RequestId', ETag: 'ETag' }),
};

/** Headers of a response: their names on the wire, and their names among the components. */
export function headers(names: Record<string, keyof typeof HEADERS>): Record<string, { $ref: string }> {
  return Object.fromEntries(
    Object.entries(names).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  );
}

interface Operation {
  description?: string;
  security?: Record<string, string[]>[];
  responses: Record<
    string,
    { $ref?: string; headers?: object; content?: Record<string, { schema?: { $ref?: string } }> }
  >;
}

export interface Paths {
  [path: string]: Record<string, Operation>;
}

/**
 * Writes into each operation of a document what no route should have to: which
 * key it takes, the headers of each good answer, and the 304 of public reads.
 * `isList` tells whether the schema of a name has a next page.
 */
export function describeOperations(paths: Paths, isList: (schema: string) => boolean): void {
  for (const operations of Object.values(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const { security = [], responses } = operation;
      const description = withLevel(security, operation.description);
      if (description !== '') operation.description = description;
      const isPublicRead = method === 'get' && security.some((way) => Object.keys(way).length === 0);
      for (const [status, response] of Object.entries(responses)) {
        if (!status.startsWith('2')) continue;
        const schema = response.content?.['application/json']?.schema?.$ref?.replace(/^.*\//, '') ?? '';
        response.headers = {
          ...headers({
            'X-Request-Id': 'RequestId',
            ...(isPublicRead ? { ETag: 'ETag' } : {}),
            ...(isList(schema) ? { Link: 'NextPage' } : {}),
          }),
          ...response.headers,
        };
      }
      if (isPublicRead) responses['304'] = { $ref: '#/components/responses/NotModified' };
    }
  }
}

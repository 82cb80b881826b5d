import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Env } from 'hono';
import { type Faults, faultResponses } from './faults.ts';
import { defaultsInWords } from './for-generators.ts';
import { COMMON_HEADERS, headerRefs, NOT_MODIFIED } from './headers.ts';
import { ErrorBody, ProblemDetails } from './responses.ts';

/** An operation of the document under construction. */
export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  security?: Record<string, string[]>[];
  responses: Record<
    string,
    { $ref?: string; headers?: object; content?: Record<string, { schema?: { $ref?: string } }> }
  >;
  [extension: `x-${string}`]: unknown;
}

export interface Paths {
  [path: string]: Record<string, Operation>;
}

/** A service's components, beside the schemas of its routes. */
export interface Components {
  keys: Record<string, object>;
  headers: Record<string, object>;
  faults: Faults;
}

/** Registers components that routes refer to by name. Call it once, before the document is generated. */
export function registerComponents<E extends Env>(
  { openAPIRegistry: registry }: OpenAPIHono<E>,
  { keys, headers, faults }: Components,
): void {
  const register = (kind: 'securitySchemes' | 'headers' | 'responses', parts: Record<string, object>) => {
    for (const [name, part] of Object.entries(parts)) registry.registerComponent(kind, name, part as never);
  };
  register('securitySchemes', keys);
  register('headers', { ...COMMON_HEADERS, ...headers });
  register('responses', { ...faultResponses(faults), NotModified: NOT_MODIFIED });
  registry.register('Error', ErrorBody);
  registry.register('ProblemDetails', ProblemDetails);
}

/** The paths of the routes that a router has so far. */
export function pathsOf<E extends Env>(router: OpenAPIHono<E>): Paths {
  return rawDocument(router).paths;
}

interface Document {
  openapi: string;
  info: object;
  paths: Paths;
  components?: { schemas?: Record<string, { $ref?: string; example?: unknown }> };
}

/**
 * A copy of the router's document. The library's types follow the specification, in which every member is optional.
 * Schemas with a name are extended by `safeExtend`: of `extend` the library makes an `allOf`, on which generators fail.
 */
function rawDocument<E extends Env>(router: OpenAPIHono<E>): Document {
  const document = router.getOpenAPI31Document({ openapi: '3.1.0', info: { title: '', version: '1' } });
  return defaultsInWords(JSON.parse(JSON.stringify(document)));
}

/** The texts and headers that a service adds to the description of each operation. */
export interface OperationNotes {
  /** Text before the operation's own description; '' for none. */
  words(operation: Operation, method: string): string;
  /** Headers of successful responses, beside X-Request-Id and the link to the next page. */
  headers(operation: Operation, method: string): Record<string, string>;
  /** Whether the operation supports `If-None-Match`. */
  isConditional(operation: Operation, method: string): boolean;
}

/** The document of a router, with examples and the notes on each operation. */
export function documentOf<E extends Env>(
  router: OpenAPIHono<E>,
  examples: Readonly<Record<string, object>>,
  telling: OperationNotes,
): Document {
  const document = rawDocument(router);
  const schemas = document.components?.schemas ?? {};
  for (const [name, example] of Object.entries(examples)) {
    const schema = schemas[name];
    if (schema !== undefined && !('$ref' in schema)) schema.example = example;
  }
  const isList = (name: string) => JSON.stringify(schemas[name] ?? {}).includes('"next_cursor":{"type":["string"');
  for (const operations of Object.values(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) describe(operation, method, telling, isList);
  }
  return document;
}

function describe(
  operation: Operation,
  method: string,
  telling: OperationNotes,
  isList: (schema: string) => boolean,
): void {
  const { responses } = operation;
  const description = [telling.words(operation, method), operation.description].filter(Boolean).join(' ');
  if (description !== '') operation.description = description;
  const isConditional = telling.isConditional(operation, method);
  for (const [status, response] of Object.entries(responses)) {
    if (!status.startsWith('2')) continue;
    const schema = response.content?.['application/json']?.schema?.$ref?.replace(/^.*\//, '') ?? '';
    response.headers = {
      ...headerRefs({
        'X-Request-Id': 'RequestId',
        ...(isConditional ? { ETag: 'ETag' } : {}),
        ...(isList(schema) ? { Link: 'NextPage' } : {}),
        ...telling.headers(operation, method),
      }),
      ...response.headers,
    };
  }
  if (isConditional) responses['304'] = { $ref: '#/components/responses/NotModified' };
}

import assert from 'node:assert/strict';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Contract, type Document } from './contract.ts';

/** Statuses that every operation must document. */
const STATUSES = ['400', '401', '403', '404', '405', '429', '500', '503'];

/** Fails when a document violates the standard, or the rules for the documents of both services. */
export async function checkDocument(document: Document, server: string): Promise<void> {
  const verdict = await new Validator().validate(structuredClone(document) as object as Record<string, unknown>);
  assert.deepEqual(verdict, { valid: true });
  assert.match(document.openapi, /^3\.1\./);
  assert.deepEqual(
    document.servers.map((one) => one.url),
    [server],
  );
  const contract = new Contract(document);
  const ids = contract.operations.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length, 'each operation has a name of its own');
  const tags = new Set(document.tags.map(({ name }) => name));
  for (const operation of contract.operations as ((typeof contract.operations)[0] & { tags: string[] })[]) {
    for (const tag of operation.tags) assert.ok(tags.has(tag), `${tag} is described`);
    const known = Object.keys(operation.responses);
    for (const status of STATUSES) assert.ok(known.includes(status), `${operation.operationId} ${status}`);
    if (operation.requestBody) assert.ok(known.includes('413') && known.includes('415'), operation.operationId);
    assert.ok(operation.security.length > 0, operation.operationId);
    for (const way of operation.security.flatMap((one) => Object.keys(one))) {
      assert.ok(document.components.securitySchemes?.[way], way);
    }
    for (const [, name] of operation.path.matchAll(/\{(\w+)\}/g)) {
      const parameter = operation.parameters?.find((one) => one.in === 'path' && one.name === name);
      assert.ok(parameter?.required, `${operation.operationId} ${name}`);
    }
    for (const { name, description } of operation.parameters ?? []) {
      assert.ok(description, `${operation.operationId} says what ${name} is`);
    }
  }
  for (const reference of referencesIn(document)) contract.at({ $ref: reference });
  assert.deepEqual(hardToGenerate(document), [], 'generators of clients fail on these (.ci/wide openapi-clients)');
  for (const { schema, value } of examplesIn(document)) {
    assert.equal(contract.mismatch(schema, value), null, `the example at ${schema.join(' / ')}`);
  }
}

/** The paths in a document of what client generators fail on: an `allOf`, and a member with a default. */
function hardToGenerate(node: unknown, way = '#'): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { allOf, properties = {} } = node as { allOf?: unknown; properties?: Record<string, object> };
  return [
    ...(Array.isArray(allOf) ? [`${way}/allOf`] : []),
    ...Object.entries(properties).flatMap(([name, member]) =>
      Object.hasOwn(member ?? {}, 'default') ? [`${way}/properties/${name}/default`] : [],
    ),
    ...Object.entries(node).flatMap(([name, value]) => hardToGenerate(value, `${way}/${name}`)),
  ];
}

/** Every `$ref` of a document. */
function referencesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    name === '$ref' && typeof value === 'string' ? [value] : referencesIn(value),
  );
}

/** Every example of a document, with the path to its schema. */
export function examplesIn(node: unknown, way: string[] = []): { schema: string[]; value: unknown }[] {
  if (typeof node !== 'object' || node === null) return [];
  const members = node as Record<string, unknown>;
  const schema = 'schema' in members ? [...way, 'schema'] : way;
  return Object.entries(members).flatMap(([name, value]) => {
    // A record may have a member called `example`; a schema's example is beside its type.
    if (way.at(-1) === 'properties') return examplesIn(value, [...way, name]);
    if (name === 'example') return [{ schema, value }];
    if (name === 'examples') {
      return Object.values(value as object).map((one) => ({ schema, value: (one as { value: unknown }).value }));
    }
    return examplesIn(value, [...way, name]);
  });
}

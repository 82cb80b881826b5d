/** A schema of the generated document. */
interface Schema {
  $ref?: string;
  allOf?: Schema[];
  type?: string | string[];
  properties?: Record<string, unknown>;
  required?: string[];
  [keyword: string]: unknown;
}

/**
 * A copy of a document in which every `allOf` is one object schema with the members of all its parts. An extended
 * schema is generated as an `allOf` of the one that it extends and the rest. Generators of clients fail on it where a
 * part has `additionalProperties` or may be null (oapi-codegen), or generate types that cannot be instantiated. Throws
 * for a part that is not an object.
 */
export function mergeAllOf<T extends object>(document: T): T {
  const merge = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) return node.map(merge);
    const { allOf, ...rest } = node as Schema;
    const own = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, merge(one)]));
    if (allOf === undefined) return own;
    return [...allOf.map((part) => merge(resolve(part)) as Schema), own].reduce(together);
  };
  const resolve = (schema: Schema): Schema => {
    if (schema.$ref === undefined) return schema;
    const names = schema.$ref.slice(2).split('/');
    return resolve(names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as Schema);
  };
  return merge(document) as T;
}

/** Two parts as one. What the second says of the whole, such as its description and whether it may be null, holds. */
function together(base: Schema, more: Schema): Schema {
  for (const { type } of [base, more]) {
    if (type !== undefined && ![type].flat().includes('object')) {
      throw new TypeError(`an allOf has a part of type ${String(type)}; only objects are merged`);
    }
  }
  const { example: _, ...whole } = base;
  return {
    ...whole,
    ...more,
    properties: { ...base.properties, ...more.properties },
    required: [...new Set([...(base.required ?? []), ...(more.required ?? [])])],
  };
}

interface Member {
  default?: unknown;
  description?: string;
  [keyword: string]: unknown;
}

/**
 * A copy of a document in which the descriptions of optional members say their defaults, in place of `default`.
 * Generators take a member with a default for one that is always there, and have clients send it (openapi-typescript).
 * Parameters keep theirs.
 */
export function defaultsInWords<T>(node: T): T {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(defaultsInWords) as T;
  const { properties, ...rest } = node as { properties?: Record<string, Member> };
  const copy = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, defaultsInWords(value)]));
  if (typeof properties !== 'object') return copy as T;
  const members = Object.entries(properties).map(([name, member]) => [name, defaultsInWords(inWords(member))]);
  return { ...copy, properties: Object.fromEntries(members) } as T;
}

function inWords(member: Member): Member {
  if (!Object.hasOwn(member, 'default')) return member;
  const { default: value, description, ...rest } = member;
  const words = value === '' ? 'Empty by default.' : `Default: ${JSON.stringify(value)}.`;
  return { ...rest, description: description === undefined ? words : `${description} ${words}` };
}

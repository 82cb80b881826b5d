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

/**
 * The required members of an object; an array contains the shape of its items. A name ending in `?` is optional, one
 * ending in `??` is optional or null. `true`, `false`, `1`, `Ed25519` and `archive` stand for those exact values.
 */
export type Shape = { [name: string]: Kind | [Kind] };
type Kind = keyof typeof KINDS | boolean | Shape;

const isText = (value: unknown): boolean => typeof value === 'string';
/** Whether a parsed JSON value is an object, not null and not an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const KINDS = {
  'a text': isText,
  '1': (value: unknown): boolean => value === 1,
  Ed25519: (value: unknown): boolean => value === 'Ed25519',
  archive: (value: unknown): boolean => value === 'archive',
  'a number': (value: unknown): boolean => typeof value === 'number',
  'a whole number': (value: unknown): boolean => Number.isSafeInteger(value),
  'an object': isObject,
  'a text or null': (value: unknown): boolean => value === null || isText(value),
  'an object or null': (value: unknown): boolean => value === null || isObject(value),
  'true, false or null': (value: unknown): boolean => value === null || typeof value === 'boolean',
};

/** How a value differs from a shape, by path: `items[2].receipt is missing`. */
export function mismatches(value: unknown, shape: Shape, path = ''): string[] {
  if (!isObject(value)) return [`${path || 'it'} is not an object`];
  return membersOf(shape).flatMap(({ name, kind, isOptional, isNullable }) => {
    const here = path === '' ? name : `${path}.${name}`;
    const member = own(value, name);
    if (member === undefined) return isOptional ? [] : [`${here} is missing`];
    if (member === null && isNullable) return [];
    if (!Array.isArray(kind)) return mismatch(member, kind, here);
    if (!Array.isArray(member)) return [`${here} is not a list`];
    return member.flatMap((item, index) => mismatch(item, kind[0], `${here}[${index}]`));
  });
}

function mismatch(value: unknown, kind: Kind, path: string): string[] {
  if (typeof kind === 'boolean') return value === kind ? [] : [`${path} is not ${kind}`];
  if (typeof kind === 'object') return mismatches(value, kind, path);
  return KINDS[kind](value) ? [] : [`${path} is not ${kind}`];
}

/**
 * The paths of members that a shape does not list. Where a shape allows any members in an object, none is unknown. A
 * value that should be an object but is not is reported as a whole.
 */
export function unknownMembers(value: unknown, shape: Shape, path = ''): string[] {
  if (!isObject(value)) return path === '' ? [] : [path];
  const members = membersOf(shape);
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const unknown = Object.keys(value).filter((name) => !members.some((member) => member.name === name));
  const within = members.flatMap(({ name, kind, isNullable }) => {
    const member = own(value, name);
    if (member === null && isNullable) return [];
    if (Array.isArray(kind)) {
      const [of] = kind;
      if (typeof of !== 'object' || !Array.isArray(member)) return [];
      return member.flatMap((item, index) => unknownMembers(item, of, `${at(name)}[${index}]`));
    }
    return typeof kind === 'object' && member !== undefined ? unknownMembers(member, kind, at(name)) : [];
  });
  return [...unknown.map(at), ...within];
}

function membersOf(shape: Shape) {
  return Object.entries(shape).map(([name, kind]) => ({
    name: name.replace(/\?{1,2}$/, ''),
    kind,
    isOptional: name.endsWith('?'),
    isNullable: name.endsWith('??'),
  }));
}

function own(value: unknown, name: string): unknown {
  return Object.hasOwn(value as object, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** Maximum number of members that are named. */
const NAMED_MAX = 20;

/** The unsigned members of a document in words; '' when there are none. `paths` are the members' paths. */
export function unsignedWords(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  const more = paths.length > NAMED_MAX ? ` and ${paths.length - NAMED_MAX} more` : '';
  return `not signed, and so not checked: ${paths.slice(0, NAMED_MAX).join(', ')}${more}`;
}

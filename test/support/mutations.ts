import * as fc from './properties.ts';

/** Mutations of a document: changes of one or two JSON members, of a character, or a duplicated member. */

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Path = (string | number)[];

/** One mutation. Its numbers are scaled to the document. */
interface Change {
  kind: 'replace' | 'borrow' | 'remove' | 'repeat' | 'swap' | 'add' | 'text' | 'character' | 'twice' | 'cut';
  position: number;
  other: number;
  value: Json;
  sign: string;
}

export const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom(
    ...(['replace', 'borrow', 'remove', 'repeat', 'swap', 'add', 'text', 'character', 'twice', 'cut'] as const),
  ),
  position: fc.nat(),
  other: fc.nat(),
  value: fc.constantFrom<Json[]>(null, true, false, 0, 1, 2, 3, 1.5, -1, '', 'x', 'example.com', [], {}, [null], {
    a: 1,
  }),
  sign: fc.constantFrom(...'0aZ"{},: -\\.é\u202e'),
});

/** The mutated text of a document. Some mutations have no effect. */
export function altered(text: string, changes: Change[]): string {
  return changes.reduce((at, one) => (isOfText(one) ? alteredText(at, one) : alteredJson(at, one)), text);
}

const isOfText = ({ kind }: Change): boolean => kind === 'character' || kind === 'twice';

function alteredText(text: string, { kind, position, sign }: Change): string {
  if (kind === 'character') {
    const at = position % Math.max(text.length, 1);
    return text.slice(0, at) + sign + text.slice(at + 1);
  }
  const members = [...text.matchAll(/"([a-z_]+)":/g)];
  const member = members[position % Math.max(members.length, 1)];
  return member === undefined ? text : `${text.slice(0, member.index)}${member[0]}"forged",${text.slice(member.index)}`;
}

function alteredJson(text: string, { kind, position, other, value, sign }: Change): string {
  let json: Json;
  try {
    json = JSON.parse(text) as Json;
  } catch {
    return text;
  }
  const paths = [...pathsIn(json)];
  const path = paths[position % paths.length];
  const from = paths[other % paths.length];
  if (path === undefined || from === undefined || path.length === 0) return text;
  const parent = valueAt(json, path.slice(0, -1)) as Record<string | number, Json>;
  const name = path.at(-1) as string | number;
  const old = parent[name] as Json;
  if (kind === 'remove') {
    if (Array.isArray(parent)) parent.splice(name as number, 1);
    else delete parent[name];
  } else if (kind === 'repeat' || kind === 'swap' || kind === 'cut') {
    const list = Array.isArray(old) ? old : Array.isArray(parent) ? parent : [];
    const at = other % Math.max(list.length, 1);
    if (kind === 'cut') list.splice(Math.max(at, 1));
    else if (kind === 'repeat') list.splice(at, 0, structuredClone(list[at] ?? null));
    else list.push(...list.splice(at, 1));
  } else if (kind === 'add') {
    if (typeof old === 'object' && old !== null && !Array.isArray(old)) old[`x${sign.codePointAt(0)}`] = value;
  } else if (kind === 'text') {
    if (typeof old === 'string')
      parent[name] = old.slice(0, other % (old.length + 1)) + sign + old.slice(other % (old.length + 1));
    else if (typeof old === 'number') parent[name] = old + (other % 3) - 1;
  } else {
    parent[name] = kind === 'borrow' ? structuredClone(valueAt(json, from)) : value;
  }
  return JSON.stringify(json);
}

function* pathsIn(json: Json, path: Path = []): Generator<Path> {
  yield path;
  if (typeof json !== 'object' || json === null) return;
  for (const [name, value] of Object.entries(json)) {
    yield* pathsIn(value as Json, [...path, Array.isArray(json) ? Number(name) : name]);
  }
}

function valueAt(json: Json, path: Path): Json {
  return path.reduce<Json>((at, name) => (at as Record<string | number, Json>)[name] as Json, json);
}

/** A document without the members at these paths, such as `items[2].x`. */
export function withoutMembers(json: unknown, paths: string[]): Record<string, unknown> {
  const whole = structuredClone(json) as Record<string, never>;
  for (const path of paths) {
    const names = path.split(/[.[\]]+/).filter((name) => name !== '');
    const parent = names.slice(0, -1).reduce((at, name) => at[name] as never, whole);
    delete parent[names.at(-1) ?? ''];
  }
  return whole;
}

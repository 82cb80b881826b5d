/** Texts of a document in which one member was altered: one for each member, and each thing that may be there instead. */

type Parent = Record<string, unknown>;

const DEEP = 100_000;
const LARGE: readonly [what: string, instead: string][] = [
  ['a megabyte', JSON.stringify('a b+c\n— '.repeat(120_000))],
  ['nested lists', '['.repeat(DEEP) + ']'.repeat(DEEP)],
  ['nested objects', `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`],
];
const TOKEN = '"@the altered member@"';

interface Altered {
  /** The member's path, such as `generations[0].receipt`. */
  path: string;
  what: string;
  text: string;
}

/** The alterations of each member; of a list, those of its first item stand for all. */
export function* alteredMembers(document: unknown): Generator<Altered> {
  const copy = structuredClone(document);
  for (const { parent, name, path } of membersOf(copy, '')) {
    const old = parent[name];
    parent[name] = JSON.parse(TOKEN);
    const whole = JSON.stringify(copy);
    parent[name] = old;
    const kept = JSON.stringify(old);
    const to = (what: string, instead: string): Altered => ({
      path,
      what,
      text: whole.replace(TOKEN, () => instead),
    });
    for (const [what, instead] of insteadOf(old)) if (instead !== kept) yield to(what, instead);
    if (Array.isArray(parent)) continue;
    yield { path, what: 'missing', text: JSON.stringify(without(copy, parent, name)) };
    const again = `${JSON.stringify(name)}:`;
    yield to('twice, itself last', `${JSON.stringify('other')},${again}${kept}`);
    yield to('twice, itself first', `${kept},${again}${JSON.stringify('other')}`);
    yield to('twice alike', `${kept},${again}${kept}`);
  }
}

function* insteadOf(old: unknown): Generator<[what: string, instead: string]> {
  if (old !== null) yield ['null', 'null'];
  yield ['another type', typeof old === 'number' ? '"1"' : '1'];
  yield ['a list', '[]'];
  yield ['an object', '{"toString":1,"__proto__":{"x":1}}'];
  if (typeof old === 'number') yield ['another number', JSON.stringify(old + 1)];
  if (typeof old === 'string') yield ['another text', JSON.stringify(`${old}x`)];
  if (typeof old === 'string') yield ['an empty text', '""'];
  yield ['NUL', JSON.stringify(`${typeof old === 'string' ? old : ''}\0`)];
  yield ['a lone surrogate', '"\\ud800"'];
  yield ['a control sequence', '"\\u001b[31mred\\u202e"'];
  yield ['1e400', '1e400'];
  yield* LARGE;
}

function without(copy: unknown, parent: Parent, name: string): unknown {
  const { [name]: old, ...others } = parent;
  const members = Object.entries(parent);
  delete parent[name];
  const cut = structuredClone(copy);
  for (const key of Object.keys(others)) delete parent[key];
  for (const [key, value] of members) parent[key] = value;
  return cut;
}

function* membersOf(value: unknown, path: string): Generator<{ parent: Parent; name: string; path: string }> {
  if (typeof value !== 'object' || value === null) return;
  for (const name of Object.keys(value)) {
    if (Array.isArray(value) && name !== '0') break;
    const here = Array.isArray(value) ? `${path}[0]` : path === '' ? name : `${path}.${name}`;
    yield { parent: value as Parent, name, path: here };
    yield* membersOf((value as Parent)[name], here);
  }
}

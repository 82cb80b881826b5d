import { join } from 'node:path';
import ts from 'typescript';
import { PROJECT } from '../../src/shared/project.ts';

/** Texts as people and hostile callers write them. */
const TEXTS = [
  '',
  'Tide',
  `"Salt & light", <b>it's</b> said`,
  'The twenty-two-year-old ferry, and a light-house-keeper-of-old-times',
  'سفن الميناء',
  '潮が満ちる'.repeat(20),
  'A long headline that goes on about the harbour, its gulls and its pilots, until nobody reads it to the end',
  '&amp; </script><!-- ',
  '\0 \u2028\u202e ]]> </title> constructor',
  '   ',
];
const LANGUAGES = ['en', 'de', 'ar', 'ja', 'pt-BR', 'he', 'tlh'];
const TIMES = ['2026-11-21T07:06:00.000Z', '2026-11-21T00:00:00.000Z', '1999-01-01T23:59:59.999Z'];
/** Strings that pages do not treat as plain text, by the names of their members. */
const FORMS: [RegExp, readonly string[]][] = [
  [/language$/, LANGUAGES],
  [/(?:^|_)(?:at|since|from|until|date|on)$/, TIMES],
  [/(?:^|_)day$/, ['2026-11-21', '2026-02-01']],
  [/^year$/, ['2026']],
  [/^month$/, ['2026-11']],
  [/color$/, ['#a0b1c2']],
  [/(?:absolute|^root)$/, ['https://news.example/base', 'https://news.example/a/?b=1&c="2"']],
  [/(?:url|href|src)$/, ['', '/base/stories/x/', 'https://news.example/a/?b=1&c="2"']],
  [/^base$/, ['', '/base']],
];

/**
 * For each page, by its route: a function that makes a view of the page's type, another one for each seed. Unions,
 * optional members and lists take all their shapes.
 */
export function viewsOf(): Map<string, (seed: number) => unknown> {
  const file = join(PROJECT, 'src/render.ts');
  const configFile = ts.readConfigFile(join(PROJECT, 'tsconfig.json'), ts.sys.readFile).config as object;
  const { options } = ts.parseJsonConfigFileContent({ ...configFile, files: [file], include: [] }, ts.sys, PROJECT);
  const program = ts.createProgram([file], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  const pages =
    module === undefined ? undefined : checker.getExportsOfModule(module).find(({ name }) => name === 'Pages');
  if (pages === undefined) throw new Error('src/render.ts exports no Pages');
  const routes = checker.getDeclaredTypeOfSymbol(pages).getProperties();
  return new Map(
    routes.map((route) => [
      route.name,
      (seed: number) => new Maker(checker, seed).value(checker.getTypeOfSymbol(route), ''),
    ]),
  );
}

class Maker {
  readonly #checker: ts.TypeChecker;
  #state: number;

  constructor(checker: ts.TypeChecker, seed: number) {
    this.#checker = checker;
    this.#state = seed * 2_654_435_761;
  }

  /** mulberry32 */
  #below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  #one<T>(from: readonly T[]): T {
    return from[this.#below(from.length)] as T;
  }

  /** A value of a type, for the member of this name. */
  value(type: ts.Type, name: string): unknown {
    const checker = this.#checker;
    if (type.isUnion()) return this.value(this.#one(type.types), name);
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
    const { flags } = type;
    if (flags & ts.TypeFlags.BooleanLiteral) return checker.typeToString(type) === 'true';
    if (flags & ts.TypeFlags.Null) return null;
    if (flags & ts.TypeFlags.Undefined) return undefined;
    if (flags & ts.TypeFlags.String) return this.#text(name);
    if (flags & ts.TypeFlags.Number) return this.#one([0, 1, 2, 3, 17, 230, 4_321]);
    if (checker.isTupleType(type)) {
      return checker.getTypeArguments(type as ts.TypeReference).map((member) => this.value(member, name));
    }
    const item = checker.isArrayType(type) ? checker.getTypeArguments(type as ts.TypeReference)[0] : undefined;
    if (item !== undefined) return Array.from({ length: this.#below(4) }, () => this.value(item, name));
    if (flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return this.#object(type);
    throw new Error(`no value for ${name}: ${checker.typeToString(type)}`);
  }

  #object(type: ts.Type): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    for (const member of type.getProperties()) {
      if (member.flags & ts.SymbolFlags.Optional && this.#below(2) === 0) continue;
      made[member.name] = this.value(this.#checker.getTypeOfSymbol(member), member.name);
    }
    return made;
  }

  #text(name: string): string {
    return this.#one(FORMS.find(([pattern]) => pattern.test(name))?.[1] ?? TEXTS);
  }
}

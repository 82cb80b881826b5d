import type {
  LanguageRegistration,
  RegexEngine,
  ShikiPrimitive,
  ThemedToken,
  ThemeRegistration,
} from '@shikijs/primitive';
import { LRUCache } from 'lru-cache';
import { splitAtMarkers } from '../door/markers.ts';
import { markdown } from '../door/prose.ts';
import { type CodeColours, codeKey } from './prose-html.ts';

type Load = () => Promise<{ default: LanguageRegistration[] }>;

/** The languages that are coloured, by the names that a fence may give them; each is loaded when it is first met. */
const LANGUAGES: Record<string, Load> = {
  'c h': () => import('@shikijs/langs/c'),
  'cpp c++ cc hpp': () => import('@shikijs/langs/cpp'),
  'csharp c# cs': () => import('@shikijs/langs/csharp'),
  css: () => import('@shikijs/langs/css'),
  dart: () => import('@shikijs/langs/dart'),
  'diff patch': () => import('@shikijs/langs/diff'),
  'dockerfile docker': () => import('@shikijs/langs/docker'),
  'elixir ex': () => import('@shikijs/langs/elixir'),
  'go golang': () => import('@shikijs/langs/go'),
  'graphql gql': () => import('@shikijs/langs/graphql'),
  'haskell hs': () => import('@shikijs/langs/haskell'),
  'html htm svg': () => import('@shikijs/langs/html'),
  http: () => import('@shikijs/langs/http'),
  'ini conf properties': () => import('@shikijs/langs/ini'),
  java: () => import('@shikijs/langs/java'),
  'javascript js mjs cjs': () => import('@shikijs/langs/javascript'),
  'json jsonc json5': () => import('@shikijs/langs/jsonc'),
  jsx: () => import('@shikijs/langs/jsx'),
  'kotlin kt': () => import('@shikijs/langs/kotlin'),
  lua: () => import('@shikijs/langs/lua'),
  'makefile make': () => import('@shikijs/langs/make'),
  'markdown md': () => import('@shikijs/langs/markdown'),
  nginx: () => import('@shikijs/langs/nginx'),
  perl: () => import('@shikijs/langs/perl'),
  php: () => import('@shikijs/langs/php'),
  'powershell ps1': () => import('@shikijs/langs/powershell'),
  'python py': () => import('@shikijs/langs/python'),
  r: () => import('@shikijs/langs/r'),
  'ruby rb': () => import('@shikijs/langs/ruby'),
  'rust rs': () => import('@shikijs/langs/rust'),
  scala: () => import('@shikijs/langs/scala'),
  scss: () => import('@shikijs/langs/scss'),
  'bash sh shell zsh': () => import('@shikijs/langs/bash'),
  'console shellsession': () => import('@shikijs/langs/shellsession'),
  sql: () => import('@shikijs/langs/sql'),
  swift: () => import('@shikijs/langs/swift'),
  'terraform tf hcl': () => import('@shikijs/langs/terraform'),
  'latex tex': () => import('@shikijs/langs/latex'),
  toml: () => import('@shikijs/langs/toml'),
  tsx: () => import('@shikijs/langs/tsx'),
  'typescript ts mts cts': () => import('@shikijs/langs/typescript'),
  'xml rss xsl': () => import('@shikijs/langs/xml'),
  'yaml yml': () => import('@shikijs/langs/yaml'),
};
const BY_NAME = new Map(
  Object.entries(LANGUAGES).flatMap(([names, load]) => names.split(' ').map((name) => [name, load])),
);

/**
 * The classes of prose.css, each with the TextMate scopes that it colours: the last that fits best wins. A theme knows
 * colours only, so each class has its place in this list as its colour.
 */
const CLASSES: [name: string | null, scopes: string][] = [
  [null, ''],
  ['hl-comment', 'comment, punctuation.definition.comment, meta.diff.header, meta.diff.range'],
  [
    'hl-string',
    'string, punctuation.definition.string, constant.other.symbol, markup.inline.raw, markup.fenced_code, markup.inserted',
  ],
  [
    'hl-keyword',
    'keyword, storage, variable.language, entity.name.tag, markup.heading, markup.deleted, entity.other.attribute-name.class.css',
  ],
  [
    'hl-number',
    'constant.numeric, constant.language, constant.character, constant.other.color, keyword.other.unit, support.constant',
  ],
  [
    'hl-name',
    'entity.name.function, support.function, meta.function-call.generic, entity.other.attribute-name, support.type.property-name, meta.object-literal.key, entity.name.section, entity.name.tag.yaml',
  ],
  [
    'hl-type',
    'entity.name.type, entity.name.class, entity.name.namespace, entity.other.inherited-class, support.type, support.class',
  ],
];
/** Operators are punctuation, except those that are words. */
const PLAIN =
  'keyword.operator, punctuation, storage.modifier.pointer, string meta.template.expression, string meta.embedded';
const WORDS =
  'keyword.operator.new, keyword.operator.expression, keyword.operator.logical.python, keyword.operator.wordlike';

const colour = (number: number): string => `#${number.toString(16).padStart(6, '0')}`;
const THEME: ThemeRegistration = {
  name: 'classes',
  type: 'light',
  fg: colour(0),
  bg: '#ffffff',
  settings: [
    ...CLASSES.map(([, scope], number) => ({ scope, settings: { foreground: colour(number) } })).slice(1),
    { scope: PLAIN, settings: { foreground: colour(0) } },
    { scope: WORDS, settings: { foreground: colour(3) } },
  ],
};

/**
 * Bounds of untrusted code, in UTF-16 units, because a grammar's time grows faster than a line. A longer line or block
 * stays plain, and so does what comes after so much code in one prose.
 */
const [LINE_MAX, BLOCK_MAX, PROSE_MAX] = [200, 20_000, 50_000];
/** All 43 take 60 MB of heap and 70 MB besides. With more than these, one is dropped for another. */
const LANGUAGES_MAX = 16;
/** A fence that names a language. Most prose has none, and is not parsed for this. */
const FENCE = /(?:```|~~~)[ \t]*[\w]/;

/** The colours of a prose's code, by Shiki's grammars. The result depends only on the text. */
export async function codeColours(prose: string): Promise<CodeColours> {
  const colours = new Map<string, ReturnType<typeof spansOf>>();
  if (!FENCE.test(prose)) return colours;
  let left = PROSE_MAX;
  for (const token of markdown.parse(prose, {})) {
    const name = token.type === 'fence' ? (/^[^\s{,]+/.exec(token.info)?.[0].toLowerCase() ?? '') : '';
    const load = BY_NAME.get(name);
    if (load === undefined || colours.has(codeKey(token))) continue;
    const code = withoutMarkers(token.content);
    left -= code.length;
    if (code.length > BLOCK_MAX || left < 0) continue;
    colours.set(codeKey(token), spansOf(await tokenized(code, load)));
    // Other work of the process has its turn between two blocks.
    await new Promise(setImmediate);
  }
  return colours;
}

/** A part of a code, and the class of its colour; null for the colour of the text. */
export type Span = [text: string, colour: string | null];

/** A code of ours as spans. Throws for a language that is not coloured. */
export async function colouredCode(code: string, language: string): Promise<Span[]> {
  const load = BY_NAME.get(language);
  if (load === undefined) throw new Error(`no grammar for ${language}`);
  return spansOf(await tokenized(code, load));
}

/** The lines of a code as spans, the neighbours of one colour joined. */
function spansOf(lines: ThemedToken[][]): Span[] {
  const spans: Span[] = [];
  const add = (text: string, colour: string | null): void => {
    const last = spans.at(-1);
    // A blank takes the colour of what precedes it.
    if (last !== undefined && (last[1] === colour || text.trim() === '')) last[0] += text;
    else spans.push([text, colour]);
  };
  for (const [index, line] of lines.entries()) {
    if (index > 0) add('\n', null);
    for (const { content, color } of line)
      add(content, CLASSES[Number.parseInt(color?.slice(1) ?? '', 16)]?.[0] ?? null);
  }
  return spans;
}

const withoutMarkers = (code: string): string =>
  splitAtMarkers(code)
    .filter((part) => typeof part === 'string')
    .join('');

/**
 * One highlighter for each language, since what Shiki makes of a language depends on the others that it knows. Disposing
 * frees memory of WebAssembly, so between `get` and the use of one nothing is awaited.
 */
const highlighters = new LRUCache<Load, ShikiPrimitive>({ max: LANGUAGES_MAX, dispose: (shiki) => shiki.dispose() });

async function tokenized(code: string, load: Load): Promise<ThemedToken[][]> {
  const { default: langs } = await load();
  const { createShikiPrimitive, codeToTokensBase } = await import('@shikijs/primitive');
  engineStart ??= import('./oniguruma.ts').then(({ startOniguruma }) => startOniguruma());
  const engine = await engineStart;
  let shiki = highlighters.get(load);
  if (shiki === undefined) {
    shiki = createShikiPrimitive({ engine, langs, themes: [THEME], warnings: false });
    highlighters.set(load, shiki);
  }
  // The last language is the one that was named; those before are embedded. Time limits would make the result depend on the machine.
  const options = { tokenizeMaxLineLength: LINE_MAX + 1, tokenizeTimeLimit: 0 };
  return codeToTokensBase(shiki, code, { lang: langs.at(-1)?.name ?? '', theme: THEME.name ?? '', ...options });
}

let engineStart: Promise<RegexEngine> | null = null;

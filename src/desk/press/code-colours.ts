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

/** The supported languages, by the names that a fence may use. Each grammar is loaded on first use. */
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
 * The classes of prose.css, each with the TextMate scopes to which it applies. The most specific scope wins, and of
 * equal ones the last. A theme can only assign colours, so each class is encoded as a colour: its index in this list.
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
/** Operators are shown like punctuation, except those that are words. */
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
 * Limits for untrusted code, in UTF-16 units, because the time of a grammar grows faster than the length of a line.
 * Longer lines and blocks stay plain, and so does the code of a prose beyond the last limit.
 */
const [LINE_MAX, BLOCK_MAX, PROSE_MAX] = [200, 20_000, 50_000];
/** Maximum number of loaded languages; the least recently used is dropped. All 43 would take 60 + 70 MB of memory. */
const LANGUAGES_MAX = 16;
/** A fence that names a language. Prose without one, which is most prose, is not parsed. */
const FENCE = /(?:```|~~~)[ \t]*[\w]/;

/** The colours for a prose's code, by Shiki's grammars. The result depends only on the text. */
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
    // Lets other work of the process run between two blocks.
    await new Promise(setImmediate);
  }
  return colours;
}

/** A part of a code block, and the class of its colour; null for the text colour. */
export type Span = [text: string, colour: string | null];

/** The spans of trusted code. Throws for an unsupported language. */
export async function colouredCode(code: string, language: string): Promise<Span[]> {
  const load = BY_NAME.get(language);
  if (load === undefined) throw new Error(`no grammar for ${language}`);
  return spansOf(await tokenized(code, load));
}

/** The spans of the lines of a code block. Adjacent spans of the same colour are joined. */
function spansOf(lines: ThemedToken[][]): Span[] {
  const spans: Span[] = [];
  const add = (text: string, colour: string | null): void => {
    const last = spans.at(-1);
    // White space takes the colour of what precedes it.
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
 * One highlighter per language, because Shiki's result for a language depends on the other languages that it has
 * loaded. `dispose` frees WebAssembly memory, so nothing may be awaited between `get` and the use of a highlighter.
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
  // The last language is the requested one; those before it are embedded in it. Time limits would make the result
  // depend on the machine.
  const options = { tokenizeMaxLineLength: LINE_MAX + 1, tokenizeTimeLimit: 0 };
  return codeToTokensBase(shiki, code, { lang: langs.at(-1)?.name ?? '', theme: THEME.name ?? '', ...options });
}

let engineStart: Promise<RegexEngine> | null = null;

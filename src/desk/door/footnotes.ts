import type { MarkdownIt, Token } from 'markdown-it';

/**
 * The name of a note: up to 64 characters without spaces, brackets and backslashes. Digits alone cite a fact. GitHub
 * allows longer names; the limit keeps the search for the closing bracket linear.
 */
const NAME = String.raw`\[\^(?!\d+\])[^\s[\]\\]{1,64}\]`;
const REFERENCE_HERE = new RegExp(NAME, 'y');
const DEFINITION_HERE = new RegExp(`${NAME}:[ \\t]*`, 'y');
const REFERENCE = new RegExp(NAME, 'g');
const DEFINITION = new RegExp(`^ {0,3}(${NAME}):`, 'gm');
/** Indentation of the later paragraphs of a note, in columns. */
const INDENT = 4;

type Env = { notes?: Set<string> };

/**
 * Footnotes in GitHub's syntax: `[^name]` refers to the note that a line `[^name]: text` begins. Tokens stay in the
 * order of the text, with `note_open` and `note_close` around each note; `withNotesLast` moves them. The package
 * markdown-it-footnote also accepts digits and `^[…]`, drops notes without a reference, and takes quadratic time.
 */
export function footnotes(md: MarkdownIt): void {
  md.block.ruler.before(
    'reference',
    'note',
    (state, line, end, silent) => {
      const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
      DEFINITION_HERE.lastIndex = start;
      const [opening] = DEFINITION_HERE.exec(state.src) ?? [];
      if (opening === undefined) return false;
      const max = state.eMarks[line] ?? 0;
      const after = state.skipEmptyLines(line + 1);
      const isEmpty = start + opening.length >= max && (after >= end || (state.sCount[after] ?? 0) < INDENT);
      // Notes are only recognized at the top level. Within quotes, lists and other notes, such a line ends the block
      // above it.
      if (silent) return !isEmpty && (state.level === 0 || (state.sCount[line] ?? 0) < state.blkIndent);
      // Parses it as a paragraph: CommonMark would treat the line as a link definition and hide it.
      if (isEmpty || state.level > 0) return md.block.ruler.getRules('').at(-1)?.(state, line, end, false) ?? false;
      const label = opening.trimEnd();
      const name = nameOf(md, label.slice(0, -1));
      (state.env as Env).notes ??= new Set();
      (state.env as Env).notes?.add(name);
      const open = state.push('note_open', '', 1);
      open.meta = { name, label };
      open.map = [line, line];
      const { bMarks, tShift, sCount, parentType } = state;
      const before = [bMarks[line], tShift[line], sCount[line]] as const;
      bMarks[line] = start + opening.length;
      tShift[line] = 0;
      sCount[line] = state.blkIndent + INDENT;
      state.blkIndent += INDENT;
      state.md.block.tokenize(state, line, end);
      state.blkIndent -= INDENT;
      state.parentType = parentType;
      [bMarks[line], tShift[line], sCount[line]] = before as [number, number, number];
      open.map[1] = state.line;
      state.push('note_close', '', -1);
      return true;
    },
    { alt: ['paragraph', 'reference', 'blockquote'] },
  );
  md.inline.ruler.before('link', 'note_reference', (state, silent) => {
    REFERENCE_HERE.lastIndex = state.pos;
    const [text] = REFERENCE_HERE.exec(state.src) ?? [];
    if (text === undefined) return false;
    const name = nameOf(md, text);
    if (!(state.env as Env).notes?.has(name)) return false;
    if (!silent) {
      const token = state.push('note_reference', 'sup', 0);
      token.meta = { name };
      token.content = text;
    }
    state.pos += text.length;
    return true;
  });
}

/** Names that differ only in case are the same, as on GitHub. */
const nameOf = (md: MarkdownIt, reference: string): string => md.utils.normalizeReference(reference);

/** One note as readers see it. */
export type Note = {
  /** a, b, … z, aa, ab …, in the order in which the text refers to them. */
  letter: string;
  /** How many references lead to it. */
  mentions: number;
};

/** The `meta` of a token of the type `note_reference`. */
export type Mention = {
  name: string;
  /** Null if it leads to no note and is shown as text. */
  note: Note | null;
  /** Counts from 1. */
  mention: number;
};

/**
 * Moves the notes behind the text, in the order of their first reference, between `notes_open` and `notes_close`. Each
 * begins with `note_open`, has a `note_back` at the end of its text, both with the `Note` as `meta`, and ends with
 * `note_close`. The `meta` of each reference is a `Mention`. Notes without a reference, and further notes of the same
 * name, stay in place as text.
 */
export function withNotesLast(md: MarkdownIt, tokens: Token[]): Token[] {
  if (!tokens.some(({ type }) => type === 'note_open')) return tokens;
  const { parts, found } = resolved(tokens);
  const rest = parts
    .filter((part) => !found.has(part))
    .flatMap((part) => (part.name === null ? part.tokens : asText(md, part)));
  if (found.size === 0) return rest;
  const token = (type: string, meta: unknown = null): Token => Object.assign(emptyToken(md, type), { meta });
  const notes = [...found].flatMap(([{ tokens }, note]) => {
    const isText = tokens.at(-1)?.type === 'paragraph_close';
    const [text, end] = isText ? [tokens.slice(0, -1), tokens.slice(-1)] : [tokens, []];
    return [token('note_open', note), ...text, token('note_back', note), ...end, token('note_close')];
  });
  return [...rest, token('notes_open'), ...notes, token('notes_close')];
}

/** The parts of a text and, of these, the notes that readers see, in order. Completes the `meta` of each reference. */
function resolved(tokens: Token[]): { parts: Part[]; found: Map<Part, Note> } {
  const parts = partsOf(tokens);
  const definitions = new Map<string | null, Part>();
  for (const part of parts) if (!definitions.has(part.name)) definitions.set(part.name, part);
  const found = new Map<Part, Note>();
  const refer = ({ tokens }: Part, isReached: boolean): void => {
    for (const token of references(tokens)) {
      const { name } = token.meta as Pick<Mention, 'name'>;
      const part = definitions.get(name);
      if (part !== undefined && isReached && !found.has(part))
        found.set(part, { letter: letterOf(found.size), mentions: 0 });
      const note = (part && found.get(part)) ?? null;
      token.meta = { name, note, mention: note === null ? 0 : ++note.mentions } satisfies Mention;
    }
  };
  for (const part of parts) if (part.name === null) refer(part, true);
  // Notes may refer to further notes. The loop reaches those too: a map also iterates over entries added meanwhile.
  for (const [part] of found) refer(part, true);
  for (const part of parts) if (part.name !== null && !found.has(part)) refer(part, false);
  return { parts, found };
}

/** A note, or the text between two notes; `name` is null for text. */
interface Part {
  name: string | null;
  /** As written, such as `[^tide]:`. */
  label: string;
  lines: readonly [number, number];
  tokens: Token[];
}

function partsOf(tokens: Token[]): Part[] {
  const text = (): Part => ({ name: null, label: '', lines: [0, 0], tokens: [] });
  const parts = [text()];
  for (const token of tokens) {
    if (token.type === 'note_open') {
      const { name, label } = token.meta as { name: string; label: string };
      parts.push({ name, label, lines: token.map ?? [0, 0], tokens: [] });
    } else if (token.type === 'note_close') parts.push(text());
    else parts.at(-1)?.tokens.push(token);
  }
  return parts;
}

/** The references in running text. References in a picture's description cannot be followed. */
function* references(tokens: Token[]): Iterable<Token> {
  for (const { children } of tokens) {
    for (const child of children ?? []) if (child.type === 'note_reference') yield child;
  }
}

/** A note without a reference, as it was written. */
function asText(md: MarkdownIt, { label, tokens }: Part): Token[] {
  const text = Object.assign(emptyToken(md, 'text'), { content: `${label} ` });
  const [open, inline, ...others] = tokens;
  if (open?.type === 'paragraph_open' && inline !== undefined) {
    return [open, Object.assign(inline, { children: [text, ...(inline.children ?? [])] }), ...others];
  }
  const [before, line, after] = md.parse('x', {});
  if (before === undefined || line === undefined || after === undefined) return tokens;
  return [before, Object.assign(line, { children: [text] }), after, ...tokens];
}

const emptyToken = (md: MarkdownIt, type: string): Token => new new md.core.State('', md, {}).Token(type, '', 0);

/** a to z, aa, ab …, as lists count letters. */
function letterOf(index: number): string {
  let letters = '';
  for (let n = index + 1; n > 0; n = Math.floor((n - 1) / 26)) {
    letters = String.fromCharCode(97 + ((n - 1) % 26)) + letters;
  }
  return letters;
}

/** A faulty reference or note as written, such as `[^tide]`, and its lines. */
export interface NoteFault {
  fault: 'unknown' | 'hidden' | 'unused' | 'twice';
  text: string;
  lines: readonly [first: number, end: number];
}

/** What readers cannot follow: references without a note, notes without a reference, names used twice. */
export function noteFaults(tokens: Token[]): NoteFault[] {
  const faults: NoteFault[] = [];
  let lines: NoteFault['lines'] = [0, 0];
  for (const { map, children } of tokens) {
    lines = map ?? lines;
    for (const child of children ?? []) {
      if (child.type === 'text')
        faults.push(
          ...(child.content.match(REFERENCE) ?? []).map((text) => ({ fault: 'unknown', text, lines }) as const),
        );
      if (child.type !== 'image') continue;
      faults.push(...[...references([child])].map(({ content: text }) => ({ fault: 'hidden', text, lines }) as const));
    }
  }
  const { parts, found } = resolved(tokens);
  const names = new Set<string>();
  for (const part of parts) {
    if (part.name === null) continue;
    if (!found.has(part)) {
      faults.push({
        fault: names.has(part.name) ? 'twice' : 'unused',
        text: part.label.slice(0, -1),
        lines: part.lines,
      });
    }
    names.add(part.name);
  }
  return faults;
}

/** Removes the references in an excerpt of a prose, because the excerpt may lack their notes. */
export function withoutReferences(text: string, prose: string): string {
  if (!text.includes('[^')) return text;
  const labels = new Set([...prose.matchAll(DEFINITION)].map(([, label]) => label));
  return text.replace(REFERENCE, (label) => (labels.has(label) ? '' : label));
}

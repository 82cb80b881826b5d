import { diffArrays } from 'diff';

/** A run of text that two versions share, or that only one of them has. */
export interface Segment {
  text: string;
  kind: 'same' | 'added' | 'removed';
}

/**
 * Maximum number of steps for comparing lines, and for comparing words: the number of items times the number of edits
 * searched for (Myers, "An O(ND) Difference Algorithm", 1986). Two versions of an article of 2,000 words need at most a
 * tenth of it.
 */
const STEPS_MAX = 4_000_000;

/** A word, a run of spaces, or one character: punctuation, or a letter of a script without spaces between words. */
const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]\p{M}*|[\p{L}\p{M}\p{N}]+|[^\S\n]+|./gsu;
const LINE = /[^\n]*\n|[^\n]+$/g;
const HAS_WORD = /[\p{L}\p{N}]/u;

/** Text that both versions share, possibly empty, and what follows it: what was removed there, and what was added. */
interface Part {
  same: string;
  removed: string;
  added: string;
}

/**
 * The difference between two texts: line by line, and word by word inside changed lines. Removed text comes before the
 * text that replaces it. The segments that are not `added` join to `before`; those that are not `removed` join to
 * `after`. If the texts differ too much to be compared in bounded time, whole lines are removed and added.
 */
export function textDifference(before: string, after: string): Segment[] {
  const [lines = []] = compared([{ before: before.match(LINE) ?? [], after: after.match(LINE) ?? [] }]);
  const parts = partsOf(lines);
  const words = compared(parts.map(({ removed, added }) => ({ before: wordsOf(removed), after: wordsOf(added) })));
  const changes = parts.map((part, index) => changedLines(part, words[index] ?? []));
  return partsOf(changes.flat()).flatMap(segmentsOf);
}

const wordsOf = (text: string): string[] => text.match(WORD) ?? [];

function segmentsOf({ same, removed, added }: Part): Segment[] {
  const all: Segment[] = [
    { text: same, kind: 'same' },
    { text: removed, kind: 'removed' },
    { text: added, kind: 'added' },
  ];
  return all.filter(({ text }) => text !== '');
}

/** Shows changed lines word by word, unless they have less than a third of their text in common. */
function changedLines(part: Part, words: Segment[]): Segment[] {
  const { same, removed, added } = part;
  const common = words.reduce((sum, { text, kind }) => (kind === 'same' ? sum + text.length : sum), 0);
  if (common * 3 < Math.min(removed.length, added.length)) return segmentsOf(part);
  // Spaces and punctuation between two changes count as changed, so that a phrase is replaced as a whole, not word by
  // word.
  const phrases = words.flatMap((segment, index) => {
    const { text, kind } = segment;
    const isScrap = kind === 'same' && !text.includes('\n') && !HAS_WORD.test(text);
    const isBetween = words[index - 1] !== undefined && words[index + 1] !== undefined;
    return isScrap && isBetween ? segmentsOf({ same: '', removed: text, added: text }) : segment;
  });
  return [{ text: same, kind: 'same' }, ...phrases];
}

/** Compares pairs of lists, within STEPS_MAX for all together. A pair with too many edits becomes a single change. */
function compared(pairs: { before: string[]; after: string[] }[]): Segment[][] {
  const size = pairs.reduce((sum, { before, after }) => sum + before.length + after.length, 1);
  const maxEditLength = Math.floor(STEPS_MAX / size);
  return pairs.map(({ before, after }) => {
    let start = 0;
    while (start < before.length && before[start] === after[start]) start++;
    let end = 0;
    const shorter = Math.min(before.length, after.length) - start;
    while (end < shorter && before.at(-1 - end) === after.at(-1 - end)) end++;
    const middle = { before: before.slice(start, before.length - end), after: after.slice(start, after.length - end) };
    const whole = { same: '', removed: middle.before.join(''), added: middle.after.join('') };
    const all: Segment[] = [
      { text: before.slice(0, start).join(''), kind: 'same' },
      ...(edits(middle.before, middle.after, maxEditLength) ?? segmentsOf(whole)),
      { text: before.slice(before.length - end).join(''), kind: 'same' },
    ];
    return all.filter(({ text }) => text !== '');
  });
}

/** The fewest edits from one list to the other; undefined if more than `maxEditLength`. Compares texts by number. */
function edits(before: string[], after: string[], maxEditLength: number): Segment[] | undefined {
  const numbers = new Map<string, number>();
  for (const text of [...before, ...after]) if (!numbers.has(text)) numbers.set(text, numbers.size);
  const numbered = (texts: string[]): (number | undefined)[] => texts.map((text) => numbers.get(text));
  const texts = [...numbers.keys()];
  return diffArrays(numbered(before), numbered(after), { maxEditLength })?.map(({ value, added, removed }) => ({
    text: value.map((number) => texts[number ?? -1]).join(''),
    kind: added ? 'added' : removed ? 'removed' : 'same',
  }));
}

/** Joins adjacent segments of one kind, and groups what was removed and added between two unchanged texts. */
function partsOf(segments: Segment[]): Part[] {
  const parts: Part[] = [];
  for (const { text, kind } of segments) {
    let part = parts.at(-1);
    if (part === undefined || (kind === 'same' && part.removed + part.added !== '')) {
      part = { same: '', removed: '', added: '' };
      parts.push(part);
    }
    part[kind] += text;
  }
  return parts;
}

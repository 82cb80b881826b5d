import { present } from '../../proof/narrow.ts';
/** A headline broken into lines, and its size. */
export interface Lines {
  /** In pixels. */
  size: number;
  lines: string[];
}

export interface Box {
  width: number;
  height: number;
  /** Sizes to try, largest first. */
  sizes: readonly number[];
  /** Line height, in ems. */
  leading: number;
}

/** A text that must not be broken, and whether a space precedes it. */
interface Unit {
  text: string;
  spaced: boolean;
}

/**
 * Sets a headline as large as the box allows, in balanced lines. If the smallest size is too large, cuts it with an …
 */
export function fitLines(text: string, language: string, box: Box, width: (part: string) => number): Lines {
  const units = unitsOf(text, language);
  for (const size of box.sizes) {
    const lines = balanced(units, box.width / size, width);
    if (lines.length <= room(box, size) && lines.every((line) => width(line) * size <= box.width))
      return { size, lines };
  }
  const size = present(box.sizes.at(-1));
  const measure = box.width / size;
  const fitting = pieces(units, measure - width('…'), width);
  for (let count = fitting.length; count > 0; count--) {
    const kept = count === fitting.length ? fitting : shortened(fitting.slice(0, count));
    const lines = wrap(kept, measure, width);
    if (lines.length <= room(box, size)) return { size, lines };
  }
  return { size, lines: [] };
}

function shortened(kept: Unit[]): Unit[] {
  const last = present(kept.pop());
  return [...kept, { ...last, text: `${last.text.replace(/[\p{P}\p{Z}]+$/u, '')}…` }];
}

function room(box: Box, size: number): number {
  return Math.floor(box.height / (size * box.leading));
}

const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]/u;
const STAYS_BEHIND = /^[\p{Pe}\p{Pf}\p{Po}\p{Script=Hiragana}ーァィゥェォッャュョ〜～％]+$/u;
const STAYS_AHEAD = /[\p{Ps}\p{Pi}]$/u;

/** Words or, in Japanese and Chinese, phrases: a line never begins with a particle or a closing mark. */
function unitsOf(text: string, language: string): Unit[] {
  const units: Unit[] = [];
  let spaced = false;
  for (const { segment } of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    if (/^\s+$/u.test(segment)) {
      spaced = true;
      continue;
    }
    const last = units.at(-1);
    const parted =
      last === undefined ||
      spaced ||
      ((EAST_ASIAN.test(segment) || EAST_ASIAN.test(last.text.slice(-1))) &&
        !STAYS_BEHIND.test(segment) &&
        !STAYS_AHEAD.test(last.text));
    if (parted) units.push({ text: segment, spaced });
    else last.text += segment;
    spaced = false;
  }
  return units;
}

/** Cuts the units that are wider than a line. */
function pieces(units: readonly Unit[], measure: number, width: (part: string) => number): Unit[] {
  return units.flatMap((unit) => {
    if (width(unit.text) <= measure) return [unit];
    const cut: Unit[] = [{ text: '', spaced: unit.spaced }];
    for (const { segment } of new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(unit.text)) {
      const last = present(cut.at(-1));
      if (last.text !== '' && width(last.text + segment) > measure) cut.push({ text: segment, spaced: false });
      else last.text += segment;
    }
    return cut;
  });
}

function wrap(units: readonly Unit[], measure: number, width: (part: string) => number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const unit of units) {
    const longer = line === '' ? unit.text : line + (unit.spaced ? ' ' : '') + unit.text;
    if (line !== '' && width(longer) > measure) {
      lines.push(line);
      line = unit.text;
    } else line = longer;
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** Balances the lines: finds the narrowest measure that needs no more lines than greedy filling. */
function balanced(units: readonly Unit[], measure: number, width: (part: string) => number): string[] {
  const filled = wrap(units, measure, width);
  let [narrow, wide] = [0, measure];
  let best = filled;
  for (let step = 0; step < 10; step++) {
    const middle = (narrow + wide) / 2;
    const lines = wrap(units, middle, width);
    if (lines.length > filled.length || lines.some((line) => width(line) > middle)) narrow = middle;
    else [wide, best] = [middle, lines];
  }
  return best;
}

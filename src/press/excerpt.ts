import { plainText } from '../ledger/prose.ts';

/** Markdown blocks other than paragraphs: headings, quotes, lists, code, tables, pictures, rules. */
const NO_PARAGRAPH = /^(?:#|>|[-*+] |\d+[.)] |```|~~~|\||!\[| {4}|\[\^|-{3}|\*{3})/;

/**
 * The start of a prose as one plain text of at most `max` UTF-16 units, cut at a word; empty without a paragraph. Skips
 * the dek when the prose begins with it.
 */
export function excerptOf(prose: string, max: number, dek = ''): string {
  const paragraphs: string[] = [];
  let length = 0;
  // Four times the length leaves room for markup and markers, and bounds the work for long prose.
  for (const block of prose.slice(0, max * 4).split(/\n{2,}/)) {
    if (block === '' || NO_PARAGRAPH.test(block)) continue;
    const text = plainText(block).replace(/\s+/g, ' ').trim();
    paragraphs.push(text);
    length += text.length;
    if (length > max) break;
  }
  const whole = paragraphs.join(' ');
  const text = dek !== '' && whole.startsWith(dek) ? whole.slice(dek.length).trimStart() : whole;
  if (text.length <= max) return text;
  const [last] = [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text.slice(0, max))].slice(-1);
  return `${text.slice(0, last?.index ?? max).trimEnd()}…`;
}

import { plainText } from '../door/prose.ts';

/** Markdown blocks other than paragraphs: headings, quotes, lists, code, tables, pictures, rules. */
const NO_PARAGRAPH = /^(?:#|>|[-*+] |\d+[.)] |```|~~~|\||!\[| {4}|\[\^|-{3}|\*{3})/;

/** At most `max` UTF-16 units of plain text, cut at a word, without the dek; empty without a paragraph. */
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

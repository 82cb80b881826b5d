import { proseHtml } from '../../../desk/press/prose-html.ts';
import type { Basis } from '../../../proof/basis.ts';

/** Elements whose content is not shown, or is not part of the text, such as forms and cards of linked pages. */
const UNSEEN = ['script', 'style', 'template', 'noscript', 'aside'];
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/**
 * The signed headline, summary and prose that a page does not show word for word. Ignores markup and spacing, and does
 * not notice text that is hidden by a style.
 */
export function pageTextFaults(html: string, { headline, dek, prose, cited_facts }: Basis): string[] {
  const page = letters(html);
  const signed = {
    headline: plain(headline),
    summary: plain(dek),
    text: letters(proseHtml(prose, cited_facts, (path) => path).html),
  };
  return Object.entries(signed)
    .filter(([, text]) => !page.includes(text))
    .map(([name]) => `the page does not show the ${name} that was signed`);
}

function plain(text: string): string {
  // Both sides are in NFC already, and normalizing a hostile page takes quadratic time.
  return text.replace(/\s+/g, '');
}

/** The characters that a page shows, without spaces. Takes linear time. */
export function letters(html: string): string {
  const parts: string[] = [];
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at);
    parts.push(html.slice(at, open < 0 ? undefined : open));
    if (open < 0) break;
    at = afterTag(html, open);
  }
  return plain(unescaped(parts.join('')));
}

/** The position after a tag, a comment, or an unseen element. */
function afterTag(html: string, open: number): number {
  const after = (end: string, from: number): number => {
    const at = html.indexOf(end, from);
    return at < 0 ? html.length : at + end.length;
  };
  if (html.startsWith('<!--', open)) return after('-->', open + 4);
  const name = /^[a-z]{0,12}/i.exec(html.slice(open + 1, open + 13))?.[0].toLowerCase() ?? '';
  return UNSEEN.includes(name) ? after('>', after(`</${name}`, open)) : after('>', open);
}

/** A text of HTML or XML with its character references replaced; unknown ones stay. */
export function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{1,8}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}

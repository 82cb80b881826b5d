import * as fc from '../../support/properties.ts';

/** Texts that break careless writers of XML, HTML, Markdown and JSON. */
const NASTY = [
  ']]>',
  ']]>]]>',
  '&amp;',
  '&amp;amp;',
  '&#0;',
  '&lt;',
  '<',
  '>',
  '&',
  '"',
  "'",
  '<!--',
  '-->',
  '</script>',
  '<![CDATA[',
  '<script>alert(1)</script>',
  '\u0000',
  '\u0008',
  '\u000b',
  '\u001f',
  '\u007f',
  '\u0085',
  '\ufeff',
  '\ufffe',
  '\uffff',
  '\ud800',
  '\udc00',
  '\u2028',
  '\u2029',
  '\r',
  '\r\n',
  '\n',
  '\t',
  '\u202e',
  '🌊',
  '潮',
  'ع',
  '[^1]',
  '[',
  ']',
  '(',
  '\\',
  '---',
  ': ',
  '# ',
  '${',
  '%',
  '{{',
];

const unit = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 });

/** Any text at all: words, all of Unicode, halves of pairs, and the nasty ones in any order. */
export const anyText = fc
  .array(fc.oneof(fc.constantFrom(...NASTY), unit, fc.lorem({ maxCount: 2 })), { minLength: 1, maxLength: 12 })
  .map((parts) => parts.join(''));

/** What a reader of XML 1.0 must get back: written anew from the Char production, not with the code under test. */
export function asXmlReads(text: string): string {
  let kept = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const allowed =
      code === 0x9 ||
      code === 0xa ||
      code === 0xd ||
      (code >= 0x20 && code <= 0xd7ff) ||
      (code >= 0xe000 && code <= 0xfffd) ||
      code >= 0x10000;
    if (allowed) kept += character;
  }
  return kept.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
}

/** Undoes the escaping of HTML text. */
export function unescapeHtml(html: string): string {
  return html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

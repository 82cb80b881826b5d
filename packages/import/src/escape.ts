/** Characters that XML 1.0 forbids even escaped (section 2.2): most controls, lone surrogates, U+FFFE, U+FFFF. */
const FORBIDDEN = /[^\t\n\r\u0020-\ufffd]|\p{Surrogate}/gu;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** A text without the characters that XML forbids: old editors left them in exports, and they are invisible. */
export const withoutForbidden = (text: string): string => text.replace(FORBIDDEN, '');

/** Escapes a text for HTML, between tags or in double quotes. Removes the characters that XML forbids. */
export function escapeText(text: string): string {
  return withoutForbidden(text)
    .replace(/\r\n?/g, '\n')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

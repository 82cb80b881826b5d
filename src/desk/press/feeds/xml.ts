/** XML 1.0 (section 2.2) forbids these even escaped, and lone surrogates: most controls, U+FFFE, U+FFFF. */
const FORBIDDEN = /[^\t\n\r\u0020-\ufffd]/g;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Removes characters that XML 1.0 forbids, and normalizes line ends (section 2.11). */
export function cleanText(text: string): string {
  const whole = text.isWellFormed() ? text : text.replace(LONE_SURROGATES, '');
  return whole.replace(FORBIDDEN, '').replace(/\r\n?/g, '\n');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for XML or HTML, between tags or in double quotes. */
export function escapeText(text: string): string {
  return cleanText(text).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** One element. Omits attributes without a value. `content` must be markup already. */
export function element(
  name: string,
  attributes: Record<string, string | number | null>,
  ...content: string[]
): string {
  let start = `<${name}`;
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null) start += ` ${key}="${escapeText(String(value))}"`;
  }
  return content.length === 0 ? `${start}/>` : `${start}>${content.join('')}</${name}>`;
}

export function textElement(name: string, text: string): string {
  return `<${name}>${escapeText(text)}</${name}>`;
}

export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

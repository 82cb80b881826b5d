/** The longest shortcode, in UTF-16 units. Anything longer is text. */
const SHORTCODE_MAX = 2_000;

/**
 * Replaces each shortcode between two delimiters with the result of `render`; null leaves it unchanged. Shortcodes do
 * not nest: one ends at the first closing delimiter. Takes linear time.
 */
export function replaced(text: string, open: string, close: string, render: (inner: string) => string | null): string {
  const parts: string[] = [];
  let written = 0;
  let end = -1;
  for (let start = text.indexOf(open); start >= 0; start = text.indexOf(open, start + 1)) {
    if (start < written) continue;
    const from = start + open.length;
    // An end that was found for an earlier start is also the end for this one.
    if (end < from) end = text.indexOf(close, from);
    if (end < 0) break;
    if (end - from > SHORTCODE_MAX) continue;
    const made = render(text.slice(from, end));
    if (made === null) continue;
    parts.push(text.slice(written, start), made);
    written = end + close.length;
  }
  parts.push(text.slice(written));
  return parts.join('');
}

const ATTRIBUTE = /([a-z][\w-]{0,40})[ \n]{0,4}=[ \n]{0,4}(?:"([^"]*)"|'([^']*)'|([^\s"'\]]+))/gi;

/** The named attributes of a shortcode. */
export function attributesOf(inner: string): Map<string, string> {
  const found = [...inner.matchAll(ATTRIBUTE)];
  return new Map(found.map(([, name = '', a, b, c]) => [name.toLowerCase(), a ?? b ?? c ?? '']));
}

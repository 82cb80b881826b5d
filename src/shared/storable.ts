/**
 * Why the database cannot hold a text exactly; null when it can. The driver reads a column only up to U+0000, and half
 * of a surrogate pair has no UTF-8 form: as JSON in a statement, it ends the process that reads it.
 */
export function unstorable(text: string): string | null {
  const zero = text.indexOf('\0');
  if (zero !== -1) return `holds U+0000 at character ${zero + 1}; leave it out`;
  return text.isWellFormed() ? null : 'holds half of a surrogate pair; send both halves';
}

/**
 * The first text in a JSON value, names of members included, that cannot be stored: its path, and why. With `zeros:
 * false`, U+0000 passes.
 */
export function firstUnstorable(
  value: unknown,
  { zeros = true } = {},
  path = '',
): { path: string; why: string } | null {
  const whyNot = (text: string) => unstorable(zeros ? text : text.replaceAll('\0', ''));
  if (typeof value === 'string') {
    const why = whyNot(value);
    return why === null ? null : { path, why };
  }
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const why = whyNot(name);
    if (why !== null) return { path, why: `has a member whose name ${why}` };
    const own = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    const found = firstUnstorable(member, { zeros }, own);
    if (found !== null) return found;
  }
  return null;
}

/** U+0000 and halves of surrogate pairs as `JSON.stringify` escapes them (ECMA-262, QuoteJSONString). */
const ESCAPED = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Whether JSON from `JSON.stringify` holds a text that cannot be stored. */
export function hasUnstorable(json: string): boolean {
  return json.includes('\\u') && ESCAPED.test(json);
}

/**
 * Bytes as ASCII text (RFC 1035, section 5.1): `\X` for a special character, `\DDD` for a byte that is not printable.
 */

function tableOf(signs: string, { lowerCase = false, blanks = true } = {}): readonly string[] {
  return Array.from({ length: 256 }, (_, byte) => {
    const sign = String.fromCharCode(byte);
    if (byte < 0x20 || byte > 0x7e || (byte === 0x20 && !blanks)) return `\\${String(byte).padStart(3, '0')}`;
    if (signs.includes(sign)) return `\\${sign}`;
    return lowerCase ? sign.toLowerCase() : sign;
  });
}

const LABEL = tableOf('\\."();@$', { lowerCase: true, blanks: false });
const TEXT = tableOf('\\');
const QUOTED = tableOf('\\"');
const BARE = tableOf('\\"();', { blanks: false });

/** A label of a name, in lower case, so that equal names are equal texts. */
export function escapeLabel(bytes: Uint8Array): string {
  return written(bytes, LABEL);
}

/** A string of a TXT record, without quotation marks. */
export function escapeText(bytes: Uint8Array): string {
  return written(bytes, TEXT);
}

export function escapeQuoted(bytes: Uint8Array): string {
  return `"${written(bytes, QUOTED)}"`;
}

/** A string in one word, without quotation marks. */
export function escapeBare(bytes: Uint8Array): string {
  return written(bytes, BARE);
}

function written(bytes: Uint8Array, table: readonly string[]): string {
  let text = '';
  for (const byte of bytes) text += table[byte];
  return text;
}

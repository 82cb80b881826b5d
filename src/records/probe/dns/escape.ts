/**
 * Bytes as ASCII text (RFC 1035, section 5.1): `\X` for a special character, `\DDD` for a byte that is not printable.
 */

function escaper(signs: string, { lowerCase = false, blanks = true } = {}): (bytes: Uint8Array) => string {
  const table = Array.from({ length: 256 }, (_, byte) => {
    const sign = String.fromCharCode(byte);
    if (byte < 0x20 || byte > 0x7e || (byte === 0x20 && !blanks)) return `\\${String(byte).padStart(3, '0')}`;
    if (signs.includes(sign)) return `\\${sign}`;
    return lowerCase ? sign.toLowerCase() : sign;
  });
  return (bytes) => {
    let text = '';
    for (const byte of bytes) text += table[byte];
    return text;
  };
}

/** Labels of names, in lower case, so that equal names become equal texts. */
export const escapeLabel = escaper('\\."();@$', { lowerCase: true, blanks: false });
/** Strings of TXT records, shown without quotation marks. */
export const escapeText = escaper('\\');
/** Strings shown within quotation marks. */
export const escapeQuoted = escaper('\\"');
/** Strings shown as one word without quotation marks. */
export const escapeBare = escaper('\\"();', { blanks: false });

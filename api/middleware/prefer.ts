/** A quoted string (RFC 9110, section 5.6.4), which may contain any of the delimiters. */
const QUOTED = /"(?:[^"\\]|\\.)*"?/gs;
/** The preference without a value, or with an empty one, which means the same (RFC 7240, section 2). */
const PAYMENT = /^payment *(?:= *)?$/i;

/** Whether a `Prefer` header asks to pay for the answer. Other preferences are ignored. */
export function prefersPayment(header: string | undefined): boolean {
  if (header === undefined) return false;
  const plain = header.replaceAll(QUOTED, (text) => (text === '""' ? '' : 'quoted'));
  return plain.split(',').some((preference) => PAYMENT.test((preference.split(';')[0] ?? '').trim()));
}

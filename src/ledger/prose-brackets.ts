/**
 * Maximum number of characters within square brackets, counted once per open bracket. The parser scans from every
 * open bracket to its end, so this is the cost of parsing a prose. A prose of 400,000 characters, all of them in
 * linked pictures, reaches 800,000.
 */
export const BRACKETED_MAX = 2_000_000;

/** The number of characters within square brackets. An unclosed bracket extends to the end of the text. */
export function bracketed(text: string): number {
  let total = 0;
  const open: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x5b) open.push(at);
    else if (code === 0x5d) total += at - (open.pop() ?? at);
  }
  for (const at of open) total += text.length - at;
  return total;
}

/** Splits a line of the tape: what happened to which signal, and the values, the earlier one first. */
export function tapeWords(domain: string, line: string): { what: string; values: string[] } {
  const rest = line.slice(domain.length + 1);
  const colon = rest.indexOf(': ');
  if (colon < 0) return { what: rest, values: [] };
  return { what: rest.slice(0, colon), values: rest.slice(colon + 2).split(' → ') };
}

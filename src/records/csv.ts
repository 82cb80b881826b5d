/** A value of a cell. A list goes as JSON: one cell, whatever its values hold. */
export type Cell = string | number | null | readonly string[];

/** What a spreadsheet takes for a formula (OWASP, "CSV injection"). */
const FORMULA = /^[=+\-@\t\r]/;

/** One line of CSV (RFC 4180). A text that a spreadsheet would take for a formula has an apostrophe before it. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

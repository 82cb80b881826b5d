import { ArchiveError } from './archive-error.ts';

/** The rows of a text in CSV (RFC 4180) as objects by its first row. Throws `ArchiveError` for an open quote. */
export function csvRows(text: string, file: string): Record<string, string>[] {
  const [header = [], ...rows] = csvCells(text.replace(/^\ufeff/, ''), file);
  return rows
    .filter((row) => row.length > 1 || row[0] !== '')
    .map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ''])));
}

function csvCells(text: string, file: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at <= text.length; ) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; ; ) {
        const end = text.indexOf('"', at);
        if (end < 0)
          throw new ArchiveError(
            `${file} has a quote that is never closed, in row ${rows.length + 1}; get the export again`,
          );
        cell += text.slice(at, end);
        at = end + 1;
        if (text[at] !== '"') break;
        cell += '"';
        at++;
      }
    }
    const end = endOfCell(text, at);
    row.push(cell + text.slice(at, end));
    if (text[end] !== ',') {
      rows.push(row);
      row = [];
    }
    at = end + (text.startsWith('\r\n', end) ? 2 : 1);
  }
  return rows;
}

const END = /[,\r\n]/g;

function endOfCell(text: string, at: number): number {
  END.lastIndex = at;
  return END.exec(text)?.index ?? text.length;
}

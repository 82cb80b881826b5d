import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The table of docs/failures.md. Each test fills a row with what it saw; UPDATE=1 writes it, and the formatter aligns it.

const FILE = fileURLToPath(new URL('../../docs/failures.md', import.meta.url));

/** What a failure does. Each text stands in the table as it is. */
export interface Row {
  failure: string;
  readers: string;
  writers: string;
  /** Where it is told. */
  told: string;
  /** What catches up, and how soon. */
  after: string;
}

/** Compares a row with the document. */
export function documented({ failure, readers, writers, told, after }: Row): void {
  const row = [`**${failure}**`, readers, writers, told, after].join(' | ');
  const text = readFileSync(FILE, 'utf8');
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`| **${failure}** `));
  if (process.env.UPDATE === '1') {
    const end = lines.findLastIndex((line) => line.startsWith('| ')) + 1;
    if (at === -1) lines.splice(end, 0, `| ${row} |`);
    else lines[at] = `| ${row} |`;
    writeFileSync(FILE, lines.join('\n'));
    return;
  }
  assert.equal(cells(lines[at] ?? ''), row, 'docs/failures.md says otherwise; UPDATE=1 writes what was seen');
}

/** The cells of a row, without what aligns them. */
function cells(line: string): string {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
    .join(' | ');
}

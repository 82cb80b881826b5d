import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/proof/time.ts';
import { plural } from '../../src/shared/plural.ts';

// The table of docs/failures.md. Each test fills a row with what it saw; UPDATE=1 writes it, and the formatter aligns it.

const FILE = fileURLToPath(new URL('../../docs/failures.md', import.meta.url));

/** What a failure does. Each text stands in the table as it is. */
export interface Row {
  failure: string;
  readers: string;
  writers: string;
  /** Where it is told. */
  told: string;
  /** What catches up, and how soon: what the test has seen, and pauses as the program has them. */
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

const SPANS = [
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
] as const;

/** A span of time as the table says it, such as `5 minutes`; days are rounded down. */
export function span(ms: number): string {
  const [unit, name] = SPANS.find(([least]) => ms >= least) ?? [SECOND, 's'];
  const count = Math.floor(ms / unit);
  return name === 's' ? `${count} s` : plural(count, name);
}

/** How something is tried again, by the pauses that the program makes after so many failures, from 1. */
export function pauses(pause: (failures: number) => number): string {
  const [first, longest] = [pause(1), pause(1_000)];
  for (let n = 1; pause(n) < longest; n++) assert.equal(pause(n + 1), Math.min(2 * pause(n), longest));
  return `after ${span(first)}, then at pauses that double, ${span(longest)} at most`;
}

import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

/** One figure: ours beside another's. */
export interface Figure {
  what: string;
  ours: string;
  other: string;
  /** Null where there is nothing to compare. */
  ratio: number | null;
  budget: string;
  /** Null where there is no budget. */
  holds: boolean | null;
}

/** Lines on standard error while the benchmark runs. */
export function note(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

export function millis(ms: number): string {
  return `${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
}

export function aSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString('en')}/s`;
}

/** What the figures were taken on; the load shows whether anything else ran. */
export function machine(): string {
  const model = cpus()[0]?.model ?? 'unknown processor';
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${availableParallelism()} cores (${model}), ${memory} GB, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)} before`;
}

const HEADINGS = ['what', 'ours', 'other', 'ratio', 'budget', 'holds'];

export function printTable(figures: Figure[]): void {
  const rows = figures.map(({ what, ours, other, ratio, budget, holds }) => [
    what,
    ours,
    other,
    ratio === null ? '' : ratio.toFixed(ratio < 0.1 ? 3 : 2),
    budget,
    holds === null ? '' : holds ? 'yes' : 'NO',
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  process.stdout.write(
    `${[line(HEADINGS), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')}\n`,
  );
}

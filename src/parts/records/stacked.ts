import { scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';

/** The height of a drawing in its own units; it is stretched to its frame. */
export const HEIGHT = 100;
/** So few columns are narrower than their room, so that one day is no wall. */
const FEW = 10;

/** Columns of counts that stand on one another, in units of which a column is ten wide and `HEIGHT` high. */
export interface Stacked {
  y(count: number): number;
  /** Round numbers on the scale, from 0 up. */
  ticks: number[];
  /** The left edge and the width of each bar. */
  x(column: number): number;
  width: number;
  /** For each column, its bars from the bottom up, without the empty ones. */
  bars: { part: number; y: number; height: number }[][];
}

const rounded = (at: number) => Math.round(at * 100) / 100;

/** `counts` has a row for each column and a number for each part; `most` is to fit, as the tallest column does. */
export function stacked(counts: readonly number[][], most = 0): Stacked {
  const parts = counts[0]?.length ?? 0;
  const tallest = counts.reduce(
    (top, row) =>
      Math.max(
        top,
        row.reduce((sum, count) => sum + count, 0),
      ),
    most,
  );
  const y = scaleLinear([0, Math.max(4, tallest)], [HEIGHT, 0]).nice(4);
  const layers = stack<number[], number>()
    .keys(Array.from({ length: parts }, (_, part) => part))
    .value((row, part) => row[part] ?? 0)([...counts]);
  const gap = counts.length <= FEW ? 5 : counts.length > 60 ? 1.2 : 2;
  return {
    y,
    ticks: y.ticks(4).filter(Number.isInteger),
    x: (column) => rounded(column * 10 + gap / 2),
    width: rounded(10 - gap),
    bars: counts.map((_, column) =>
      layers.flatMap((layer, part) => {
        const [from, to] = layer[column] ?? [0, 0];
        return from === to ? [] : [{ part, y: rounded(y(to)), height: rounded(y(from) - y(to)) }];
      }),
    ),
  };
}

import { scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';

/** The height of a chart in its own units; it is stretched to fit its frame. */
export const HEIGHT = 100;
/** Up to this many columns are narrower than their room, so that a single day does not fill the chart. */
const FEW = 10;

/** A stacked column chart. Each column has ten units of width, and the chart is `HEIGHT` units high. */
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

/** `counts` has a row per column and a number per part. The scale reaches at least `most`. */
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

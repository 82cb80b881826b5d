import { type Bench, pressedPaper } from './paper.ts';
import type { Figure } from './table.ts';

const MOST = 600;

/** The most memory that a full press of the largest paper holds at a time. */
export async function memoryPart(bench: Bench): Promise<Figure[]> {
  const [least = 0, size = 0] = [Math.min(...bench.sizes), Math.max(...bench.sizes)];
  const small = mega((await pressedPaper(bench, least)).pressed.peak);
  const large = mega((await pressedPaper(bench, size)).pressed.peak);
  return [
    {
      what: `memory of a full press of ${size} pieces, at its peak : of ${least}`,
      ours: `${large} MB`,
      other: `${small} MB`,
      ratio: large / small,
      budget: `≤ ${MOST} MB`,
      holds: size === 100_000 ? large <= MOST : null,
    },
  ];
}

/** NaN where the system does not say. */
function mega(bytes: number | null): number {
  return bytes === null ? Number.NaN : Math.round(bytes / 1e6);
}

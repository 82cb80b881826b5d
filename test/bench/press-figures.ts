import type { Ran } from './child.ts';
import { type Figure, median, seconds } from './table.ts';
import type { Written } from './written.ts';

export type Disk = 'memory' | 'disk';

/** One turn of a side: a cold press, then a warm one. */
export interface Turn {
  cold: Ran;
  warm: Ran;
  /** How long the cold one took until its files were synced to the disk too, in ms; ours always syncs. */
  synced?: number | null;
}

interface Turns {
  size: number;
  disk: Disk;
  ours: Turn[];
  /** Those of Hugo; none where it was left out. */
  others: Turn[];
  hugo: string | null;
}

/** The sizes that have budgets. A smaller press is mostly the start of the process. */
const [BUDGETED, LARGE] = [10_000, 100_000];
const PEAK_MAX = 500;

/** The most that ours may take of Hugo's time. */
function mostOf(size: number, disk: Disk, state: 'cold' | 'warm', time: 'wall' | 'cpu'): number | null {
  if (size < BUDGETED) return null;
  if (disk === 'memory') return state === 'cold' ? 1.3 : 0.8;
  if (time === 'cpu') return null;
  if (size < LARGE) return 1.5;
  return state === 'cold' ? 0.8 : null;
}

/** Wall and processor times, cold and warm, and the memory that the cold press took. */
export function pressFigures({ size, disk, ours, others, hugo }: Turns): Figure[] {
  const figures: Figure[] = [];
  const where = disk === 'memory' ? 'a memory disk' : 'the disk';
  const row = (what: string, mine: (turn: Turn) => number | null, other = mine, most: number | null = null) => {
    const [here, there] = [medianOf(ours, mine), medianOf(others, other)];
    if (here === null) return;
    const ratio = there === null ? null : here / there;
    figures.push({
      what,
      ours: seconds(here),
      other: there === null ? '' : seconds(there),
      ratio,
      budget: most === null ? '' : `≤ ${most}`,
      holds: most === null || ratio === null ? null : ratio <= most,
    });
  };
  for (const state of ['cold', 'warm'] as const) {
    const beside = hugo === null ? '' : ` : ${hugo}`;
    row(
      `full press of ${size} pieces on ${where}, ${state}${beside}`,
      (turn) => turn[state].wall,
      undefined,
      mostOf(size, disk, state, 'wall'),
    );
    row('  the same in processor time', (turn) => turn[state].cpu, undefined, mostOf(size, disk, state, 'cpu'));
    if (state === 'cold' && disk === 'disk' && others.length > 0) {
      row(
        '  the same with Hugo’s files synced, as ours are',
        (turn) => turn.cold.wall,
        (turn) => turn.synced ?? null,
      );
    }
  }
  const peak = medianOf(ours, (turn) => turn.cold.peak);
  const theirs = medianOf(others, (turn) => turn.cold.peak);
  if (peak !== null) {
    figures.push({
      what: '  the most memory that the cold one held',
      ours: mega(peak),
      other: theirs === null ? '' : mega(theirs),
      ratio: theirs === null ? null : peak / theirs,
      budget: size === LARGE ? `< ${PEAK_MAX} MB` : '',
      holds: size === LARGE ? peak < PEAK_MAX * 1e6 : null,
    });
  }
  return figures;
}

/** What each side writes for so many pieces. */
export function writtenFigures(size: number, ours: Written, hugo: Written | null): Figure[] {
  const row = (what: string, count: (written: Written) => string): Figure => ({
    what,
    ours: count(ours),
    other: hugo === null ? '' : count(hugo),
    ratio: null,
    budget: '',
    holds: null,
  });
  const number = (value: number) => value.toLocaleString('en');
  return [
    row(`written for ${size} pieces: files`, ({ files }) => number(files)),
    row('  bytes', ({ bytes }) => mega(bytes)),
    row('  pages of stories', ({ stories }) => number(stories)),
    row('  embeds (two addresses), Markdown and proofs of stories', ({ besideStories }) => number(besideStories)),
    row('  pages of sections', ({ sections }) => number(sections)),
    row('  pages of days', ({ days }) => number(days)),
    row('  feeds of the paper and of sections', ({ feeds }) => number(feeds)),
  ];
}

/** Null where a turn has no value, or there was none. */
function medianOf(turns: Turn[], value: (turn: Turn) => number | null): number | null {
  const values = turns.map(value).filter((one) => one !== null);
  return values.length < turns.length || turns.length === 0 ? null : median(values);
}

function mega(bytes: number): string {
  return `${Math.round(bytes / 1e6).toLocaleString('en')} MB`;
}

import type { KeyDay } from '../meter/meter-table.ts';
import type { Usage } from '../meter/usage.ts';

/** Columns of parts that stand on one another, one a day, oldest first. */
export interface UsageChart {
  /** What the parts are, from the bottom up, and their classes in the drawing. */
  parts: { name: string; look: string }[];
  days: { day: string; counts: number[]; total: number }[];
  /** The days that are named below the drawing: each of few, Mondays of a month, the 1st and 15th of more. */
  marks: number[];
  /** The day with the most requests; null without any. */
  top: { day: string; total: number } | null;
  /** The day's allowance where it fits into the drawing; null where it is far above every column. */
  limit: number | null;
  total: number;
}

/** How many keys have a part of their own; the others are drawn as one. */
const KEYS_DRAWN = 4;
/** The allowance is drawn where the tallest column reaches at least this part of it. */
const LIMIT_NEAR = 0.25;

/** So many days are named one by one, and so many by their Mondays. */
const [FEW, WEEKS] = [10, 45];

function isMarked(day: string, of: number): boolean {
  if (of <= FEW) return true;
  return of <= WEEKS ? new Date(day).getUTCDay() === 1 : /-(?:01|15)$/.test(day);
}

/** Requests by what paid for them, below the `allowance` of a day. */
export function chartOfOutcomes(days: Usage['days'], allowance: number): UsageChart {
  const parts = [
    { name: 'included', look: 'included' },
    { name: 'on credits', look: 'drawn' },
    { name: 'refused', look: 'refused' },
  ];
  const rows = days.map(({ day, included, on_credits, refused }) => ({ day, counts: [included, on_credits, refused] }));
  return chartOf(parts, rows, allowance);
}

/**
 * The counted requests of each day by key: the four that had most, the others as one, and those without a key, which are
 * downloads on the pages of the account.
 */
export function chartOfKeys(days: Usage['days'], used: readonly KeyDay[]): UsageChart {
  const names = new Map<string, string>();
  const sums = new Map<string, number>();
  const byDay = new Map(days.map(({ day }) => [day, new Map<string, number>()]));
  for (const { key, name, day, units } of used) {
    const keys = byDay.get(day);
    if (keys === undefined) continue;
    names.set(key, name);
    sums.set(key, (sums.get(key) ?? 0) + units);
    keys.set(key, units);
  }
  const ranked = [...sums].filter(([, sum]) => sum > 0).sort(([, a], [, b]) => b - a);
  const drawn = ranked.slice(0, KEYS_DRAWN).map(([key]) => key);
  const rows = days.map(({ day, units }) => {
    const keys = byDay.get(day) ?? new Map<string, number>();
    const own = drawn.map((key) => keys.get(key) ?? 0);
    const ofKeys = [...keys.values()].reduce((sum, count) => sum + count, 0);
    const others = ofKeys - own.reduce((sum, count) => sum + count, 0);
    return { day, counts: [...own, others, Math.max(0, units - ofKeys)] };
  });
  const parts = [
    ...drawn.map((key, n) => ({ name: names.get(key) ?? '', look: `key-${n + 1}` })),
    { name: 'other keys', look: 'key-others' },
    { name: 'downloads here', look: 'key-none' },
  ];
  return withoutEmpty(chartOf(parts, rows, null));
}

/** Leaves out the parts that are zero on every day. */
function withoutEmpty(chart: UsageChart): UsageChart {
  const kept = chart.parts.map((_, part) => chart.days.some(({ counts }) => (counts[part] ?? 0) > 0));
  const of = <T>(list: T[]) => list.filter((_, part) => kept[part]);
  return { ...chart, parts: of(chart.parts), days: chart.days.map((day) => ({ ...day, counts: of(day.counts) })) };
}

function chartOf(
  parts: UsageChart['parts'],
  rows: { day: string; counts: number[] }[],
  allowance: number | null,
): UsageChart {
  const days = rows.map((row) => ({ ...row, total: row.counts.reduce((sum, count) => sum + count, 0) }));
  const most = Math.max(0, ...days.map(({ total }) => total));
  const limit = allowance !== null && most >= allowance * LIMIT_NEAR ? allowance : null;
  const total = days.reduce((sum, day) => sum + day.total, 0);
  const marks = [...days.keys()].filter((at) => isMarked(days[at]?.day ?? '', days.length));
  return { parts, days, marks, top: days.find((day) => total > 0 && day.total === most) ?? null, limit, total };
}

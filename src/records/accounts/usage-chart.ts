import type { KeyDay } from '../meter/meter-table.ts';
import type { Usage } from '../meter/usage.ts';

/** A stacked column chart, one column per day, oldest first. */
export interface UsageChart {
  /** The parts of a column from the bottom up, with their CSS classes. */
  parts: { name: string; look: string }[];
  days: { day: string; counts: number[]; total: number }[];
  /** Indexes of the days labelled below the chart: all of up to 10, Mondays of up to 45, else the 1st and 15th. */
  marks: number[];
  /** The day with the most requests; null without any. */
  top: { day: string; total: number } | null;
  /** The daily allowance, drawn as a line; null when it is far above every column. */
  limit: number | null;
  total: number;
}

/** How many keys have a part of their own; the rest are drawn as one part. */
const KEYS_DRAWN = 4;
/** The allowance is drawn if the tallest column reaches at least this fraction of it. */
const LIMIT_NEAR = 0.25;

/** Up to `FEW` days, each is labelled; up to `WEEKS` days, each Monday. */
const [FEW, WEEKS] = [10, 45];

function isMarked(day: string, of: number): boolean {
  if (of <= FEW) return true;
  return of <= WEEKS ? new Date(day).getUTCDay() === 1 : /-(?:01|15)$/.test(day);
}

/** Requests by what paid for them, against the daily `allowance`. */
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
 * Counted requests per day and key: the four busiest keys, all others as one part, and requests without a key, which
 * are downloads from the account's pages.
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

/** Drops the parts that are zero on every day. */
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

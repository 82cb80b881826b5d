import type { Usage } from '../meter/usage.ts';

/** The heights of a day's stacked bar, in percent of the chart. */
export interface UsageBar {
  day: string;
  /** The day's numbers in words. */
  title: string;
  included: number;
  drawn: number;
  refused: number;
}

/** The bars of a chart, and the number of requests at its top: 1, 2 or 5 times a power of ten. */
export function usageBars(days: Usage['days']): { bars: UsageBar[]; scale: number } {
  const most = Math.max(1, ...days.map(({ included, on_credits, refused }) => included + on_credits + refused));
  const scale = roundUp(most);
  const height = (count: number) => Math.round((count / scale) * 10_000) / 100;
  const bars = days.map(({ day, included, on_credits, refused }) => ({
    day,
    title: `${day}: ${included} included, ${on_credits} on credits, ${refused} refused`,
    included: height(included),
    drawn: height(on_credits),
    refused: height(refused),
  }));
  return { bars, scale };
}

function roundUp(count: number): number {
  const power = 10 ** Math.floor(Math.log10(count));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= count) ?? count;
}

import * as z from 'zod';

const DAY = 86_400_000;

/** The UTC day of a time, as YYYY-MM-DD. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Whether a text is a day of the calendar, as YYYY-MM-DD. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
}

/** The ms in which a day begins and in which the next one does. */
export function daySpan(day: string): { from: number; until: number } {
  const from = Date.parse(`${day}T00:00:00Z`);
  return { from, until: from + DAY };
}

/** A day with pieces (spec, "Day row"). */
export const DayRow = z
  .object({
    day: z.iso.date().meta({ description: 'A UTC day.' }),
    count: z.int().min(1).meta({ description: 'How many pieces went on air that day.' }),
    url: z.url().meta({ description: 'The back issue’s page.' }),
  })
  .meta({ id: 'Day', example: { day: '2026-11-20', count: 3, url: 'https://example.org/days/2026-11-20/' } });
export type DayRow = z.infer<typeof DayRow>;

export function dayRow({ day, count }: { day: string; count: number }, root: string): DayRow {
  return { day, count, url: `${root}/days/${day}/` };
}

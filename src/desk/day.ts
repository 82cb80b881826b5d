import * as z from 'zod';

/** A day with pieces. */
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

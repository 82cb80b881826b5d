/** The months (YYYY-MM) of the given days, newest first, each with all its days from the 1st. Weekday 1 is Monday. */
export function months(days: { day: string; count: number; url: string }[]) {
  const byMonth = Map.groupBy(days, ({ day }) => day.slice(0, 7));
  return [...byMonth]
    .toSorted(([a], [b]) => (a < b ? 1 : -1))
    .map(([month, printed]) => {
      const byDay = new Map(printed.map((one) => [one.day, one]));
      const [year = 0, number = 1] = month.split('-').map(Number);
      const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
      return {
        month,
        count: printed.reduce((sum, { count }) => sum + count, 0),
        days: Array.from({ length }, (_, index) => {
          const day = `${month}-${String(index + 1).padStart(2, '0')}`;
          const found = byDay.get(day);
          return {
            date: index + 1,
            day,
            weekday: new Date(`${day}T00:00:00Z`).getUTCDay() || 7,
            count: found?.count ?? 0,
            url: found?.url ?? null,
          };
        }),
      };
    });
}

/** How full a day is relative to the fullest one, from 1 to 4. */
export const fullness = (count: number, most: number): number =>
  Math.max(1, Math.ceil((4 * count) / Math.max(1, most)));

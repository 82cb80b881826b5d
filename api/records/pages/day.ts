import type { AppContext } from '../../../src/app/context.ts';
import { Fault } from '../../../src/fault.ts';
import type { DayBar } from '../../../src/records/views.ts';
import { dayAfter, parseSpan } from '../../../src/time.ts';

/**
 * The day in a path, up to today. Throws `invalid_request` for an invalid date, `not_found` for a day in the future.
 */
export function requireDay(text: string, today: string): string {
  const shown = JSON.stringify(text.slice(0, 40));
  if (text.length !== 10 || parseSpan(text) === null) {
    throw new Fault('invalid_request', `${shown} is not a valid date; write it like ${today}`, {
      field: 'date',
    });
  }
  if (text > today) throw new Fault('not_found', `${text} is in the future; today is ${today} (UTC)`);
  return text;
}

/** The number of changes on each of the last `days` days up to today, oldest first, without gaps. */
export function dayBars({ store }: Pick<AppContext, 'store'>, today: string, days: number): DayBar[] {
  const from = dayAfter(today, 1 - days);
  const counts = new Map<string, number>();
  for (const { day, count } of store.records.changesByDay(from, dayAfter(today))) {
    counts.set(day, (counts.get(day) ?? 0) + count);
  }
  return Array.from({ length: days }, (_, index) => dayAfter(from, index)).map((day) => ({
    day,
    count: counts.get(day) ?? 0,
  }));
}

import { dayOf, daysUpTo, isoTime, monthOf, nextDayAt, nextMonthAt } from '../../proof/time.ts';
import { type AccountUsage, type Counts, dayAllowance, monthAllowance, unitsOf } from './account-usage.ts';
import { creditsOf, REQUEST_COST } from './credits.ts';
import type { KeyUsage, UsageDay } from './meter-table.ts';

export const USAGE_DAYS_MAX = 366;

interface NamedKey {
  id: string;
  name: string;
  revoked_at: number | null;
}

/** Times in ISO 8601, amounts in credits. */
export type Usage = ReturnType<typeof usageOf>;

/** Today, the month, credits, and each of the last `span` days. Leaves out revoked keys without requests this month. */
export function usageOf(
  usage: AccountUsage,
  { days, keys, used, span }: { days: UsageDay[]; keys: NamedKey[]; used: KeyUsage[]; span: number },
) {
  const { at, terms, today, month, balance } = usage;
  const midnight = isoTime(nextDayAt(at));
  const day = dayAllowance(usage);
  const monthly = terms.plan === 'monthly' ? monthAllowance(usage) : { allowance: null, remaining: null };
  return {
    at: isoTime(at),
    plan: terms.plan,
    burst: terms.burst,
    today: { day: dayOf(at), ...countsOf(today), ...day, resets_at: midnight },
    month: { month: monthOf(at), ...countsOf(month), ...monthly, resets_at: isoTime(nextMonthAt(at)) },
    credits: {
      cost_per_request: creditsOf(REQUEST_COST),
      allowance: creditsOf(day.allowance * REQUEST_COST),
      used: creditsOf(unitsOf(today) * REQUEST_COST),
      remaining: creditsOf(day.remaining * REQUEST_COST),
      resets_at: midnight,
      balance: creditsOf(balance),
    },
    keys: keysOf(keys, used),
    days: daysOf(days, at, span),
  };
}

function countsOf(counts: Counts) {
  const { included, drawn, refused, failed } = counts;
  return { units: unitsOf(counts), included, on_credits: drawn, refused, failed };
}

function keysOf(keys: NamedKey[], used: KeyUsage[]) {
  const byKey = new Map(used.map((row) => [row.key, row]));
  return keys
    .filter(({ id, revoked_at }) => revoked_at === null || byKey.has(id))
    .map(({ id, name, revoked_at }) => {
      const { today, month } = byKey.get(id) ?? { today: 0, month: 0 };
      return { id, name, revoked: revoked_at !== null, today, month };
    });
}

/** Every day of the span, oldest first, including those without requests, so that charts have no gaps. */
function daysOf(days: UsageDay[], at: number, span: number) {
  const byDay = new Map(days.map((row) => [row.day, row]));
  const none: Counts = { included: 0, drawn: 0, refused: 0, failed: 0 };
  return daysUpTo(at, span).map((day) => ({ day, ...countsOf(byDay.get(day) ?? none) }));
}

import { dayOf, daysUpTo } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';
import { type Usage, usageOf } from './meter/usage.ts';

/** The usage of an account over the last `span` days; null when the account does not exist. */
export function usageNow({ store, settings, clock: { now } }: AppContext, account: string, span: number): Usage | null {
  const at = now();
  const usage = store.records.meter.usage(account, at, settings.keyedDaily);
  if (usage === null) return null;
  return usageOf(usage, {
    days: store.records.meter.days(account, daysUpTo(at, span)[0] ?? dayOf(at)),
    keys: store.records.serviceKeys.list(account),
    used: store.records.meter.keys(account, at),
    span,
  });
}

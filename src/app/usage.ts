import type { Usage } from '../meter/usage.ts';
import { usageOf } from '../meter/usage.ts';
import { dayOf, daysUpTo } from '../time.ts';
import type { AppContext } from './context.ts';

/** The usage of an account over the last `span` days; null when there is no such account. */
export function usageNow({ store, settings, now }: AppContext, account: string, span: number): Usage | null {
  const at = now();
  const standing = store.meter.standing(account, at, settings.keyedDaily);
  if (standing === null) return null;
  return usageOf(standing, {
    days: store.meter.days(account, daysUpTo(at, span)[0] ?? dayOf(at)),
    keys: store.serviceKeys.list(account),
    used: store.meter.keys(account, at),
    span,
  });
}

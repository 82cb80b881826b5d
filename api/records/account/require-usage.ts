import type { AppContext } from '../../../src/app/context.ts';
import { usageNow } from '../../../src/app/usage.ts';
import { Fault } from '../../../src/fault.ts';
import type { Usage } from '../../../src/meter/usage.ts';

/** The usage of an account over some days. Throws `not_found` when the account was deleted meanwhile. */
export function requireUsage(app: AppContext, account: string, days: number): Usage {
  const usage = usageNow(app, account, days);
  if (usage === null) throw new Fault('not_found', 'this account was deleted');
  return usage;
}

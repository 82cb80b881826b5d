import { usageNow } from '../../../src/app/usage.ts';
import { Fault } from '../../../src/fault.ts';
import type { Usage } from '../../../src/meter/usage.ts';
import type { AccountDoors } from './pages.ts';

/** The usage of an account over some days. Throws `not_found` when the account was deleted meanwhile. */
export function needUsage({ app }: AccountDoors, account: string, days: number): Usage {
  const usage = usageNow(app, account, days);
  if (usage === null) throw new Fault('not_found', 'this account is no more');
  return usage;
}

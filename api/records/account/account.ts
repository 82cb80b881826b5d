import { linkKey } from '../../../src/app/link-key.ts';
import type { RecordsDoors } from '../route.ts';
import { alertDoors } from './alerts.ts';
import { accountDataDoors } from './data.ts';
import { downloadDoors } from './exports.ts';
import { groupDoors } from './groups.ts';
import { accountKeyDoors } from './keys.ts';
import { overviewDoor } from './overview.ts';
import type { AccountDoors } from './pages.ts';
import { signInDoors } from './sign-in.ts';
import { unsubscribeDoors } from './unsubscribe.ts';
import { accountUsageDoors } from './usage.ts';

/** Everything of accounts: pages for people, with a cookie; programs use the keys that are made here. */
export function accountDoors(records: RecordsDoors): void {
  const doors: AccountDoors = { ...records, secret: linkKey(records.app.settings, 'accounts') };
  signInDoors(doors);
  overviewDoor(doors);
  accountKeyDoors(doors);
  accountUsageDoors(doors);
  groupDoors(doors);
  alertDoors(doors);
  downloadDoors(doors);
  accountDataDoors(doors);
  unsubscribeDoors(doors);
}

import { isoTime } from '../../../src/proof/time.ts';
import { type FirstSteps, firstCommand } from '../../../src/records/accounts/first-steps.ts';
import type { KeyUse } from '../../../src/records/meter/meter-table.ts';
import type { AppContext } from '../../../src/server/context.ts';

/** How many of the service's hostnames are searched for one that was observed. */
const HOSTS_SEARCHED = 50;

/** How far an account has come, and the command to try next. `key` is one that was just created. */
export function stepsOf({ store, settings, clock }: AppContext, account: string, key: string | null): FirstSteps {
  const { serviceKeys, meter, watchGroups, deltas, list } = store.records;
  const hostname =
    watchGroups.observedHost(account) ??
    deltas({}, { limit: 1 })[0]?.domain ??
    list('', HOSTS_SEARCHED).find(({ seq }) => seq !== null)?.hostname ??
    null;
  const arrival = (use: KeyUse | null) => (use === null ? null : { at: isoTime(use.at), key: use.name });
  return {
    has_key: serviceKeys
      .list(account)
      .some((one) => one.revoked_at === null && !serviceKeys.hasExpired(one, clock.now())),
    arrived: arrival(meter.firstUse(account, 0)),
    answered: arrival(meter.firstUse(account, 1)),
    hostname,
    command: firstCommand(settings.dataOrigin, hostname, key),
    has_key_in_command: key !== null,
  };
}

import type { Account } from '../accounts/account.ts';
import { serviceKeyRow } from '../accounts/service-key.ts';
import { creditsOf } from '../meter/credits.ts';
import { isoOrNull, isoTime } from '../time.ts';
import type { AppContext } from './context.ts';
import { usageNow } from './usage.ts';

/** How many lines of the ledger, and deliveries of each webhook, are read. */
const ALL = 100_000;
/** How many days of usage are told. */
const DAYS = 366;

/**
 * Everything that is held of an account, for its owner. Left out is what opens
 * doors: keys, tokens and cookies are not kept, and a webhook's secret was shown
 * when it was made.
 */
export function accountExport(app: AppContext, { id, email, plan, made_at }: Account): object {
  const { store, now } = app;
  const at = now();
  return {
    account: { id, email, plan, made_at: iso(made_at) },
    exported_at: iso(at),
    keys: store.serviceKeys.list(id).map((key) => serviceKeyRow(key, store.serviceKeys.hasExpired(key, at))),
    sessions: store.sessions.list(id, at).map((session) => ({
      made_at: iso(session.made_at),
      seen_at: iso(session.seen_at),
      expires_at: iso(session.expires_at),
    })),
    usage: usageNow(app, id, DAYS),
    credit_ledger: store.credits.entries(id, at, { limit: ALL }).map((entry) => ({
      ...entry,
      at: iso(entry.at),
      amount: creditsOf(entry.amount),
      balance: creditsOf(entry.balance),
    })),
    groups: store.watchGroups.list(id).map((group) => ({
      name: group.name,
      made_at: iso(group.made_at),
      hostnames: store.watchGroups
        .hosts(group.id)
        .map(({ hostname, added_at }) => ({ hostname, added_at: iso(added_at) })),
    })),
    alerts: store.changeAlerts.list(id).map((alert) => ({
      id: alert.id,
      group: alert.watch_group === null ? null : (store.watchGroups.get(id, alert.watch_group)?.name ?? null),
      hostname: alert.hostname,
      way: alert.way,
      url: alert.url,
      made_at: iso(alert.made_at),
      off_at: isoOrNull(alert.off_at),
      off_reason: alert.off_reason,
      deliveries: store.changeAlerts.deliveries(alert.id, ALL).map((delivery) => ({
        ...delivery,
        made_at: iso(delivery.made_at),
        due_at: iso(delivery.due_at),
        attempts: delivery.attempts.map((attempt) => ({ ...attempt, at: iso(attempt.at) })),
      })),
    })),
    mails: store.accountMails.ofAccount(id).map((mail) => ({
      kind: mail.kind,
      state: mail.state,
      settled_at: isoOrNull(mail.settled_at),
    })),
  };
}

/**
 * Deletes an account, in one transaction: its keys die, its sessions end, and
 * what was held of it goes. The ledger of its credits stays, as books must,
 * under an id that leads to nobody. What was observed was never the account's.
 */
export function deleteAccount({ store, now }: AppContext, { id, email }: Account): void {
  store.transact(() => {
    store.meter.forget(id, now());
    store.accounts.remove(id);
    store.signIns.dropEmail(email);
    store.accountMails.dropEmail(email);
  });
}

function iso(ms: number): string {
  return isoTime(ms);
}

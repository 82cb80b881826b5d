import { dayOf, daysUpTo, isoTime as iso, isoOrNull } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';
import type { Account } from './accounts/account.ts';
import { eventRow, proofRow } from './accounts/owner-row.ts';
import { serviceKeyRow } from './accounts/service-key.ts';
import { expectationRow, planRow, eventRow as toldRow } from './declared-expectations.ts';
import { creditsOf } from './meter/credits.ts';
import { planReceipt } from './meter/plan-order.ts';
import { type Usage, usageOf } from './meter/usage.ts';

/** The most ledger lines, and the most deliveries per webhook, in an export. */
const ALL = 100_000;
/** How many days of usage an export covers. */
const DAYS = 366;

/** Everything stored about an account, for its owner. Of credentials only hashes are stored, which are left out. */
export function accountExport(app: AppContext, { id, email, plan, made_at }: Account): object {
  const { store, clock } = app;
  const at = clock.now();
  return {
    account: { id, email, plan, made_at: iso(made_at) },
    exported_at: iso(at),
    keys: store.records.serviceKeys
      .list(id)
      .map((key) => serviceKeyRow(key, store.records.serviceKeys.hasExpired(key, at))),
    sessions: store.records.sessions.list(id, at).map((session) => ({
      made_at: iso(session.made_at),
      seen_at: iso(session.seen_at),
      expires_at: iso(session.expires_at),
      browser: session.browser,
    })),
    usage: usageNow(app, id, DAYS),
    credit_ledger: store.records.credits.entries(id, at, { limit: ALL }).map((entry) => ({
      ...entry,
      at: iso(entry.at),
      amount: creditsOf(entry.amount),
      balance: creditsOf(entry.balance),
    })),
    plans: store.records.plans.receipts(id).map(planReceipt),
    groups: store.records.watchGroups.list(id).map((group) => ({
      name: group.name,
      made_at: iso(group.made_at),
      hostnames: store.records.watchGroups
        .hosts(group.id)
        .map(({ hostname, added_at }) => ({ hostname, added_at: iso(added_at) })),
    })),
    alerts: store.records.changeAlerts.list(id).map((alert) => ({
      id: alert.id,
      group: alert.watch_group === null ? null : (store.records.watchGroups.get(id, alert.watch_group)?.name ?? null),
      hostname: alert.hostname,
      way: alert.way,
      url: alert.url,
      format: alert.url === null ? null : alert.format,
      made_at: iso(alert.made_at),
      paused_at: isoOrNull(alert.paused_at),
      off_at: isoOrNull(alert.off_at),
      off_reason: alert.off_reason,
      deliveries: store.records.changeAlerts.deliveries(alert.id, ALL).map((delivery) => ({
        ...delivery,
        made_at: iso(delivery.made_at),
        due_at: iso(delivery.due_at),
        attempts: delivery.attempts.map((attempt) => ({ ...attempt, at: iso(attempt.at) })),
      })),
    })),
    names: store.records.owners.list(id).map((proof) => ({
      ...proofRow(proof),
      events: store.records.owners.events(proof.name, id).map(eventRow),
    })),
    notes: store.records.owners.notes(id).map(({ at, isShown, ...note }) => ({ ...note, at: iso(at), shown: isShown })),
    expectations: store.records.expectations.ofAccount(id).map((one) => expectationRow(app, one)),
    planned_changes: store.records.expectations.plans(id).map((plan) => planRow(app, plan)),
    expectation_events: store.records.expectations.events(id, ALL).map((event) => toldRow(app, event)),
    mails: store.records.accountMails.ofAccount(id).map((mail) => ({
      kind: mail.kind,
      state: mail.state,
      settled_at: isoOrNull(mail.settled_at),
    })),
  };
}

/**
 * Deletes an account and its data. Its credit ledger and receipts stay under an anonymous id, as bookkeeping requires.
 */
export function deleteAccount({ store, clock }: AppContext, { id, email }: Account): void {
  store.database.transact(() => {
    store.records.meter.forget(id, clock.now());
    store.records.accounts.remove(id);
    store.records.signIns.dropEmail(email);
    store.records.accountMails.dropEmail(email);
  });
}

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

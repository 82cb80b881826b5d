import { randomBytes } from 'node:crypto';
import { makeAlert } from '../../src/records/accounts/change-alert.ts';
import { afterCheck, newProof } from '../../src/records/accounts/owner.ts';
import { makeServiceKey } from '../../src/records/accounts/service-key.ts';
import { makeGroup } from '../../src/records/accounts/watching.ts';
import { planChange, removeExpectations } from '../../src/records/declared-expectations.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { putNote } from '../../src/records/owners.ts';
import type { AppContext } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import type { State } from './requests.ts';

/**
 * Creates what an account needs so that the example of an operation succeeds, and nothing else. Null for operations
 * that need nothing.
 */
export function heldFor(app: AppContext, email: string, operationId: string): State | null {
  const {
    store,
    clock: { now },
  } = app;
  const account = store.records.accounts.byEmail(email)?.id ?? '';
  const empty = () => {
    removeExpectations(app, account);
    for (const { id } of store.records.changeAlerts.list(account)) store.records.changeAlerts.remove(account, id);
    for (const { id } of store.records.watchGroups.list(account)) store.records.watchGroups.remove(account, id, now());
    for (const { name } of store.records.owners.list(account)) store.records.owners.remove(account, name);
    store.records.owners.forgetUses('9999-12-31');
    for (const { id } of store.records.serviceKeys.list(account).slice(1))
      store.records.serviceKeys.revoke(id, now(), 'test');
  };
  const group = () => {
    const { id } = makeGroup(store.records, account, 'Ours', { now: now(), newId });
    store.records.watchGroups.put(id, 'example.com', now());
    return { parameters: { id } };
  };
  const alert = () => {
    const wish = { group: '', hostname: 'example.com', way: 'webhook', url: 'https://hooks.example.net/' } as const;
    const fresh = { now: now(), newId, allowsPrivate: false, requireHost: (text: string) => text };
    return { parameters: { id: makeAlert(store.records, account, wish, fresh).id } };
  };
  const delivery = () => {
    const { parameters } = alert();
    const id = newId();
    store.records.changeQueue.deliver({
      ...{ id, alert: parameters.id, type: 'domain.changed', body: '{}', host: 'hooks.example.net' },
      ...{ by_hand: false, made_at: now(), incident: null },
    });
    return { parameters: { ...parameters, delivery: id } };
  };
  const key = () => {
    const maker = { keys: store.records.serviceKeys, now, newId, random: randomBytes, by: 'test' };
    return { parameters: { id: makeServiceKey(maker, { account, level: 'account', name: 'Old' }).made.id } };
  };
  const proven = () => {
    const [at, found] = [now(), { outcome: 'found', detail: 'found' } as const];
    const begun = newProof(account, parseHostname('example.com'), 'x'.repeat(43), at);
    store.records.owners.save(afterCheck(begun, { txt: found, file: found }, at).proof);
    return { parameters: { hostname: 'example.com' } };
  };
  const change = () => {
    proven();
    const [newest] = store.records.deltas({ host: store.records.find('example.com')?.id }, { limit: 1 });
    return { parameters: { seq: String(newest?.seq) } };
  };
  const names = { 'example.com': { A: { values: ['192.0.2.7'] } } };
  const plan = () => {
    const wish = { names, from: undefined, until: now() + 60_000, note: '' };
    return { parameters: { id: planChange(app, account, wish, newId()).id } };
  };
  const states: Record<string, () => State> = {
    planChange: () => ({ body: { names, until: new Date(now() + 60_000).toISOString() } }),
    readPlannedChange: plan,
    removePlannedChange: plan,
    makeGroup: () => ({}),
    readGroup: group,
    renameGroup: group,
    removeGroup: group,
    makeGroupFeed: group,
    endGroupFeed: () => {
      const held = group();
      store.records.groupFeeds.put(held.parameters.id, { id: newId(), made_at: now() });
      return held;
    },
    unwatchHostname: () => {
      group();
      return { parameters: { hostname: 'example.com' } };
    },
    makeAlert: () => ({}),
    readAlert: alert,
    switchAlertOn: alert,
    removeAlert: alert,
    testAlert: alert,
    renewAlertSecret: alert,
    retryAlertDelivery: delivery,
    beginName: () => ({}),
    readName: proven,
    giveUpName: proven,
    checkName: proven,
    lookAtName: () => {
      store.records.watch([parseHostname('example.com')], now());
      return proven();
    },
    optName: () => ({ ...proven(), body: { opt: 'in' } }),
    putNote: change,
    removeNote: () => {
      const state = change();
      putNote(app, account, Number(state.parameters.seq), 'Planned.');
      return state;
    },
    makeAccountKey: () => ({}),
    revokeAccountKey: key,
  };
  const state = states[operationId];
  if (state === undefined) return null;
  empty();
  return state();
}

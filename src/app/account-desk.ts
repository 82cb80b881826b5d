import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Fault } from '../fault.ts';
import { readerKey } from '../files/reader-key.ts';
import { newWebhookSecret, webhookProblem } from '../outbound/webhook-url.ts';
import { parseHostname } from '../records/hostname.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';

export type AccountDesk = ReturnType<typeof openAccountDesk>;

/** The rules of accounts wired to a workshop. The key of mailed links is read, or made where there is none. */
export function openAccountDesk({ store, settings, now }: AppContext) {
  const { records } = store;
  const random = (n: number): Uint8Array => randomBytes(n);
  return {
    accounts: store.accounts,
    keys: store.serviceKeys,
    sessions: store.sessions,
    signIns: store.signIns,
    mails: store.accountMails,
    groups: store.watchGroups,
    alerts: store.changeAlerts,
    queue: store.changeQueue,
    caps: settings.watchCaps,
    transact: store.transact,
    now,
    newId,
    random,
    readHost(text: string) {
      const { hostname } = parseHostname(text);
      const isOptedOut = records.optOutOf(hostname) !== null;
      const isPaused = records.find(hostname)?.state === 'paused';
      return { hostname, leftAlone: isOptedOut ? 'opted_out' : isPaused ? 'paused' : null } as const;
    },
    watch(hostname: string) {
      records.watch([parseHostname(hostname)], now());
    },
    needHost(text: string): string {
      const { hostname } = parseHostname(text);
      if (records.optOutOf(hostname) !== null) {
        throw new Fault('not_found', `there is nothing of ${hostname} here`, { field: 'hostname' });
      }
      if (records.find(hostname) !== null) return hostname;
      const message = `${hostname} is not under watch; put it into one of your groups first`;
      throw new Fault('not_watched', message, { field: 'hostname' });
    },
    urlProblem: (url: string) => webhookProblem(url, settings.webhookPrivate),
    newSecret: () => newWebhookSecret(),
    secret: readerKey(join(settings.dataDir, 'accounts.key')),
  };
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readerKey } from '../store/reader-key.ts';
import type { Workshop } from './workshop.ts';
import { newId } from './workshop.ts';

export type AccountDesk = ReturnType<typeof openAccountDesk>;

/** The rules of accounts wired to a workshop. The key of mailed links is opened, or made, on first use. */
export function openAccountDesk({ store, settings, now }: Workshop) {
  let secret: Uint8Array | null = null;
  return {
    accounts: store.accounts,
    keys: store.serviceKeys,
    sessions: store.sessions,
    signIns: store.signIns,
    mails: store.accountMails,
    transact: store.transact,
    now,
    newId,
    random: (n: number): Uint8Array => randomBytes(n),
    get secret(): Uint8Array {
      secret ??= readerKey(join(settings.dataDir, 'accounts.key'));
      return secret;
    },
  };
}

import { randomBytes } from 'node:crypto';
import type { AppContext } from '../../src/server/context.ts';
import { newId } from '../../src/shared/new-id.ts';
import { beginSession } from '../../src/shared/session.ts';

/** The `Cookie` header of a signed-in account of the domain records. */
export function cookieOf({ store, settings, clock: { now } }: AppContext, email = 'ada@example.org'): string {
  const account = store.records.accounts.ofEmail(email, { id: newId(), plan: 'daily', made_at: now() });
  const { token } = beginSession(
    { sessions: store.records.sessions, now, newId, random: randomBytes },
    { account: account.id, browser: null },
  );
  const name = settings.dataOrigin.startsWith('https:') ? '__Host-session' : 'records_session';
  return `${name}=${token}`;
}

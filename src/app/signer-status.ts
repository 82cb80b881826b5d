import { messageOf } from '../fault.ts';
import type { AppContext } from './context.ts';
import { readSignerLease } from './signer.ts';

/** Which of several servers signs, as a command of this machine sees it. */
export interface SignerStatus {
  /** Whether a server or a command of this machine may sign, as far as the lease goes. */
  signs_here: boolean;
  /** Null when no server holds the lease, and when it could not be read. */
  holder: { name: string; since: string | null } | null;
  /** Why nothing is signed here; null where it may be. */
  reason: string | null;
}

/** Reads the lease of LEASE_URL; null without one, where this server is alone. */
export async function signerStatus(app: Pick<AppContext, 'settings' | 'store'>): Promise<SignerStatus | null> {
  const { settings } = app;
  if (settings.leaseUrl === null) return null;
  try {
    const { holder, isHere, isFresh, copyFault } = await readSignerLease(settings, settings.leaseUrl, app);
    if (isHere) return { signs_here: true, holder, reason: null };
    const reason =
      holder === null
        ? (copyFault ?? 'no server holds the lease; the next one to start takes it')
        : isFresh === false
          ? `${holder.name} holds the lease and no longer renews it${copyFault === null ? '' : `; ${copyFault}`}`
          : `${holder.name} signs${holder.since === null ? '' : `, since ${holder.since}`}`;
    return { signs_here: false, holder, reason };
  } catch (error) {
    return { signs_here: false, holder: null, reason: messageOf(error) };
  }
}

export function signerLines(status: SignerStatus | null): string[] {
  if (status === null) return [];
  const { signs_here, holder, reason } = status;
  if (signs_here) return [`signing: ${holder?.name ?? 'a server'}, on this machine, holds the lease`];
  return [`signing: nothing is signed here: ${reason}`];
}

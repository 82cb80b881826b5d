import type { SessionLife, SessionTable } from '../../shared/session.ts';

/** A session of a browser that is signed in to an account. */
export interface Session extends SessionLife {
  account: string;
  /** The browser and its system in words, as `browserName` gives them; null for sessions from before it was kept. */
  browser: string | null;
}

export interface AccountSessionTable extends SessionTable<Session> {
  /** Ends the sessions of an account, except one. Returns how many there were. */
  endAll(account: string, except?: string): number;
  /** Sessions that are valid at a time, newest first. */
  list(account: string, now: number): Session[];
}

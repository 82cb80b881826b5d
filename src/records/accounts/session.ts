import type { SessionLife, SessionTable } from '../../shared/session.ts';

/** A session of a browser that is signed in to an account. */
export interface Session extends SessionLife {
  account: string;
}

export interface AccountSessionTable extends SessionTable<Session> {
  endAll(account: string): void;
  /** Sessions that are valid at a time, newest first. */
  list(account: string, now: number): Session[];
}

import { Fault } from '../../shared/fault.ts';
import { type SessionLife, type SessionTable, sessionOf } from '../../shared/session.ts';
import { type AccessKey, type KeyTable, requireActive } from '../papers/keys.ts';

/** How a session began: with a key, a mailed link, a link printed for an operator, a passkey, or the first seat. */
export const BEGINNINGS = ['key', 'mail', 'link', 'passkey', 'first'] as const;
export type Beginning = (typeof BEGINNINGS)[number];

/** A session of a browser that is signed in to a paper's console. */
export interface ConsoleSession extends SessionLife {
  paper: string;
  /** Id of the key for which it stands, and with which it ends. */
  key: string;
  began: Beginning;
  /** The browser's short name, as in `Firefox on Linux`. */
  browser: string;
  network: string;
}

export interface ConsoleSessionTable extends SessionTable<ConsoleSession> {
  /** Ends the sessions of a key, except one; returns how many. */
  endOthers(key: string, except: string): number;
  /** Sessions of a paper that are valid at a time (ms), newest first. */
  list(paper: string, now: number): ConsoleSession[];
}

/**
 * The valid session of a cookie in a paper's console and the key for which it stands, or null. It ends with its key.
 * `slid` means that the cookie must be extended.
 */
export function seatOf(
  { sessions, keys, now }: { sessions: ConsoleSessionTable; keys: KeyTable; now(): number },
  paper: string,
  token: string,
): { session: ConsoleSession; key: AccessKey; slid: boolean } | null {
  const found = sessionOf({ sessions, now }, token);
  if (found === null || found.session.paper !== paper) return null;
  try {
    return { ...found, key: requireActive(keys, keys.byId(found.session.key), now()) };
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

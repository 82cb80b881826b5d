import { isoTime } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import { type SessionLife, type SessionTable, sessionOf } from '../../shared/session.ts';
import type { Change } from '../activity.ts';
import { type AccessKey, type KeyTable, requireActive } from '../papers/keys.ts';

/** How a session began: with a key, a mailed link, a link printed for an operator, a passkey, or the first seat. */
export const BEGINNINGS = ['key', 'mail', 'link', 'passkey', 'first'] as const;
export type Beginning = (typeof BEGINNINGS)[number];

/** A browser's signed-in session in a paper's console. */
export interface ConsoleSession extends SessionLife {
  paper: string;
  /** Id of the key that it represents. The session ends with this key. */
  key: string;
  began: Beginning;
  /** The browser's short name, such as `Firefox on Linux`. */
  browser: string;
  network: string;
}

export interface ConsoleSessionTable extends SessionTable<ConsoleSession> {
  /** Ends the sessions of a key, except one. Returns how many. */
  endOthers(key: string, except: string): number;
  /** Sessions of a paper that are valid at a time (ms), newest first, at most 500. */
  list(paper: string, now: number): ConsoleSession[];
}

/**
 * The valid session in a paper's console that a cookie names, and its key; or null. A session ends with its key. `slid`
 * means that the cookie must be extended.
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

/** The sessions that a key may see and end, newest first: for an admin all of the paper's, for others their own. */
export function sessionsOf(
  { sessions, now }: { sessions: ConsoleSessionTable; now(): number },
  { id, paper, level }: AccessKey,
): ConsoleSession[] {
  return sessions.list(paper, now()).filter((session) => level === 'admin' || session.key === id);
}

/** Ends a session that the key may end, and returns it. Throws `not_found`. */
export function endSession(
  tables: { sessions: ConsoleSessionTable; now(): number },
  key: AccessKey,
  id: string,
): ConsoleSession {
  const found = sessionsOf(tables, key).find((session) => session.id === id);
  if (found === undefined) {
    throw new Fault('not_found', `no session ${JSON.stringify(id.slice(0, 80))} is signed in here; it may have ended`);
  }
  tables.sessions.end(found.id);
  return found;
}

/** The change that describes the beginning or end of a session. */
export function sessionChange(
  verb: 'begun' | 'ended',
  { key, began, browser }: Omit<ConsoleSession, keyof SessionLife>,
): Change {
  return { action: `session.${verb}`, subject: { kind: 'key', id: key }, detail: { began, browser } };
}

/** A session in wire format. `keys` are the paper's. */
export function sessionRow(session: ConsoleSession, keys: readonly Pick<AccessKey, 'id' | 'name' | 'seat'>[]) {
  const { id, key, began, browser, network } = session;
  const holder = keys.find((row) => row.id === key);
  return {
    ...{ id, key, name: holder?.name ?? '', seat: holder?.seat ?? null, began, browser, network },
    made_at: isoTime(session.made_at),
    seen_at: isoTime(session.seen_at),
    expires_at: isoTime(session.expires_at),
  };
}

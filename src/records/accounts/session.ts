import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DAY, HOUR } from '../../proof/time.ts';
import { Fault, isLocked } from '../../shared/fault.ts';

/** A session of a signed-in browser. Times in ms. */
export interface Session {
  id: string;
  account: string;
  made_at: number;
  seen_at: number;
  expires_at: number;
}

export interface SessionTable {
  insert(session: Session, hash: string): void;
  byHash(hash: string): Session | null;
  touch(id: string, seen_at: number, expires_at: number): void;
  end(id: string): void;
  endAll(account: string): void;
  /** Sessions that are valid at a time, newest first. */
  list(account: string, now: number): Session[];
  /** Deletes sessions that expired at or before a time. */
  forget(until: number): void;
}

/** How long a session lasts after its last use, and in total, in ms. */
export const SESSION_IDLE_MAX = 30 * DAY;
export const SESSION_AGE_MAX = 180 * DAY;
/** The minimum interval between two recorded uses, in ms. */
const NOTE_EVERY = HOUR;
/** 256 bits. */
const TOKEN_BYTES = 32;

interface SessionMaker {
  sessions: SessionTable;
  now(): number;
  newId(): string;
  random(n: number): Uint8Array;
}

/** Starts a session. Only this call returns its token, which goes into the cookie. */
export function beginSession({ sessions, now, newId, random }: SessionMaker, account: string) {
  const token = Buffer.from(random(TOKEN_BYTES)).toString('base64url');
  const at = now();
  const session: Session = { id: newId(), account, made_at: at, seen_at: at, expires_at: at + SESSION_IDLE_MAX };
  sessions.insert(session, sessionHash(token));
  return { token, session };
}

/** The valid session of a cookie, or null. Use extends it; `slid` means that the cookie must be extended too. */
export function sessionOf(
  { sessions, now }: Pick<SessionMaker, 'sessions' | 'now'>,
  token: string,
): { session: Session; slid: boolean } | null {
  const session = sessions.byHash(sessionHash(token));
  const at = now();
  if (session === null || session.expires_at <= at) return null;
  if (at - session.seen_at < NOTE_EVERY) return { session, slid: false };
  const expires_at = Math.min(at + SESSION_IDLE_MAX, session.made_at + SESSION_AGE_MAX);
  try {
    sessions.touch(session.id, at, expires_at);
  } catch (error) {
    // The next use extends it; a page waits for no other process.
    if (isLocked(error)) return { session, slid: false };
    throw error;
  }
  return { session: { ...session, seen_at: at, expires_at }, slid: true };
}

/** The token in the forms of a session. Only pages that were served to that session contain it. */
export function formToken(token: string): string {
  return createHmac('sha256', token).update('form').digest('base64url');
}

/** Throws `wrong_origin` unless a form's token matches the session. */
export function requireFormToken(token: string, given: string | undefined): void {
  const [wanted, got] = [Buffer.from(formToken(token)), Buffer.from(given ?? '')];
  if (wanted.length === got.length && timingSafeEqual(wanted, got)) return;
  throw new Fault('wrong_origin', 'this form belongs to another session; reload the page and submit it again');
}

function sessionHash(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

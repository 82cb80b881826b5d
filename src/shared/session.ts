import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { DAY, HOUR } from '../proof/time.ts';
import { Fault, isLocked } from './fault.ts';

/** The life of a session of a signed-in browser. Times in ms. */
export interface SessionLife {
  id: string;
  made_at: number;
  /** The last recorded use, which may lag by `NOTE_EVERY`. */
  seen_at: number;
  expires_at: number;
}

export interface SessionTable<S extends SessionLife> {
  insert(session: S, hash: string): void;
  byHash(hash: string): S | null;
  touch(id: string, seen_at: number, expires_at: number): void;
  end(id: string): void;
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

interface SessionMaker<S extends SessionLife> {
  sessions: SessionTable<S>;
  now(): number;
  newId(): string;
  random(n: number): Uint8Array;
}

/** Starts a session. Only this call returns its token, which goes into the cookie. */
export function beginSession<S extends SessionLife>(
  { sessions, now, newId, random }: SessionMaker<S>,
  owner: Omit<S, keyof SessionLife>,
) {
  const token = Buffer.from(random(TOKEN_BYTES)).toString('base64url');
  const at = now();
  const session = { ...owner, id: newId(), made_at: at, seen_at: at, expires_at: at + SESSION_IDLE_MAX } as S;
  sessions.insert(session, sessionHash(token));
  return { token, session };
}

/**
 * The valid session of a cookie, or null. Use extends it; `slid` means that the cookie must be extended too. A session
 * that is found expired is deleted, so that a clock that is set back does not revive it.
 */
export function sessionOf<S extends SessionLife>(
  { sessions, now }: Pick<SessionMaker<S>, 'sessions' | 'now'>,
  token: string,
): { session: S; slid: boolean } | null {
  const session = sessions.byHash(sessionHash(token));
  const at = now();
  if (session === null) return null;
  if (session.expires_at <= at) {
    unlessLocked(() => sessions.end(session.id));
    return null;
  }
  if (at - session.seen_at < NOTE_EVERY) return { session, slid: false };
  const expires_at = Math.min(at + SESSION_IDLE_MAX, session.made_at + SESSION_AGE_MAX);
  // If another process has the lock, the next use extends it: a page waits for no other process.
  if (!unlessLocked(() => sessions.touch(session.id, at, expires_at))) return { session, slid: false };
  return { session: { ...session, seen_at: at, expires_at }, slid: true };
}

/** Whether a write succeeded; false when another process has the lock. */
function unlessLocked(write: () => void): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (isLocked(error)) return false;
    throw error;
  }
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

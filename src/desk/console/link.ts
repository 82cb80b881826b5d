import { DAY, MINUTE } from '../../proof/time.ts';
import { linkToken, secretHash } from '../../shared/access-key.ts';
import { CLI } from '../../shared/command-line.ts';
import { Fault } from '../../shared/fault.ts';
import type { MailProgress, MailQueue } from '../../shared/outbound/mail.ts';
import { type AccessKey, type KeyIssuer, type KeyTable, makeKey, requireActive } from '../papers/keys.ts';
import type { PaperLetter } from '../readers/paper-letter.ts';

/** The kinds of links: mailed to a seat, printed for an operator, or printed for the first seat of a paper. */
export const PURPOSES = ['mail', 'link', 'first'] as const;
type Purpose = (typeof PURPOSES)[number];

/** A link that signs in once. Times in ms. */
export interface ConsoleLink {
  id: string;
  paper: string;
  purpose: Purpose;
  /** The key that it signs in; null for the first seat, and for a link that opens nothing. */
  key: string | null;
  made_at: number;
  expires_at: number;
  used_at: number | null;
}

export interface ConsoleLinkTable {
  insert(link: ConsoleLink, hash: string): void;
  byId(id: string): ConsoleLink | null;
  byHash(hash: string): ConsoleLink | null;
  /** Marks a link and all unused links of its key as used. Returns false when it was already used. */
  use(link: ConsoleLink, at: number): boolean;
  /** How many links mailed to a key since a time are unused. */
  waiting(key: string, since: number): number;
  /** Ends the unused links to the first seat of a paper. */
  endFirst(paper: string, at: number): void;
  /** Deletes links that expired at or before a time, with their mails. */
  forget(until: number): void;
}

/** A mail with a link. It has the link's id. */
export interface ConsoleMail extends MailProgress {
  id: string;
  paper: string;
  kind: 'sign-in';
}

export interface ConsoleMailTable extends MailQueue<ConsoleMail> {
  queue(mail: { id: string; paper: string; due_at: number }): void;
}

export const MAIL_LIFETIME = 30 * MINUTE;
/** Long enough for an operator to pass the link on. */
export const LINK_LIFETIME = DAY;
/** The server prints the link when it starts, and somebody may read it days later. */
export const FIRST_LIFETIME = 7 * DAY;
/** Maximum number of unused links mailed to a seat within `REQUESTS_SPAN`. */
export const REQUESTS_MAX = 3;
export const REQUESTS_SPAN = 15 * MINUTE;

interface LinkStore {
  keys: KeyTable;
  consoleLinks: ConsoleLinkTable;
  consoleMails: ConsoleMailTable;
  transact<T>(work: () => T): T;
}

/**
 * Queues a mail with a link for the seat of an address. Does the same work for an address without a seat and for a seat
 * that was mailed too often, so that neither the response nor its timing reveals the difference; the mail is then not
 * sent.
 */
export function requestLink(
  { keys, consoleLinks, consoleMails, transact }: LinkStore,
  paper: string,
  email: string,
  { now, newId, secret }: { now(): number; newId(): string; secret: Uint8Array },
): void {
  transact(() => {
    const made_at = now();
    const seat = keys.seat(paper, email);
    const isMailed =
      seat !== null &&
      !keys.hasExpired(seat, made_at) &&
      consoleLinks.waiting(seat.id, made_at - REQUESTS_SPAN) < REQUESTS_MAX;
    const id = newId();
    const key = isMailed ? seat.id : null;
    const link: ConsoleLink = {
      ...{ id, paper, purpose: 'mail', key },
      ...{ made_at, expires_at: made_at + MAIL_LIFETIME, used_at: null },
    };
    consoleLinks.insert(link, secretHash(mailedToken(secret, id)));
    consoleMails.queue({ id, paper, due_at: made_at });
  });
}

/** The token of a mailed link. It stays the same when the mail is sent again. */
export const mailedToken = (secret: Uint8Array, id: string): string => linkToken(secret, 'console', id);

/** Makes a link for a key, or with null for a paper's first seat, whose earlier links end. Returns its token. */
export function printedLink(
  { consoleLinks, transact }: Pick<LinkStore, 'consoleLinks' | 'transact'>,
  paper: string,
  key: string | null,
  { now: made_at, newId, random }: { now: number; newId(): string; random(n: number): Uint8Array },
): { token: string; expires_at: number } {
  const token = Buffer.from(random(32)).toString('base64url');
  const expires_at = made_at + (key === null ? FIRST_LIFETIME : LINK_LIFETIME);
  transact(() => {
    if (key === null) consoleLinks.endFirst(paper, made_at);
    const purpose = key === null ? 'first' : 'link';
    const link = { id: newId(), paper, purpose, key, made_at, expires_at, used_at: null } as const;
    consoleLinks.insert(link, secretHash(token));
  });
  return { token, expires_at };
}

/** The link with a token, and the key that it signs in. Throws `not_found`, `key_invalid`, `key_expired`. */
export function requireLink(
  { keys, consoleLinks }: Pick<LinkStore, 'keys' | 'consoleLinks'>,
  paper: string,
  token: string,
  now: number,
): { link: ConsoleLink; key: AccessKey } {
  const link = consoleLinks.byHash(secretHash(token));
  const isUsable = link?.paper === paper && link.purpose !== 'first' && link.used_at === null && link.expires_at > now;
  if (!isUsable || link.key === null) {
    throw new Fault(
      'not_found',
      'this link cannot sign you in: it was used, has expired, or is incomplete; ask for another',
    );
  }
  return { link, key: requireActive(keys, keys.byId(link.key), now) };
}

/**
 * Marks a link as used and returns the key that it signs in, in the caller's transaction. Throws like `requireLink`.
 */
export function useLink(
  store: Pick<LinkStore, 'keys' | 'consoleLinks'>,
  paper: string,
  token: string,
  now: number,
): { link: ConsoleLink; key: AccessKey } {
  const found = requireLink(store, paper, token, now);
  if (store.consoleLinks.use(found.link, now)) return found;
  throw new Fault('not_found', 'this link was used a moment ago; ask for another');
}

/** Throws `not_found` unless the token opens the page for a paper's first seat. */
export function requireFirst(
  { keys, consoleLinks }: Pick<LinkStore, 'keys' | 'consoleLinks'>,
  paper: string,
  token: string,
  now: number,
): ConsoleLink {
  if (keys.everSeated(paper)) {
    throw new Fault('not_found', 'this link has ended, because the paper has a seat; sign in with it');
  }
  const link = consoleLinks.byHash(secretHash(token));
  if (link?.paper === paper && link.purpose === 'first' && link.used_at === null && link.expires_at > now) return link;
  throw new Fault(
    'not_found',
    `this link does not open the console: it has expired, a newer one was printed, or it is incomplete; look for the newest in the server’s log, or run \`${CLI} seat link\``,
  );
}

/**
 * Makes the first seat of a paper, an admin, and returns its key, which cannot be shown again. Throws `not_found`,
 * `invalid_request`. Runs in the caller's transaction: of two simultaneous requests, only one makes the seat.
 */
export function takeFirstSeat(
  maker: Omit<KeyIssuer, 'by'> & Pick<LinkStore, 'consoleLinks'>,
  paper: string,
  token: string,
  { name, email }: { name: string; email: string },
): { key: string; made: AccessKey } {
  const link = requireFirst(maker, paper, token, maker.now());
  const seat = makeKey({ ...maker, by: `link:${link.id}` }, paper, { level: 'admin', name, seat: email });
  maker.consoleLinks.use(link, maker.now());
  return seat;
}

/** The mail with a link that signs in. `url` is the address of the link's page. */
export function signInMail(nameplate: string, url: string): PaperLetter {
  return {
    subject: `Sign in to the console of ${nameplate}`,
    // Marks it as a response to a request, not as list mail: prevents vacation replies (RFC 3834, section 5).
    headers: { 'Auto-Submitted': 'auto-replied' },
    content: {
      preview: 'The link works once, within 30 minutes.',
      heading: 'Sign in to the console',
      paragraphs: [
        'Somebody asked for a link that signs in with your seat. It works once, within 30 minutes, and opens a page with a button.',
        'If it was not you, ignore this mail: without the link nothing happens.',
      ],
      button: { url, label: 'Sign in' },
      reason: 'You get this because your address has a seat of this paper.',
    },
  };
}

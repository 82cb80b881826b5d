import * as z from 'zod';
import { membersIn } from '../../proof/narrow.ts';
import { DAY } from '../../proof/time.ts';
import { normalized } from '../../shared/combining-marks.ts';
import { isLine, shownProblems } from '../../shared/shown-text.ts';
import { OAuthFault } from './oauth.ts';

/** A program that signs in for a seat. It has no secret (RFC 6749, section 2.1: a public client). */
export interface OAuthClient {
  /** The id assigned at registration, or the address of its metadata document. */
  id: string;
  name: string;
  redirect_uris: string[];
}

/** A client that registered itself. `network` counts its registrations. */
export interface RegisteredClient extends OAuthClient {
  network: string;
  made_at: number;
}

export interface OAuthClientTable {
  insert(client: RegisteredClient): void;
  find(id: string): OAuthClient | null;
  /** The number of clients, and of those that a network registered since a time. */
  count(): number;
  countOf(network: string, since: number): number;
  /** Deletes clients without a grant that registered before a time. */
  forget(before: number): void;
}

/** Registrations per network and day: an IPv4 /24, or an IPv6 /48. */
export const REGISTRATIONS_MAX = 30;
/** Maximum number of registered clients of a server. */
export const CLIENTS_MAX = 10_000;
/** How long a client without a grant is kept, in ms. */
export const UNUSED_TTL = DAY;

const NAME_MAX = 80;
const URIS_MAX = 10;
const URI_MAX = 500;

/** Schemes that do not lead to a program of the user, or that execute what follows them. */
const FOREIGN_SCHEMES = new Set(
  'about blob data file ftp javascript jar mailto sms tel vbscript view-source ws wss'
    .split(' ')
    .map((name) => `${name}:`),
);
/** Hosts of a program on the user's own machine, for which any port is allowed (RFC 8252, section 7.3). */
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

const isLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && LOOPBACK.has(hostname);

/** Why an address cannot be redirected to; null if it can (RFC 8252, section 7). */
function redirectProblem(text: string): string | null {
  const url = URL.parse(text);
  if (url === null || text.length > URI_MAX) return `is not an address of at most ${URI_MAX} characters`;
  if (text.includes('#')) return 'has a fragment; leave it out (RFC 6749, section 3.1.2)';
  if (url.username !== '' || url.password !== '') return 'has a user or a password; leave them out';
  if (url.protocol === 'https:' || isLoopback(url)) return null;
  if (url.protocol === 'http:') return 'is http on another host than 127.0.0.1, [::1] or localhost; use https';
  return FOREIGN_SCHEMES.has(url.protocol) ? 'has a scheme that no client can use' : null;
}

/** Whether a client may be redirected to an address: exactly one of its own, except for the port on loopback. */
export function mayRedirect({ redirect_uris }: OAuthClient, asked: string): boolean {
  return redirect_uris.some((known) => {
    if (known === asked) return true;
    const [own, given] = [URL.parse(known), URL.parse(asked)];
    if (own === null || given === null || !isLoopback(own) || !isLoopback(given) || asked.includes('#')) return false;
    own.port = given.port;
    return own.href === given.href;
  });
}

const Metadata = z.looseObject({
  redirect_uris: z.array(z.string()).min(1).max(URIS_MAX),
  client_name: z.string().optional(),
});

/** A client's registered metadata (RFC 7591, section 2). Throws `invalid_redirect_uri`, `invalid_client_metadata`. */
export function clientFrom(metadata: unknown): Omit<OAuthClient, 'id'> {
  const { data } = Metadata.safeParse(metadata);
  if (data === undefined) {
    throw new OAuthFault('invalid_client_metadata', `redirect_uris must be a list of 1 to ${URIS_MAX} addresses`);
  }
  for (const uri of data.redirect_uris) {
    const problem = redirectProblem(uri);
    if (problem !== null) {
      throw new OAuthFault('invalid_redirect_uri', `the redirect URI ${JSON.stringify(uri.slice(0, 80))} ${problem}`);
    }
  }
  const name = normalized(data.client_name ?? 'A client without a name').trim();
  if (name === '' || name.length > NAME_MAX || !isLine(name) || shownProblems('client_name', name).length > 0) {
    const message = `client_name must be one line of 1 to ${NAME_MAX} characters that people can see`;
    throw new OAuthFault('invalid_client_metadata', message);
  }
  return { name, redirect_uris: [...new Set(data.redirect_uris)] };
}

/** The client that a metadata document describes. Its id is the document's address. Throws `invalid_client`. */
export function clientOfDocument(id: string, document: unknown): OAuthClient {
  if (membersIn(document).client_id !== id) {
    throw new OAuthFault('invalid_client', `the document at ${id} does not have its address as client_id`);
  }
  try {
    return { id, ...clientFrom(document) };
  } catch (error) {
    if (error instanceof OAuthFault) throw new OAuthFault('invalid_client', `the document at ${id}: ${error.message}`);
    throw error;
  }
}

/** Whether an id is the address of a metadata document: https, with a path, and in only one possible spelling. */
export function isDocumentAddress(id: string, allowsPrivate: boolean): boolean {
  const url = URL.parse(id);
  if (url === null || id.length > URI_MAX || url.href !== id || url.hash !== '') return false;
  const isWeb = url.protocol === 'https:' || (allowsPrivate && url.protocol === 'http:');
  return isWeb && url.username === '' && url.password === '' && url.pathname !== '/';
}

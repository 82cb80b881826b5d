import { createHash } from 'node:crypto';
import { DAY, HOUR, MINUTE } from '../../proof/time.ts';
import { isKeyText, newKeyText, secretHash } from '../../shared/access-key.ts';
import { caught, Fault } from '../../shared/fault.ts';
import { type AccessKey, type KeyTable, newKey, reaches, requireActive, requireUnpaused } from './keys.ts';

/** The scopes that a client may request (protocol 9.6): reading like a read key, and writing like an agent’s key. */
export const SCOPES = ['read', 'write'] as const;
export type Scope = (typeof SCOPES)[number];

type OAuthCode =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_response_type';

/** An error in the format for OAuth clients (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8707). */
export class OAuthFault extends Error {
  readonly code: OAuthCode;

  constructor(code: OAuthCode, message: string) {
    super(message);
    this.name = 'OAuthFault';
    this.code = code;
  }
}

/** The access that a seat granted to a client. Times in ms; secrets are stored as hashes only. */
export interface OAuthGrant {
  code: string;
  client: string;
  client_name: string;
  paper: string;
  /** The id of the seat's key. */
  seat: string;
  level: 'read' | 'agent';
  persona: string | null;
  redirect_uri: string;
  challenge: string;
  made_at: number;
  /** When the code expires. */
  expires_at: number;
  /** The id of the key that the tokens represent; null until the code is exchanged. */
  key: string | null;
  rotation: string | null;
  refresh_expires_at: number | null;
}

/** The hashes and expiry times of a grant's tokens. */
interface TokenHashes {
  access: string;
  access_expires_at: number;
  refresh: string;
  rotation: string;
  refresh_expires_at: number;
}

export interface OAuthGrantTable {
  insert(grant: OAuthGrant): void;
  byCode(code: string): OAuthGrant | null;
  byRefresh(refresh: string): OAuthGrant | null;
  byAccess(access: string): OAuthGrant | null;
  setTokens(code: string, key: string, tokens: TokenHashes): void;
  /** Deletes codes that expired unused before a time; ends and deletes grants whose refresh token expired before it. */
  forget(before: number): void;
}

/** Lifetimes of a code, an access token and an unused refresh token, in ms. */
export const CODE_LIFE = 2 * MINUTE;
export const ACCESS_LIFE = HOUR;
export const REFRESH_LIFE = 60 * DAY;

const ACCESS_PREFIX = 'nrt_';
const REFRESH_PREFIX = 'nrr_';
const SECRET_BYTES = 32;
const CHALLENGE = /^[\w-]{43}$/;
/** RFC 7636, section 4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/;

/** Whether a text has the form of an access token. */
export const isAccessToken = (text: string): boolean => isKeyText(ACCESS_PREFIX, text);

/** The dependencies of the functions in this file. */
export interface Granting {
  grants: OAuthGrantTable;
  keys: KeyTable;
  now: number;
  newId(): string;
  /** n secure bytes. */
  random(n: number): Uint8Array;
}

/** The key that an access token represents. Throws `key_invalid`, `key_expired`. */
export function keyOfToken(keys: KeyTable, text: string, now: number): AccessKey {
  const found = keys.byToken(secretHash(text));
  if (found === null)
    throw new Fault('key_invalid', 'this token is unknown or was replaced; refresh it, or sign in again');
  const key = requireActive(keys, found.key, now);
  if (found.expires_at > now) return key;
  throw new Fault('key_expired', 'this token has expired; refresh it, or sign in again');
}

/** The requested scopes that this seat can grant. Others are left out (RFC 6749, section 3.3). */
export function scopesFor({ level }: AccessKey, asked: string | undefined): Scope[] {
  const named = asked?.split(' ') ?? [];
  const wanted = SCOPES.filter((scope) => named.includes(scope));
  // Clients that request no known scope get `read`.
  const scopes: Scope[] = wanted.includes('write') ? ['read', 'write'] : ['read'];
  return reaches(level, 'admin') ? scopes : ['read'];
}

/** Throws `invalid_request` unless the challenge is PKCE with S256. */
export function requireChallenge(challenge: string | undefined, method: string | undefined): string {
  if (method !== 'S256' || challenge === undefined || !CHALLENGE.test(challenge)) {
    throw new OAuthFault('invalid_request', 'PKCE is required: code_challenge, and code_challenge_method=S256');
  }
  return challenge;
}

/**
 * Records that a seat grants a client access, and returns the code for its redirect, which is shown once. Throws
 * `key_invalid`, `key_expired`, `key_paused`. Call it in a transaction.
 */
export function allow(
  { grants, keys, random, now }: Omit<Granting, 'newId'>,
  seat: AccessKey,
  asked: {
    client: { id: string; name: string };
    scope: Scope;
    persona: string | null;
    redirectUri: string;
    challenge: string;
  },
): string {
  const { client, scope, persona, redirectUri, challenge } = asked;
  // Checked again, because reading a client's metadata may have taken seconds.
  requireUnpaused(requireActive(keys, keys.byId(seat.id), now));
  const code = Buffer.from(random(SECRET_BYTES)).toString('base64url');
  grants.forget(now);
  grants.insert({
    ...{ code: secretHash(code), client: client.id, client_name: client.name, paper: seat.paper, seat: seat.id },
    ...{ level: scope === 'write' ? 'agent' : 'read', persona: scope === 'write' ? persona : null },
    ...{ redirect_uri: redirectUri, challenge, made_at: now, expires_at: now + CODE_LIFE },
    ...{ key: null, rotation: null, refresh_expires_at: null },
  });
  return code;
}

/** A token response (RFC 6749, section 5.1). */
export interface Tokens {
  access_token: string;
  token_type: 'Bearer';
  /** In seconds. */
  expires_in: number;
  refresh_token: string;
  scope: string;
}

/** The result of a token request, and the key that was made or ended, which is stored even with an error. */
export interface Exchanged {
  answer: Tokens | OAuthFault;
  made?: AccessKey;
  ended?: AccessKey;
}

/** Exchanges a code for tokens, and makes the key that they represent. Call it in a transaction. */
export function exchangeCode(
  granting: Granting,
  paper: string,
  sent: { code: string; client: string; redirectUri: string | undefined; verifier: string },
): Exchanged {
  const { grants, keys, now, newId, random } = granting;
  const grant = grants.byCode(secretHash(sent.code));
  if (grant === null || grant.paper !== paper) return refused('the code is unknown; sign in again');
  if (grant.client !== sent.client) return refused('the code belongs to another client');
  if (grant.key !== null) {
    // The code was used before, so somebody else may have it (RFC 6749, section 4.1.2).
    return {
      ...refused('the code was used before, so its access has ended; sign in again'),
      ...end(granting, grant),
    };
  }
  if (now >= grant.expires_at) return refused('the code has expired; sign in again');
  if (sent.redirectUri !== undefined && sent.redirectUri !== grant.redirect_uri) {
    return refused('redirect_uri is not the one that the code was sent to');
  }
  if (!VERIFIER.test(sent.verifier) || challengeOf(sent.verifier) !== grant.challenge) {
    return refused('code_verifier does not match the challenge of the request (RFC 7636)');
  }
  const seat = activeKey(keys, grant.seat, now);
  if (seat === null) return refused('the seat that allowed it has ended; sign in again');
  const id = newId();
  const { level, persona, client_name } = grant;
  const life = { made_at: now, made_by: `key:${seat.id}`, expires_at: seat.expires_at };
  const unused = { used_at: null, revoked_at: null, revoked_by: null, paused_at: null, paused_by: null };
  const made: AccessKey = { id, paper, level, name: client_name, seat: null, persona, ...life, ...unused };
  // Nobody knows the text of this key: it is only used through tokens.
  keys.insert(made, secretHash(newKey(random)));
  return { answer: issue(granting, { ...grant, key: id }, newKeyText(REFRESH_PREFIX, random)), made };
}

/** Exchanges a refresh token for new tokens. Reusing a token ends the grant (RFC 9700, section 4.14.2). */
export function exchangeRefresh(granting: Granting, paper: string, sent: { token: string; client: string }): Exchanged {
  const { grants, keys, now } = granting;
  const { family, rotation } = partsOf(sent.token);
  const grant = grants.byRefresh(secretHash(family));
  if (grant === null || grant.paper !== paper) return refused('the refresh token is unknown; sign in again');
  if (grant.client !== sent.client) return refused('the refresh token belongs to another client');
  if (grant.key === null || activeKey(keys, grant.key, now) === null || activeKey(keys, grant.seat, now) === null) {
    return refused('the access that the seat granted has ended; sign in again');
  }
  if (now >= (grant.refresh_expires_at ?? 0)) return refused('the refresh token has expired; sign in again');
  if (secretHash(rotation) !== grant.rotation) {
    const ended = end(granting, grant);
    return { ...refused('the refresh token was used before, so its access has ended; sign in again'), ...ended };
  }
  return { answer: issue(granting, grant, family) };
}

/** Ends the grant to which a token belongs (RFC 7009). Does nothing for an unknown token. Call it in a transaction. */
export function revokeToken(
  granting: Pick<Granting, 'grants' | 'keys' | 'now'>,
  paper: string,
  token: string,
): Pick<Exchanged, 'ended'> {
  const { grants } = granting;
  const grant = grants.byAccess(secretHash(token)) ?? grants.byRefresh(secretHash(partsOf(token).family));
  return grant?.paper === paper ? end(granting, grant) : {};
}

function issue({ grants, now, random }: Granting, grant: OAuthGrant, family: string): Tokens {
  const access = newKeyText(ACCESS_PREFIX, random);
  const rotation = Buffer.from(random(SECRET_BYTES)).toString('base64url');
  grants.setTokens(grant.code, grant.key ?? '', {
    access: secretHash(access),
    access_expires_at: now + ACCESS_LIFE,
    refresh: secretHash(family),
    rotation: secretHash(rotation),
    refresh_expires_at: now + REFRESH_LIFE,
  });
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_LIFE / 1000,
    refresh_token: `${family}.${rotation}`,
    scope: grant.level === 'agent' ? 'read write' : 'read',
  };
}

function end({ keys, now }: Pick<Granting, 'keys' | 'now'>, { paper, key }: OAuthGrant): Pick<Exchanged, 'ended'> {
  const ended = key === null ? null : keys.byId(key);
  return ended !== null && keys.revoke(paper, ended.id, now, `key:${ended.id}`) ? { ended } : {};
}

function partsOf(token: string): { family: string; rotation: string } {
  const [family = '', rotation = ''] = token.slice(0, 200).split('.');
  return { family, rotation };
}

function activeKey(keys: KeyTable, id: string, now: number): AccessKey | null {
  const key = caught(Fault, () => requireActive(keys, keys.byId(id), now));
  return key instanceof Fault ? null : key;
}

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

const refused = (message: string): Exchanged => ({ answer: new OAuthFault('invalid_grant', message) });

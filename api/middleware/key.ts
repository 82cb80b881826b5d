import type { HttpBindings } from '@hono/node-server';
import { createMiddleware } from 'hono/factory';
import { type AccessKey, type KeyTable, type Level, reaches, requireKey } from '../../src/desk/papers/keys.ts';
import { isAccessToken, keyOfToken } from '../../src/desk/papers/oauth.ts';
import type { AppContext } from '../../src/server/context.ts';
import { Fault } from '../../src/shared/fault.ts';
import type { PaperContext, PaperEnv, Site } from '../env.ts';
import { actingIn } from './acting.ts';
import type { KeyUses } from './key-uses.ts';

/** A request's header by its name in lower case. */
export type SentHeader = (name: string) => string | null | undefined;

/**
 * The text of the key that a request carries, as `Authorization: Bearer <key>` (RFC 6750, section 2.1) or in the header
 * `own`; null without one. Throws `key_invalid` if the two differ, or if `Authorization` has another form.
 */
export function sentKey(header: SentHeader, own: string): string | null {
  const [authorization, plain] = [header('authorization'), header(own.toLowerCase())];
  const texts: string[] = [];
  if (typeof authorization === 'string') {
    const text = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (text === undefined)
      throw new Fault('key_invalid', 'Authorization does not have the form `Bearer <key>`; send it in that form');
    texts.push(text);
  }
  if (typeof plain === 'string') texts.push(plain.trim());
  const [text, other] = texts;
  if (other !== undefined && other !== text) {
    throw new Fault('key_invalid', `Authorization and ${own} hold different keys; send one`);
  }
  return text ?? null;
}

/** The key of a request, or the one that its access token stands for; null without. Throws `key_invalid`, `key_expired`. */
export function keyOfRequest(keys: KeyTable, header: SentHeader, now: number): AccessKey | null {
  const text = sentKey(header, 'X-NRF-Key');
  if (text === null) return null;
  return isAccessToken(text) ? keyOfToken(keys, text, now) : requireKey(keys, text, now);
}

/**
 * The paper that a request's key belongs to; null without a valid key: where no key is required, a bad one is ignored.
 * Call it before the requested paper is known, so that its timing reveals nothing about that paper.
 */
export function paperOfKey(keys: KeyTable, header: SentHeader, now: number): string | null {
  try {
    return keyOfRequest(keys, header, now)?.paper ?? null;
  } catch {
    return null;
  }
}

/**
 * Admits callers that may see the paper, and puts the paper and the key into the context. Throws `key_invalid`,
 * `key_expired`, `wrong_paper`, and `not_found` for missing and private papers, which look the same from outside.
 */
export function requireVisiblePaper(
  { store, clock }: AppContext,
  siteOf: (env: HttpBindings) => Site | null,
  uses: KeyUses,
) {
  return createMiddleware<PaperEnv>(async (c, next) => {
    const key = admit(c, siteOf(c.env), { store, clock });
    if (key !== null) uses.note(key.id, clock.now());
    await next();
  });
}

/** Puts the site and the key of a request, which it returns, into the context; throws as `requireVisiblePaper`. */
export function admit(
  c: PaperContext,
  site: Site | null,
  { store, clock: { now } }: Pick<AppContext, 'store' | 'clock'>,
) {
  const key = actingIn(c.env)?.key ?? keyOfRequest(store.desk.keys, (name) => c.req.header(name), now());
  if (key !== null && key.paper !== site?.slug) {
    throw new Fault('wrong_paper', `this key only works for ${key.paper}; use it under that paper’s path`);
  }
  const paper = site?.paper ?? null;
  if (site === null || paper === null || !(paper.paper_public || key !== null)) throw notFound();
  c.set('site', { ...site, paper });
  c.set('key', key);
  return key;
}

/** The same message for missing and private papers. */
export function notFound(): Fault {
  return new Fault('not_found', 'there is nothing at this address');
}

/** Admits callers whose key has at least this level. Throws `key_required`, `level_too_low`. */
export function requireLevel(level: Level) {
  return createMiddleware<PaperEnv>(async (c, next) => {
    requireKeyOfLevel(c.get('key'), level);
    await next();
  });
}

/** Returns the key if it has at least this level. Throws `key_required`, `level_too_low`. */
export function requireKeyOfLevel(key: AccessKey | null, level: Level): AccessKey {
  if (key === null) {
    throw new Fault(
      'key_required',
      'this route takes a key of the paper; send it as `Authorization: Bearer <key>` or `X-NRF-Key: <key>`',
    );
  }
  if (!reaches(key.level, level)) {
    throw new Fault(
      'level_too_low',
      `this route takes ${level === 'admin' ? 'an admin' : `an ${level} or admin`} key, and yours is ${key.level === 'read' ? 'a' : 'an'} ${key.level} key`,
    );
  }
  return key;
}

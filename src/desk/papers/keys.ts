import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { isoOrNull, isoTime } from '../../proof/time.ts';
import { isKeyText, newKeyText, secretHash } from '../../shared/access-key.ts';
import { Fault } from '../../shared/fault.ts';
import { KEY_STATES, type KeyDays, type KeyLife, keyExpiry, keyLifeRow, NEVER_USED } from '../../shared/key-life.ts';
import { shownProblems } from '../../shared/shown-text.ts';
import type { Archive } from '../archive.ts';
import { line } from '../line.ts';

/** What a key permits: reading its own desk; writing as an agent, once the agreement is signed; or everything. */
export const LEVELS = ['read', 'agent', 'admin'] as const;
export type Level = (typeof LEVELS)[number];

/** A key of one paper, as lists show it. The key itself is shown once and not stored. Times in ms. */
export interface AccessKey extends KeyLife {
  /** Its public id: a lower-case ULID. */
  id: string;
  paper: string;
  level: Level;
  name: string;
  /** Mail address of the person who holds the seat, or null for a program's key. */
  seat: string | null;
  /** The only persona that an agent's key may sign as; null for any. */
  persona: string | null;
  /** When it was paused, in ms; null while it may write. */
  paused_at: number | null;
  /** Like `made_by`. */
  paused_by: string | null;
}

/** The counts of a key. */
export interface KeyWork {
  /** Pieces and revisions that it filed. */
  filed: number;
  /** Filings that the door refused. */
  refused: number;
  /** Time of its last filing, refusal or other change, in ms; null before the first. */
  last_at: number | null;
}

export const NO_WORK: KeyWork = { filed: 0, refused: 0, last_at: null };

export interface KeyTable {
  insert(key: AccessKey, hash: string): void;
  list(paper: string): (AccessKey & KeyDays & KeyWork)[];
  /** The UTC days on which a key was used, oldest first. */
  daysOf(id: string): string[];
  /** The key with this hash, active or not. */
  byHash(hash: string): { key: AccessKey; hash: string } | null;
  /** The key to which the access token with this hash belongs, active or not, and when the token expires. */
  byToken(hash: string): { key: AccessKey; expires_at: number } | null;
  /** A key, active or not. */
  byId(id: string): AccessKey | null;
  /** Whether a key has expired. Once true, the result never changes back within this process. */
  hasExpired(key: AccessKey, now: number): boolean;
  /** The key of a person's seat, unless revoked. */
  seat(paper: string, email: string): AccessKey | null;
  /** Whether a person ever had a seat, revoked or not. */
  everSeated(paper: string): boolean;
  /**
   * Revokes a key, and the access that its seat granted to clients. Returns false if the paper has no such active key.
   */
  revoke(paper: string, id: string, at: number, by: string): boolean;
  /** Pauses an active key, or resumes it when `at` is null. Returns false if it does not exist or nothing changed. */
  pause(paper: string, id: string, at: number | null, by: string | null): boolean;
  /** Records when and on which days keys were last used. */
  used(uses: Iterable<[id: string, at: number]>): void;
}

/** Maximum length of a key's name, in UTF-16 units. */
const KEY_NAME_MAX = 100;

/** The body of `POST /api/v1/keys`. */
export const KeyBody = z
  .strictObject({
    level: z.enum(LEVELS, { error: `must be one of ${LEVELS.join(', ')}` }),
    name: line(KEY_NAME_MAX)
      .check(({ value, issues }) => {
        for (const { message } of shownProblems('name', value)) issues.push({ code: 'custom', input: value, message });
      })
      .refine((text) => text !== '', 'must say whose key it is'),
    seat: z.email('must be the mail address of the person who sits there').max(254).nullish(),
    persona: z.string().nullish(),
    expires_at: z
      .string()
      .nullish()
      .meta({ format: 'date-time', description: 'When it expires; omit it for a key that never does.' }),
  })
  .meta({
    id: 'KeyOrder',
    description:
      'A key to be made. `seat` makes it a person’s; `persona` binds an agent’s key to the byline of one persona.',
    example: { level: 'read', name: 'The archive’s reader' },
  });
export type KeyBody = z.infer<typeof KeyBody>;

/** The prefix of every paper's keys. */
const PREFIX = 'nrf_';

/** Generates a new paper key. `random` returns n secure bytes. */
export function newKey(random: (n: number) => Uint8Array): string {
  return newKeyText(PREFIX, random);
}

/** Whether a text has the form and the checksum of a paper key. */
export function isKey(text: string): boolean {
  return isKeyText(PREFIX, text);
}

/** The dependencies of key creation, and who creates the key. */
export interface KeyIssuer {
  keys: KeyTable;
  archive: Archive;
  now(): number;
  newId(): string;
  /** n secure bytes. */
  random(n: number): Uint8Array;
  /** Who creates it: `cli`, `key:<id>`, or `link:<id>` of the link for the first seat. */
  by: string;
}

/**
 * Creates a key of a paper and returns its text, which cannot be shown again. Throws `conflict` when the seat is
 * taken, `invalid_request` when the persona is unknown, the level does not match the seat or the persona, or the key
 * would expire at once.
 */
export function makeKey(maker: KeyIssuer, paper: string, body: KeyBody): { key: string; made: AccessKey } {
  const seat = body.seat?.toLowerCase() ?? null;
  const persona = body.persona ?? null;
  if (seat !== null && body.level === 'agent') {
    throw invalidField('seat', 'seats are for people, so a seat cannot have the level agent; use read or admin');
  }
  if (persona !== null && body.level !== 'agent') {
    throw invalidField(
      'persona',
      `a ${body.level} key does not sign as a persona; leave persona out, or make an agent key`,
    );
  }
  if (persona !== null && maker.archive.persona(persona)?.active !== true) {
    throw invalidField('persona', `${JSON.stringify(persona)} is not an active persona of this desk; see the masthead`);
  }
  const expires_at = body.expires_at == null ? null : keyExpiry(body.expires_at, 'expires_at', maker.now());
  const holder = seat === null ? null : maker.keys.seat(paper, seat);
  if (holder !== null) {
    throw new Fault('conflict', `${seat} has a seat already (key ${holder.id}); revoke it before you give another`);
  }
  const key = newKey(maker.random);
  const made: AccessKey = {
    id: maker.newId(),
    paper,
    level: body.level,
    name: body.name,
    seat,
    persona,
    made_at: maker.now(),
    made_by: maker.by,
    expires_at,
    used_at: null,
    revoked_at: null,
    revoked_by: null,
    paused_at: null,
    paused_by: null,
  };
  maker.keys.insert(made, secretHash(key));
  return { key, made };
}

/** A key with its activity, as a paper's admin sees it. `isExpired` comes from the key's table. */
export function keyRow(key: AccessKey & Partial<KeyDays & KeyWork>, isExpired: boolean) {
  const { id, level, name, seat, persona, days, first_day = null, last_day = null } = key;
  const uses = days === undefined ? NEVER_USED : { days, first_day, last_day };
  const life = keyLifeRow(key, uses, isExpired);
  const isPaused = key.paused_at !== null && life.state === 'in_force';
  return {
    ...{ id, level, name, seat, persona, ...life },
    state: isPaused ? ('paused' as const) : life.state,
    paused_at: isoOrNull(key.paused_at),
    paused_by: key.paused_by,
    work: { filed: key.filed ?? 0, refused: key.refused ?? 0, last_at: isoOrNull(key.last_at ?? null) },
  };
}

/** A paper key's state: that of any key, or paused. */
export const PAPER_KEY_STATES = [...KEY_STATES, 'paused'] as const;

function invalidField(field: string, message: string): Fault {
  return new Fault('invalid_request', `${field}: ${message}`, { field });
}

/** The active key with this text. Throws `key_invalid` for malformed, unknown and revoked keys, `key_expired`. */
export function requireKey(keys: KeyTable, text: string, now: number): AccessKey {
  if (!isKey(text)) {
    const message =
      'this is not a key: a key is nrf_ and 43 letters and digits, and its checksum does not match; copy it again, complete';
    throw new Fault('key_invalid', message);
  }
  const hash = secretHash(text);
  const found = keys.byHash(hash);
  if (found === null || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) {
    throw new Fault('key_invalid', 'this key is unknown; ask the paper’s admin for one');
  }
  return requireActive(keys, found.key, now);
}

/** Returns the key if it is active at a time (ms). Throws `key_invalid`, `key_expired`. */
export function requireActive(keys: KeyTable, key: AccessKey | null, now: number): AccessKey {
  if (key === null || key.revoked_at !== null) {
    throw new Fault('key_invalid', 'this key was revoked; ask the paper’s admin for another');
  }
  if (keys.hasExpired(key, now)) {
    const end = isoTime(key.expires_at ?? now);
    throw new Fault('key_expired', `this key expired at ${end}; ask the paper’s admin for another`);
  }
  return key;
}

/** Throws `key_paused` unless the key may write. */
export function requireUnpaused({ paused_at }: Pick<AccessKey, 'paused_at'>): void {
  if (paused_at === null) return;
  const since = isoTime(paused_at);
  throw new Fault('key_paused', `this key was paused at ${since}; it may read, and an admin of the paper resumes it`);
}

/** Pauses a key, or resumes it. Returns the key as it is now, and whether it changed. Throws `not_found`. */
export function pauseKey(
  { keys, now }: { keys: KeyTable; now: number },
  paper: string,
  id: string,
  { paused, by }: { paused: boolean; by: string },
): { key: AccessKey & KeyDays & KeyWork; changed: boolean } {
  const changed = keys.pause(paper, id, paused ? now : null, paused ? by : null);
  const key = keys.list(paper).find((one) => one.id === id && one.revoked_at === null);
  if (key !== undefined) return { key, changed };
  const named = JSON.stringify(id.slice(0, 80));
  throw new Fault(
    'not_found',
    `${paper} has no key ${named} in force; GET /api/v1/keys or the command \`key list\` lists its keys`,
  );
}

/** Whether a key of one level may do what requires another. */
export function reaches(level: Level, asked: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(asked);
}

import { createHash } from 'node:crypto';
import { Fault } from '../fault.ts';

/** What a key opens: reading its own desk, writing to it, or writing as an agent that signed the terms. */
export type Level = 'read' | 'admin' | 'agent';
export const LEVELS: readonly Level[] = ['read', 'admin', 'agent'];

/** A key of one paper, as it is listed. The key itself is shown once and not kept. */
export interface AccessKey {
  /** Its public id: a lower-case ULID. */
  id: string;
  paper: string;
  level: Level;
  name: string;
  made_at: number;
  revoked_at: number | null;
}

export interface KeyTable {
  insert(key: AccessKey, hash: string): void;
  list(paper: string): AccessKey[];
  /** False when there is no such key of the paper that is still in force. */
  revoke(paper: string, id: string, at: number): boolean;
}

const PREFIX = 'nrf_';
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_LENGTH = 37;
const CHECK_LENGTH = 6;

/** A new key: `nrf_`, 37 random characters (220 bits), 6 of checksum. `random` gives n secure bytes. */
export function newKey(random: (n: number) => Uint8Array): string {
  let body = '';
  while (body.length < BODY_LENGTH) {
    for (const byte of random(BODY_LENGTH * 2)) {
      // 248 is the largest multiple of 62 in a byte: no character is likelier than another.
      if (byte < 248 && body.length < BODY_LENGTH) body += BASE62[byte % 62];
    }
  }
  return `${PREFIX}${body}${checksum(body)}`;
}

/** Whether a text has the form and the checksum of a key, so that a typo is told from a stranger. */
export function isKey(text: string): boolean {
  const match = /^nrf_([0-9A-Za-z]{37})([0-9A-Za-z]{6})$/.exec(text);
  return match?.[1] !== undefined && checksum(match[1]) === match[2];
}

/** What the store keeps of a key: the hex of its SHA-256. */
export function keyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Reads a level; throws `invalid_request`. */
export function levelFrom(text: string): Level {
  const level = LEVELS.find((candidate) => candidate === text);
  if (level === undefined) {
    throw new Fault('invalid_request', `level ${JSON.stringify(text)} is none; use ${LEVELS.join(', ')}`, {
      field: 'level',
    });
  }
  return level;
}

function checksum(body: string): string {
  let rest = createHash('sha256').update(PREFIX).update(body).digest().readUIntBE(0, 6);
  let text = '';
  for (let place = 0; place < CHECK_LENGTH; place++) {
    text = BASE62[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

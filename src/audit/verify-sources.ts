import { Fault } from '../fault.ts';
import { DuplicateMember, NotIJson, parseIJson } from '../ledger/i-json.ts';
import type { VerifyingKey } from '../ledger/keyring.ts';
import { keysOf } from '../ledger/keyring.ts';
import type { Limits } from './verify-texts.ts';
import { fetched, readText } from './verify-texts.ts';

// Where `broadsheet verify` reads documents and keys: files and addresses.

export function isAddress(where: string): boolean {
  return /^https?:\/\//.test(where);
}

/** Parses I-JSON. Throws `invalid_request`, and `DuplicateMember` for a repeated member. */
export function parsed(where: string, text: string, give: string): unknown {
  try {
    return parseIJson(text);
  } catch (error) {
    if (error instanceof DuplicateMember || !(error instanceof NotIJson)) throw error;
    throw new Fault('invalid_request', `${where} ${error.message}; give ${give}`);
  }
}

/** The limits for a site's key document, enough for hundreds of keys. */
const LISTED: Limits = { bytes: 1_000_000, silence: 10_000, whole: 20_000 };

/** The address of the key list of a proof's paper. On a shared host each paper has a list at its own root. */
function keysBeside(address: string): string | null {
  const url = URL.parse(address);
  const segments = url?.pathname.split('/') ?? [];
  const root =
    segments.at(-3) === 'stories' && segments.at(-1) === 'proof.json'
      ? segments.slice(0, -3)
      : segments.slice(-5, -2).join('/') === 'api/v1/stories' && segments.at(-1) === 'proof'
        ? segments.slice(0, -5)
        : null;
  return url === null || root === null ? null : `${url.origin}${root.join('/')}/.well-known/newsdesk-keys.json`;
}

/** The keys that the site of a proof lists, with their times; or why they cannot be read, in words. */
export async function siteKeys(proof: string): Promise<{ from: string; keys: VerifyingKey[] } | { why: string }> {
  const from = keysBeside(proof);
  if (from === null) return { why: 'the address does not say where the paper lists its keys' };
  try {
    return { from, keys: keysIn(from, await fetched(from, 'the address of a key document', LISTED)) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { why: error.message };
  }
}

/** The keys of a key document, in a file or at an address. Throws when it cannot be read or lists none. */
export async function keysAt(where: string): Promise<VerifyingKey[]> {
  if (isAddress(where)) return keysIn(where, await fetched(where, 'the address of a key document'));
  return keysInFile(where);
}

export function keysInFile(file: string): VerifyingKey[] {
  return keysIn(file, readText(file, 'a newsdesk-keys.json'));
}

function keysIn(where: string, text: string): VerifyingKey[] {
  const found = keysOf(parsedKeys(where, text));
  if (found.length === 0) {
    throw new Fault('invalid_request', `${where} holds no keys; give a newsdesk-keys.json or records-keys.json`);
  }
  return found;
}

function parsedKeys(where: string, text: string): unknown {
  try {
    return parsed(where, text, 'a newsdesk-keys.json or records-keys.json');
  } catch (error) {
    if (!(error instanceof DuplicateMember)) throw error;
    throw new Fault('invalid_request', `${where} ${error.message}: it is ambiguous; get the document again`);
  }
}

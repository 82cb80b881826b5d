import { Fault } from '../fault.ts';
import { NamedTwice, NotIJson, parseIJson } from '../ledger/i-json.ts';
import type { DoorKey } from '../ledger/keyring.ts';
import { keysOf } from '../ledger/keyring.ts';
import { fetched, readText } from './verify-texts.ts';

/** Where `broadsheet verify` gets what it checks, and the keys to check it by: files and addresses. */

export function isAddress(where: string): boolean {
  return /^https?:\/\//.test(where);
}

/** Parsed JSON. Throws `invalid_request`, and `NamedTwice` where a member is. */
export function parsed(where: string, text: string, give: string): unknown {
  try {
    return parseIJson(text);
  } catch (error) {
    if (error instanceof NamedTwice || !(error instanceof NotIJson)) throw error;
    throw new Fault('invalid_request', `${where} ${error.message}; give ${give}`);
  }
}

/** The keys of a key document, in a file or at an address. Throws when it is not there, or lists none. */
export async function keysAt(where: string): Promise<DoorKey[]> {
  if (isAddress(where)) return keysIn(where, await fetched(where, 'the address of a key document'));
  return keysInFile(where);
}

export function keysInFile(file: string): DoorKey[] {
  return keysIn(file, readText(file, 'a newsdesk-keys.json'));
}

function keysIn(where: string, text: string): DoorKey[] {
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
    if (!(error instanceof NamedTwice)) throw error;
    throw new Fault('invalid_request', `${where} ${error.message}: nobody can tell which of the two counts`);
  }
}

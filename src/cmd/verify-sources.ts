import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { Fault } from '../fault.ts';
import type { DoorKey } from '../ledger/keyring.ts';
import { keysFromVkeys } from '../ledger/proof.ts';

/** Where `broadsheet verify` gets what it checks, and the keys to check it by: files and addresses. */

/** How long a server may take to answer, in ms. */
const FETCH_TIMEOUT = 10_000;

/** Of a key document, all that a verifier needs; an older copy may list the verifier keys alone. */
const KeyDocument = z.object({
  keys: z.array(z.object({ vkey: z.string(), nbf: z.number().default(0), retired_at: z.iso.datetime().nullish() })),
});

export function isAddress(where: string): boolean {
  return /^https?:\/\//.test(where);
}

/** A text from an address. Throws `unavailable` without an answer or when it is to be asked later, `not_found` for another than 2xx; `give` says what to give instead. */
export async function fetched(address: string, give: string): Promise<string> {
  let response: Response;
  try {
    response = await fetch(address, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(FETCH_TIMEOUT),
    });
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Fault('unavailable', `${address} did not answer (${cause instanceof Error ? cause.message : message})`);
  }
  if (response.ok) return response.text();
  const wait = response.headers.get('retry-after');
  if (wait !== null) throw new Fault('unavailable', `${address} answered ${response.status}; ask again in ${wait} s`);
  throw new Fault('not_found', `${address} answered ${response.status}; give ${give}`);
}

/** Parsed JSON. Throws `invalid_request`. */
export function parsed(where: string, text: string, give: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault('invalid_request', `${where} is not JSON; give ${give}`);
  }
}

/** The keys of a key document, in a file or at an address. Throws when it is not there, or lists none. */
export async function keysAt(where: string): Promise<DoorKey[]> {
  if (isAddress(where)) return keysIn(where, await fetched(where, 'the address of a key document'));
  return keysInFile(where);
}

export function keysInFile(file: string): DoorKey[] {
  if (!existsSync(file)) throw new Fault('not_found', `${file} is not there; give a newsdesk-keys.json`);
  return keysIn(file, readFileSync(file, 'utf8'));
}

function keysIn(where: string, text: string): DoorKey[] {
  const found = keysOf(parsed(where, text, 'a newsdesk-keys.json or records-keys.json'));
  if (found.length === 0) {
    throw new Fault('invalid_request', `${where} holds no keys; give a newsdesk-keys.json or records-keys.json`);
  }
  return found;
}

/** The keys that a parsed document lists, with their times; none for what is no key document. */
export function keysOf(document: unknown): DoorKey[] {
  const read = KeyDocument.safeParse(document);
  if (!read.success) return [];
  return read.data.keys.flatMap(({ vkey, nbf, retired_at }) =>
    keysFromVkeys([vkey]).map((key) => ({
      ...key,
      nbf: nbf * 1000,
      retired_at: retired_at == null ? null : Date.parse(retired_at),
    })),
  );
}

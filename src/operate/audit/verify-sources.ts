import { createReadStream } from 'node:fs';
import { DuplicateMember, NotIJson, parseIJson } from '../../proof/i-json.ts';
import { keysOf, type VerifyingKey } from '../../proof/keyring.ts';
import type { Policy } from '../../proof/log/policy.ts';
import { codeOf, Fault, messageOf, only, reasonOf } from '../../shared/fault.ts';
import { readWithin, sizeText } from '../../shared/size.ts';

// How `broadsheet verify` reads untrusted input: with limits on its size and duration.

/** What a caller of `verifyAt` trusts. */
export interface Trust {
  keys?: VerifyingKey[] | undefined;
  /** Requires that a log of this policy has every receipt, and meets the quorum. Without it the log is not checked. */
  policy?: Policy | undefined;
}

/** Maximum size of a document, in bytes; evidence bundles are the largest. */
export const LONGEST_DOCUMENT = 64_000_000;
/** How long a server may send nothing, before and during its response, in ms. */
const SILENCE = 10_000;
/** Maximum duration of a whole response, in ms. */
const LONGEST_ANSWER = 120_000;

/** Limits of a request: `bytes`; `silence` and `whole` in ms, the longest silence and the longest response. */
export interface Limits {
  bytes?: number;
  silence?: number;
  whole?: number;
  /** The media type to ask for. */
  accept?: string;
}

/** As `fetchedBytes`, for a text. */
export async function fetched(address: string, give: string, limits?: Limits): Promise<string> {
  return (await fetchedBytes(address, give, limits)).toString('utf8');
}

/**
 * Fetches a file; `give` says what to supply instead. Throws `not_found` with the `status`, and `unavailable` for a
 * missing, stalled or oversized response, or one with Retry-After.
 */
export async function fetchedBytes(address: string, give: string, limits: Limits = {}): Promise<Buffer> {
  const { bytes = LONGEST_DOCUMENT } = limits;
  // The limit is on decompressed bytes.
  return readWithin(fetchedChunks(address, give, limits), bytes, tooLong(address, bytes));
}

/** Fetches a file part by part. Throws as `fetchedBytes` does, except for its size; `whole` may be `Infinity`. */
export async function* fetchedChunks(
  address: string,
  give: string,
  { silence = SILENCE, whole = LONGEST_ANSWER, accept = 'application/json' }: Limits = {},
): AsyncGenerator<Uint8Array> {
  const stop = new AbortController();
  const fail = (why: string) => () => stop.abort(new Fault('unavailable', `${address} ${why}`));
  const end = whole === Infinity ? undefined : setTimeout(fail(`took longer than ${whole / 1000} s to answer`), whole);
  let quiet = setTimeout(fail(`did not answer within ${silence / 1000} s`), silence);
  const heard = () => {
    clearTimeout(quiet);
    quiet = setTimeout(fail(`stopped in the middle of its response for ${silence / 1000} s`), silence);
  };
  try {
    const response = await fetch(address, { headers: { accept }, signal: stop.signal });
    heard();
    if (response.ok) {
      yield* noting(response.body ?? [], heard);
      return;
    }
    const { status } = response;
    const wait = status === 404 || status === 410 ? null : response.headers.get('retry-after');
    if (wait !== null) throw new Fault('unavailable', `${address} answered ${status}; ask again in ${wait} s`);
    throw new Fault('not_found', `${address} answered ${status}; give ${give}`, { status });
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('unavailable', `${address} did not answer (${reasonOf(error)})`);
  } finally {
    clearTimeout(end);
    clearTimeout(quiet);
    // Discards the rest of the response.
    stop.abort();
  }
}

async function* noting(chunks: AsyncIterable<Uint8Array> | never[], heard: () => void): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) {
    heard();
    yield chunk;
  }
}

/** As `readBytes`, for a text. */
export async function readText(file: string, give: string, longest?: number): Promise<string> {
  return (await readBytes(file, give, longest)).toString('utf8');
}

/** Reads a file, or standard input for `-`. Throws `not_found`, and `unavailable` for what is unreadable or too long. */
export async function readBytes(file: string, give: string, longest = LONGEST_DOCUMENT): Promise<Buffer> {
  const name = file === '-' ? 'standard input' : file;
  try {
    return await readWithin(file === '-' ? process.stdin : createReadStream(file), longest, tooLong(name, longest));
  } catch (error) {
    if (error instanceof Fault) throw error;
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Fault('not_found', `${file} does not exist; give ${give}`);
    throw new Fault('unavailable', `${name} cannot be read (${messageOf(error)}); give ${give}`);
  }
}

function tooLong(where: string, longest: number): () => Fault {
  return () =>
    new Fault(
      'unavailable',
      `${where} is longer than ${sizeText(longest)}, the most that is checked; give one document of a service or a paper`,
    );
}

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
const LISTED: Limits = { bytes: 1_000_000, whole: 20_000 };

/** The address of the key list of the paper of a proof or a fact. On a shared host each paper has a list at its own root. */
function keysBeside(address: string): string | null {
  const url = URL.parse(address);
  const segments = url?.pathname.split('/') ?? [];
  const root =
    segments.at(-3) === 'stories' && segments.at(-1) === 'proof.json'
      ? segments.slice(0, -3)
      : segments.slice(-5, -2).join('/') === 'api/v1/stories' && segments.at(-1) === 'proof'
        ? segments.slice(0, -5)
        : segments.at(-2) === 'facts'
          ? segments.slice(0, segments.slice(-4, -1).join('/') === 'api/v1/facts' ? -4 : -2)
          : null;
  return url === null || root === null ? null : `${url.origin}${root.join('/')}/.well-known/newsdesk-keys.json`;
}

/** The keys that the site of a proof lists, with their times; or why they cannot be read, in words. */
export async function siteKeys(proof: string): Promise<{ from: string; keys: VerifyingKey[] } | { why: string }> {
  const from = keysBeside(proof);
  if (from === null) return { why: 'the address does not say where the paper lists its keys' };
  const keys = await fetched(from, 'the address of a key document', LISTED)
    .then((text) => keysIn(from, text))
    .catch(only(Fault));
  return keys instanceof Fault ? { why: keys.message } : { from, keys };
}

/** The keys of a key document, in a file or at an address. Throws when it cannot be read or lists none. */
export async function keysAt(where: string): Promise<VerifyingKey[]> {
  if (isAddress(where)) return keysIn(where, await fetched(where, 'the address of a key document'));
  return keysInFile(where);
}

export async function keysInFile(file: string): Promise<VerifyingKey[]> {
  return keysIn(file, await readText(file, 'a newsdesk-keys.json'));
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

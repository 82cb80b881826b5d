import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { codeOf, Fault, messageOf, reasonOf } from '../fault.ts';
import { sizeText } from '../size.ts';

// How `broadsheet verify` reads untrusted input: with limits on its size and duration.

/** Maximum size of a document, in bytes; evidence bundles are the largest. */
export const LONGEST_DOCUMENT = 64_000_000;
/** How long a server may send nothing, before and during its response, in ms. */
const SILENCE = 10_000;
/** Maximum duration of a whole response, in ms. */
const LONGEST_ANSWER = 120_000;

/** In bytes, and in ms. */
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
 * Fetches a file. `give` says what to supply instead. Throws `not_found` with the `status` for one other than 2xx, and
 * `unavailable` for a missing, stalled or oversized response, and for one with Retry-After, unless it says
 * that there is no such file.
 */
export async function fetchedBytes(
  address: string,
  give: string,
  { bytes = LONGEST_DOCUMENT, silence = SILENCE, whole = LONGEST_ANSWER, accept = 'application/json' }: Limits = {},
): Promise<Buffer> {
  const stop = new AbortController();
  const fail = (why: string) => () => stop.abort(new Fault('unavailable', `${address} ${why}`));
  const end = setTimeout(fail(`took longer than ${whole / 1000} s to answer`), whole);
  let quiet = setTimeout(fail(`did not answer within ${silence / 1000} s`), silence);
  const heard = () => {
    clearTimeout(quiet);
    quiet = setTimeout(fail(`stopped in the middle of its response for ${silence / 1000} s`), silence);
  };
  try {
    const response = await fetch(address, { headers: { accept }, signal: stop.signal });
    heard();
    if (response.ok) return await bodyOf(response, address, bytes, heard);
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

async function bodyOf(response: Response, address: string, longest: number, heard: () => void): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Counts decompressed bytes.
  for await (const chunk of response.body ?? []) {
    heard();
    length += chunk.length;
    if (length > longest) throw tooLong(address, longest);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** As `readBytes`, for a text. */
export function readText(file: string, give: string, longest?: number): string {
  return readBytes(file, give, longest).toString('utf8');
}

/**
 * Reads a file, or standard input for `-`. Throws `not_found` when the file does not exist, and `unavailable` when it
 * is unreadable or too long.
 */
export function readBytes(file: string, give: string, longest = LONGEST_DOCUMENT): Buffer {
  const name = file === '-' ? 'standard input' : file;
  let input: number;
  try {
    input = file === '-' ? 0 : openSync(file, 'r');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Fault('not_found', `${file} does not exist; give ${give}`);
    throw new Fault('unavailable', `${file} cannot be read (${messageOf(error)}); give ${give}`);
  }
  try {
    if (fstatSync(input).size > longest) throw tooLong(name, longest);
    return bytesOf(input, name, longest);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('unavailable', `${name} cannot be read (${messageOf(error)}); give ${give}`);
  } finally {
    if (input !== 0) closeSync(input);
  }
}

function bytesOf(input: number, name: string, longest: number): Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = Buffer.alloc(1 << 16);
    const size = readOrWait(input, chunk);
    if (size === 0) return Buffer.concat(chunks);
    length += size;
    if (length > longest) throw tooLong(name, longest);
    chunks.push(chunk.subarray(0, size));
  }
}

/** Waits while a pipe is empty. A closed pipe counts as the end of input. */
function readOrWait(input: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(input, chunk);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function tooLong(where: string, longest: number): Fault {
  return new Fault(
    'unavailable',
    `${where} is longer than ${sizeText(longest)}, the most that is checked; give one document of a service or a paper`,
  );
}

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { Fault } from '../fault.ts';

/** How `broadsheet verify` reads what others wrote: never more than a document can be, and never for ever. */

/** Of a document, in bytes; evidence bundles are the largest. */
export const LONGEST_DOCUMENT = 64_000_000;
/** How long a server may be silent, before its answer and within it, in ms. */
const SILENCE = 10_000;
/** How long the whole of an answer may take, in ms. */
const LONGEST_ANSWER = 120_000;

/** In bytes, and in ms. */
export interface Limits {
  bytes?: number;
  silence?: number;
  whole?: number;
}

/**
 * A text from an address. Throws `unavailable` without an answer, for one that stalls
 * or is too long, or that is to be asked for later, `not_found` for another than 2xx;
 * `give` says what to give instead.
 */
export async function fetched(
  address: string,
  give: string,
  { bytes = LONGEST_DOCUMENT, silence = SILENCE, whole = LONGEST_ANSWER }: Limits = {},
): Promise<string> {
  const stop = new AbortController();
  const fail = (why: string) => () => stop.abort(new Fault('unavailable', `${address} ${why}`));
  const end = setTimeout(fail(`took longer than ${whole / 1000} s to answer`), whole);
  let quiet = setTimeout(fail(`did not answer within ${silence / 1000} s`), silence);
  const heard = () => {
    clearTimeout(quiet);
    quiet = setTimeout(fail(`stopped in the middle of its answer for ${silence / 1000} s`), silence);
  };
  try {
    const response = await fetch(address, { headers: { accept: 'application/json' }, signal: stop.signal });
    heard();
    if (response.ok) return await textOf(response, address, bytes, heard);
    const wait = response.headers.get('retry-after');
    if (wait !== null) throw new Fault('unavailable', `${address} answered ${response.status}; ask again in ${wait} s`);
    throw new Fault('not_found', `${address} answered ${response.status}; give ${give}`);
  } catch (error) {
    if (error instanceof Fault) throw error;
    const { message, cause } = error as Error;
    throw new Fault('unavailable', `${address} did not answer (${cause instanceof Error ? cause.message : message})`);
  } finally {
    clearTimeout(end);
    clearTimeout(quiet);
    // Whatever is still on its way is not waited for.
    stop.abort();
  }
}

async function textOf(response: Response, address: string, longest: number, heard: () => void): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // What was sent compressed is counted as it unfolds.
  for await (const chunk of response.body ?? []) {
    heard();
    length += chunk.length;
    if (length > longest) throw tooLong(address, longest);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The text of a file, or of standard input for `-`. Throws `not_found` when there is none, `unavailable` when it cannot be read or is too long. */
export function readText(file: string, give: string, longest = LONGEST_DOCUMENT): string {
  const name = file === '-' ? 'standard input' : file;
  let input: number;
  try {
    input = file === '-' ? 0 : openSync(file, 'r');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new Fault('not_found', `${file} is not there; give ${give}`);
    throw new Fault('unavailable', `${file} cannot be read (${message}); give ${give}`);
  }
  try {
    if (fstatSync(input).size > longest) throw tooLong(name, longest);
    return bytesOf(input, name, longest).toString('utf8');
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('unavailable', `${name} cannot be read (${(error as Error).message}); give ${give}`);
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

/** A pipe that is empty just now, or closed on the other side, is no error. */
function readOrWait(input: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(input, chunk);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function tooLong(where: string, longest: number): Fault {
  return new Fault(
    'unavailable',
    `${where} is longer than the ${Math.floor(longest / 1_000_000)} MB that are checked; give one document of a service or a desk`,
  );
}

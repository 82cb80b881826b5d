import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Fault, messageOf } from '../fault.ts';
import { sizeText } from '../size.ts';

const CHUNK = 2 ** 20;
/** How many bytes of a line that is too long are expanded to find its end: a few kilobytes may become gigabytes. */
const SKIPPED_MAX = 64_000_000;

/**
 * The lines of a file, which is gzipped if its name ends with `.gz`; the last one is empty if the file ends with a
 * newline. Lines that are too long are cut to a little more than `max` bytes. Throws `invalid_request` for damaged data,
 * and for a gzipped line without an end.
 */
export async function* linesOf(file: string, max: number): AsyncIterable<Buffer> {
  const raw = createReadStream(file, { highWaterMark: CHUNK });
  // Errors surface where the lines are read, so the callback has nothing to do.
  const isPacked = file.endsWith('.gz');
  const input = isPacked ? pipeline(raw, createGunzip(), () => undefined) : raw;
  let rest: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let start = 0;
      // Only \n ends a line: JSON strings may contain U+2028 and U+2029 unescaped.
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        const part = chunk.subarray(start, end);
        // Most lines are in one chunk, and need no copy.
        yield rest.length === 0 ? part : Buffer.concat([...rest, part]);
        [rest, length] = [[], 0];
        start = end + 1;
      }
      // A file without an end of line, or a small one that decompresses to it, must not fill the memory.
      if (length <= max) rest.push(chunk.subarray(start));
      length += chunk.length - start;
      if (isPacked && length > max + SKIPPED_MAX) throw new Error(`a line expands to more than ${sizeText(length)}`);
    }
  } catch (error) {
    throw new Fault(
      'invalid_request',
      `${file} cannot be read (${messageOf(error)}); it is damaged or cut short: get it again`,
    );
  }
  yield Buffer.concat(rest);
}

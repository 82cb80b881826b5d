import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { ArchiveError, messageOf } from './archive-error.ts';

const CHUNK = 2 ** 16;
/** How far into a file an XML declaration is searched for, in bytes. */
const DECLARATION = 300;

/**
 * The text of a file in parts, decoded by its byte order mark, else by the encoding that its XML declaration names, else
 * as UTF-8. Throws `ArchiveError` for bytes that are not in that encoding.
 */
export async function* decoded(file: string, input: Readable = createReadStream(file, { highWaterMark: CHUNK })) {
  let decoder: TextDecoder | null = null;
  let label = 'utf-8';
  let line = 1;
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      if (decoder === null) {
        label = encodingOf(chunk);
        decoder = new TextDecoder(label, { fatal: true });
      }
      const text = decoder.decode(chunk, { stream: true });
      yield text;
      line += text.split('\n').length - 1;
    }
    const rest = decoder?.decode() ?? '';
    if (rest !== '') yield rest;
  } catch (error) {
    if (error instanceof ArchiveError) throw error;
    if (error instanceof RangeError) {
      throw new ArchiveError(`${file} is in ${JSON.stringify(label)}, an unknown encoding; save it in UTF-8`);
    }
    if (error instanceof TypeError) {
      const message = `${file} has bytes after line ${line} that are not ${label}; save the file in UTF-8, or correct the encoding in its first line`;
      throw new ArchiveError(message);
    }
    throw new ArchiveError(`${file} cannot be read (${messageOf(error)}); it is damaged: get it again`);
  }
}

function encodingOf(start: Buffer): string {
  const mark = start.toString('hex', 0, 2);
  if (mark === 'fffe') return 'utf-16le';
  if (mark === 'feff') return 'utf-16be';
  const declared = /^(?:\xef\xbb\xbf)?\s*<\?xml[^>]{0,200}?encoding=["']([\w.:-]{1,40})["']/.exec(
    start.toString('latin1', 0, DECLARATION),
  );
  return declared?.[1] ?? 'utf-8';
}

import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { codeOf, Fault, messageOf } from '../shared/fault.ts';

const LINE_FEED = 0x0a;

/**
 * The variables of a file such as `.env`, by name; null when there is no such file. Throws `invalid_request` naming the
 * file and the line when it is not text, such as a file still being written.
 */
export function readEnvFile(file: string): Map<string, string> | null {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new Fault('invalid_request', `${file} cannot be read: ${messageOf(error)}; let this user read it`);
  }
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  try {
    // The decoder drops a byte order mark, which is not part of the first name.
    text = decoder.decode(bytes);
  } catch {
    throw new Fault('invalid_request', `${file}, line ${firstOddLine(bytes)}: not UTF-8; save the file as UTF-8`);
  }
  const zero = text.indexOf('\0');
  if (zero !== -1) {
    const line = text.slice(0, zero).split('\n').length;
    throw new Fault('invalid_request', `${file}, line ${line}: has a zero byte; write the file again`);
  }
  return new Map(Object.entries(parseEnv(text)).map(([name, value = '']) => [name, value]));
}

/** The number of the first line that is not UTF-8. No character of several bytes has a line feed in it. */
function firstOddLine(bytes: Buffer): number {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for (let line = 1, from = 0; from < bytes.length; line++) {
    const end = bytes.indexOf(LINE_FEED, from);
    const to = end === -1 ? bytes.length : end;
    try {
      decoder.decode(bytes.subarray(from, to));
    } catch {
      return line;
    }
    from = to + 1;
  }
  return 1;
}

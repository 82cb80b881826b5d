import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { codeOf, Fault, messageOf } from '../shared/fault.ts';

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
  const lines = bytes.toString('latin1').split('\n');
  const at = (isOdd: (line: string) => boolean) => `${file}, line ${lines.findIndex(isOdd) + 1}`;
  if (!isUtf8(bytes)) {
    const odd = at((line) => !isUtf8(Buffer.from(line, 'latin1')));
    throw new Fault('invalid_request', `${odd}: not UTF-8; save the file as UTF-8`);
  }
  if (bytes.includes(0)) {
    const odd = at((line) => line.includes('\0'));
    throw new Fault('invalid_request', `${odd}: has a zero byte; write the file again`);
  }
  // A byte order mark is not part of the first name.
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  return new Map(Object.entries(parseEnv(text)).map(([name, value = '']) => [name, value]));
}

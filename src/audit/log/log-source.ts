import { join } from 'node:path';
import { Fault } from '../../fault.ts';
import { isAddress } from '../verify-sources.ts';
import { fetchedBytes, readBytes } from '../verify-texts.ts';

/** The files of a published log (C2SP tlog-tiles), in a folder or at an address. */
export interface LogSource {
  /** The folder, or the address with a slash at its end. */
  where: string;
  /**
   * Reads a file by its path below the log. Throws `not_found` when there is no such file, and `unavailable` when it
   * cannot be read, or is longer than `longest` bytes.
   */
  read(path: string, longest: number): Promise<Uint8Array>;
}

const GIVE = 'the folder or the address of a log, in which the file checkpoint is';
const TOO_MANY_REQUESTS = 429;
/** How long a server may send nothing, and a whole response may take, in ms. */
const PATIENCE = { silence: 10_000, whole: 60_000 };

export function logSource(where: string): LogSource {
  if (!isAddress(where)) {
    return { where, read: async (path, longest) => readBytes(join(where, path), GIVE, longest) };
  }
  const base = where.endsWith('/') ? where : `${where}/`;
  return {
    where: base,
    read: (path, longest) => fetchedBytes(base + path, GIVE, { bytes: longest, accept: '*/*', ...PATIENCE }),
  };
}

/** Whether an error says that a log has no such file. A server that fails, or is asked too often, does not say it. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Fault) || error.code !== 'not_found') return false;
  const { status } = error.details;
  return typeof status !== 'number' || (status < 500 && status !== TOO_MANY_REQUESTS);
}

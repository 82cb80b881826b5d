import { join } from 'node:path';
import type { Settings } from '../env.ts';
import { readerKey } from '../files/reader-key.ts';

/** The secret of links in mails, made when it is missing. Throws `unavailable`. */
export function linkKey({ dataDir }: Settings, of: 'readers' | 'accounts'): Uint8Array {
  return readerKey(join(dataDir, `${of}.key`));
}

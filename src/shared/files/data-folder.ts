import { join } from 'node:path';
import { readerKey } from '../outbound/reader-key.ts';

// Where things are in DATA_DIR.

export const DATABASE_FILE = 'broadsheet.db';

interface DataFolder {
  dataDir: string;
}

export function databaseFile({ dataDir }: DataFolder): string {
  return join(dataDir, DATABASE_FILE);
}

export function mediaFolder({ dataDir }: DataFolder): string {
  return join(dataDir, 'media');
}

export function signingKeyFile({ dataDir }: DataFolder): string {
  return join(dataDir, 'door.key');
}

/** The secret of links in mails, made when it is missing. Throws `unavailable`. */
export function linkKey({ dataDir }: DataFolder, of: 'readers' | 'accounts'): Uint8Array {
  return readerKey(join(dataDir, `${of}.key`));
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readerKey } from '../files/reader-key.ts';
import type { ReaderDesk } from '../readers/reader-desk.ts';
import type { AppContext } from './context.ts';
import { newId } from './context.ts';

/** The rules of readers wired to a workshop. The key of mailed links is read, or made where there is none. */
export function openReaderDesk({ store, settings, now }: AppContext): ReaderDesk {
  return {
    ...store.readers,
    transact: store.transact,
    now,
    newId,
    random: randomBytes,
    secret: readerKey(join(settings.dataDir, 'readers.key')),
  };
}

import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve, sep } from 'node:path';
import { readBackupFile, writeBackupFile } from '../backup/backup-file.ts';
import type { Settings } from '../env.ts';
import { Fault } from '../fault.ts';
import { readLarge, writeLarge } from '../net/s3-large.ts';
import { parseAddress, shownAddress } from '../publish/address.ts';
import { isoTime } from '../time.ts';
import { openS3 } from './publish-target.ts';

/** Where a backup is: standard input or output, a file, or an object in a bucket. */
export interface BackupPlace {
  /** How messages call it. */
  name: string;
  /** Writes a backup whole or not at all. Returns its size in bytes. */
  write(content: AsyncIterable<Uint8Array>): Promise<number>;
  read(): AsyncIterable<Uint8Array>;
}

/**
 * The place that a command names: `-`, `s3://BUCKET/KEY?endpoint=…`, a file, or a folder, where a new backup is named
 * after its time. Throws `invalid_request` naming the value and the cure.
 */
export function backupPlace(settings: Settings, text: string, now: number): BackupPlace {
  if (text === '-') return STANDARD;
  const name = `broadsheet-${isoTime(now).slice(0, 19).replaceAll(':', '-')}Z.tar.zst`;
  if (/^s3:/i.test(text)) return objectPlace(settings, text, name);
  const path = resolve(text);
  const isFolder = text.endsWith('/') || text.endsWith(sep) || (existsSync(path) && statSync(path).isDirectory());
  const file = isFolder ? join(path, name) : path;
  return {
    name: file,
    write(content) {
      requireApart(settings, file, text);
      return writeBackupFile(file, content);
    },
    read: () => readBackupFile(file),
  };
}

const STANDARD: BackupPlace = {
  name: '-',
  async write(content) {
    if (process.stdout.isTTY) {
      throw new Fault('invalid_request', '-: a backup is no text for a terminal; send it on, as in `backup - | age …`');
    }
    let size = 0;
    for await (const chunk of content) {
      size += chunk.length;
      await new Promise<void>((done, fail) => process.stdout.write(chunk, (error) => (error ? fail(error) : done())));
    }
    return size;
  },
  read: () => process.stdin,
};

function objectPlace(settings: Settings, text: string, newName: string): BackupPlace {
  const address = parseAddress(text, settings.objectStorage);
  if (typeof address === 'string') throw new Fault('invalid_request', `${shownAddress(text)}: ${address}; correct it`);
  if (address.kind !== 's3' || address.paper !== null) {
    throw new Fault('invalid_request', `${text}: must not have paper=; a backup holds every paper`);
  }
  const isFolder = address.prefix === '' || new URL(text).pathname.endsWith('/');
  const key = isFolder ? `${address.prefix}${newName}` : address.prefix.slice(0, -1);
  const bucket = openS3(settings, address);
  return {
    name: `s3://${address.bucket}/${key}`,
    write: (content) => writeLarge(bucket, key, content),
    async *read() {
      const content = isFolder ? null : await readLarge(bucket, key);
      if (content !== null) return yield* content;
      const cure = isFolder ? `name an object, such as s3://${address.bucket}/${key}` : 'name the object of a backup';
      throw new Fault('not_found', `there is no object ${text.split('?', 1)[0]}; ${cure}`);
    },
  };
}

/** Everybody may read what is pressed, and what is in DATA_DIR is lost together with it. */
function requireApart({ dataDir, distDir, logDir, contentDir }: Settings, file: string, text: string): void {
  const folders = { DATA_DIR: dataDir, DIST_DIR: distDir, LOG_DIR: logDir, CONTENT_DIR: contentDir };
  for (const [name, folder] of Object.entries(folders)) {
    if (!file.startsWith(resolve(folder) + sep)) continue;
    throw new Fault(
      'invalid_request',
      `${text}: must not be within ${name} ${folder}; name a place for ${basename(file)} elsewhere, best on another disk`,
    );
  }
}

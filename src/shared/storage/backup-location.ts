import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { isoTime } from '../../proof/time.ts';
import type { Settings } from '../../server/env.ts';
import { Fault, messageOf } from '../fault.ts';
import { realPath } from '../files/real-path.ts';
import { type Address, parseAddress, type S3Address, shownAddress } from './address.ts';
import { readBackupFile, writeBackupFile } from './backup-file.ts';
import { openS3 } from './publish-target.ts';
import { readLarge, writeLarge } from './s3-large.ts';

/** Where a backup is: standard input or output, a file, or an object in a bucket. */
export interface BackupLocation {
  /** Its name in messages. */
  name: string;
  /** Writes a backup whole or not at all. Returns its size in bytes. */
  write(content: AsyncIterable<Uint8Array>): Promise<number>;
  read(): AsyncIterable<Uint8Array>;
}

/**
 * The location that a command names: `-`, `s3://BUCKET/KEY?…`, a file, or a folder, in which a new backup is named
 * after its time.
 */
export function backupLocation(settings: Settings, text: string, now: number): BackupLocation {
  if (text === '-') return STANDARD;
  const name = `broadsheet-${isoTime(now).slice(0, 19).replaceAll(':', '-')}Z.tar.zst`;
  if (/^s3:/i.test(text)) return objectLocation(settings, text, name);
  // Links are followed: otherwise the backup would replace the link, and a link into a public folder would go
  // unnoticed.
  const path = realPath(text);
  const isFolder = text.endsWith('/') || text.endsWith(sep) || (existsSync(path) && statSync(path).isDirectory());
  const file = isFolder ? join(path, name) : path;
  return {
    name: file,
    async write(content) {
      requireApart(settings, file, text);
      return writeBackupFile(file, content);
    },
    read() {
      if (!isFolder) return readBackupFile(file);
      throw new Fault('not_found', `${text} is a folder; name a backup in it`);
    },
  };
}

const STANDARD: BackupLocation = {
  name: '-',
  async write(content) {
    if (process.stdout.isTTY) {
      throw new Fault(
        'invalid_request',
        '-: a backup is binary and cannot be printed to a terminal; pipe it, as in `backup - | age …`',
      );
    }
    // Each write reports its own error.
    process.stdout.on('error', () => {});
    let size = 0;
    for await (const chunk of content) {
      size += chunk.length;
      await new Promise<void>((done, fail) =>
        process.stdout.write(chunk, (error) => (error ? fail(cutShort(error)) : done())),
      );
    }
    return size;
  },
  read: () => process.stdin,
};

function cutShort(error: Error): Fault {
  return new Fault(
    'unavailable',
    `standard output was closed (${messageOf(error)}): the backup is incomplete; check that its reader runs to the end and that its disk has space`,
  );
}

function objectLocation(settings: Settings, text: string, newName: string): BackupLocation {
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
    async write(content) {
      requireUnpublished(settings, address, text);
      return writeLarge(bucket, key, content);
    },
    async *read() {
      const content = isFolder ? null : await readLarge(bucket, key);
      if (content !== null) return yield* content;
      const cure = isFolder ? `name an object, such as s3://${address.bucket}/${key}` : 'name the object of a backup';
      throw new Fault('not_found', `there is no object ${text.split('?', 1)[0]}; ${cure}`);
    },
  };
}

/**
 * Throws `invalid_request` for a backup within the program's folders or the folder of PUBLISH_URL: pressed and
 * published files are public, and files in DATA_DIR are lost together with it.
 */
export function requireApart(settings: Settings, file: string, text: string): void {
  const { dataDir, distDir, logDir, contentDir } = settings;
  const published = publishedAddress(settings);
  const folders = {
    DATA_DIR: dataDir,
    DIST_DIR: distDir,
    LOG_DIR: logDir,
    CONTENT_DIR: contentDir,
    ...(published?.kind === 'folder' ? { 'the folder of PUBLISH_URL,': published.folder } : {}),
  };
  for (const [name, folder] of Object.entries(folders)) {
    if (!file.startsWith(realPath(folder) + sep)) continue;
    throw new Fault(
      'invalid_request',
      `${text}: must not be within ${name} ${folder}; name a place for ${basename(file)} elsewhere, best on another disk`,
    );
  }
}

/**
 * Throws `invalid_request` for the bucket of PUBLISH_URL, because it is public, and a publication removes files that it
 * does not know.
 */
export function requireUnpublished(settings: Settings, { bucket, endpoint }: S3Address, text: string): void {
  const published = publishedAddress(settings);
  if (published?.kind !== 's3' || published.bucket !== bucket || published.endpoint !== endpoint) return;
  throw new Fault(
    'invalid_request',
    `${text}: must not be in ${bucket}, the bucket of PUBLISH_URL, which readers see; name a private bucket`,
  );
}

function publishedAddress({ publishUrl, objectStorage }: Settings): Address | null {
  const address = publishUrl === null ? null : parseAddress(publishUrl, objectStorage);
  return typeof address === 'string' ? null : address;
}

/** A backup at the location that a standby watches. */
export interface FoundBackup {
  location: BackupLocation;
  /** Distinguishes it from every other backup, including those of the same name. */
  version: string;
}

const BACKUP = /\.tar\.zst$/;
/** The names that `backup` gives: they sort by time, which bucket listings do not show. */
const DATED = /(?:^|\/)broadsheet-\d{4}-[\dT-]+Z\.tar\.zst$/;

/**
 * The newest backup: the file or object itself, else the newest in a folder, or by its name under an address that ends
 * with a slash. Null without one.
 */
export async function newestBackup(settings: Settings, from: string): Promise<FoundBackup | null> {
  return /^s3:/i.test(from) ? newestObject(settings, from) : newestFile(settings, from);
}

async function newestFile(settings: Settings, from: string): Promise<FoundBackup | null> {
  const found = statSync(from, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isDirectory())
    return { location: backupLocation(settings, from, 0), version: `${found.size} ${found.mtimeMs}` };
  const files = (await readdir(from)).filter((name) => BACKUP.test(name) && !name.startsWith('.'));
  const newest = files
    .map((name) => ({ file: join(from, name), info: statSync(join(from, name), { throwIfNoEntry: false }) }))
    .flatMap(({ file, info }) => (info === undefined ? [] : [{ file, info }]))
    .sort((a, b) => b.info.mtimeMs - a.info.mtimeMs)[0];
  if (newest === undefined) return null;
  const { file, info } = newest;
  return {
    location: backupLocation(settings, file, 0),
    version: `${file.split(sep).at(-1)} ${info.size} ${info.mtimeMs}`,
  };
}

async function newestObject(settings: Settings, from: string): Promise<FoundBackup | null> {
  const address = parseAddress(from, settings.objectStorage);
  if (typeof address === 'string')
    throw new Fault('invalid_request', `--from ${shownAddress(from)}: ${address}; correct it`);
  if (address.kind !== 's3') return null;
  const bucket = openS3(settings, address);
  const url = new URL(from);
  if (!url.pathname.endsWith('/')) {
    const head = await bucket.head(address.prefix.replace(/\/$/, ''));
    return head === null ? null : { location: backupLocation(settings, from, 0), version: head.etag };
  }
  let newest: { key: string; etag: string } | null = null;
  for await (const { key, etag } of bucket.list(address.prefix)) {
    if (DATED.test(key) && (newest === null || key > newest.key)) newest = { key, etag };
  }
  if (newest === null) return null;
  url.pathname = `/${newest.key}`;
  return { location: backupLocation(settings, url.href, 0), version: `${newest.key} ${newest.etag}` };
}

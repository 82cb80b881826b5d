import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Settings } from '../env.ts';
import { Fault } from '../fault.ts';
import { parseAddress, shownAddress } from '../publish/address.ts';
import { type BackupPlace, backupPlace } from './backup-place.ts';
import { openS3 } from './publish-target.ts';

/** A backup at the place that a standby watches. */
export interface FoundBackup {
  place: BackupPlace;
  /** Distinguishes it from every other backup, including those of the same name. */
  version: string;
}

const BACKUP = /\.tar\.zst$/;
/** The names that `backup` gives, which are in the order of their times. A bucket listing has no times. */
const DATED = /(?:^|\/)broadsheet-\d{4}-[\dT-]+Z\.tar\.zst$/;

/**
 * The newest backup: the file or the object itself, or the newest one in a folder, or under an address of a bucket that
 * ends with a slash the last one of those that `backup` named. Null without one. Throws a fault of the location.
 */
export async function newestBackup(settings: Settings, from: string): Promise<FoundBackup | null> {
  return /^s3:/i.test(from) ? newestObject(settings, from) : newestFile(settings, from);
}

async function newestFile(settings: Settings, from: string): Promise<FoundBackup | null> {
  const found = statSync(from, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isDirectory()) return { place: backupPlace(settings, from, 0), version: `${found.size} ${found.mtimeMs}` };
  const files = (await readdir(from)).filter((name) => BACKUP.test(name) && !name.startsWith('.'));
  const newest = files
    .map((name) => ({ file: join(from, name), info: statSync(join(from, name), { throwIfNoEntry: false }) }))
    .flatMap(({ file, info }) => (info === undefined ? [] : [{ file, info }]))
    .sort((a, b) => b.info.mtimeMs - a.info.mtimeMs)[0];
  if (newest === undefined) return null;
  const { file, info } = newest;
  return { place: backupPlace(settings, file, 0), version: `${file.split(sep).at(-1)} ${info.size} ${info.mtimeMs}` };
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
    return head === null ? null : { place: backupPlace(settings, from, 0), version: head.etag };
  }
  let newest: { key: string; etag: string } | null = null;
  for await (const { key, etag } of bucket.list(address.prefix)) {
    if (DATED.test(key) && (newest === null || key > newest.key)) newest = { key, etag };
  }
  if (newest === null) return null;
  url.pathname = `/${newest.key}`;
  return { place: backupPlace(settings, url.href, 0), version: `${newest.key} ${newest.etag}` };
}

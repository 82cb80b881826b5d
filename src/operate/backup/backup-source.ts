import { createReadStream, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { mediaFiles } from '../../media/media.ts';
import { isoTime } from '../../proof/time.ts';
import type { Settings } from '../../server/env.ts';
import { codeOf, Fault, messageOf } from '../../shared/fault.ts';
import { DATABASE_FILE, databaseFile, mediaFolder } from '../../shared/files/data-folder.ts';
import { putFile } from '../../shared/files/durable-file.ts';
import { noteIn } from '../../shared/files/plain-file.ts';
import { VERSION } from '../../shared/project.ts';
import { DatabaseSnapshot } from '../../shared/sql/database-snapshot.ts';
import { requireOurs } from '../../shared/sql/open.ts';
import { MANIFEST_FILE, manifestText, SETTINGS_FOLDER } from './manifest.ts';
import type { PackedFile } from './pack.ts';

/** The key files in DATA_DIR. `.next` is a new signing key during a rotation, before it replaces the old one. */
const KEY_FILE = /^[a-z-]+\.key(?:\.next)?$/;
/** How often the keys are read again if they changed meanwhile. */
const TRIES = 10;

/**
 * Takes one state of a DATA_DIR in use. Media can be read later, because they are on disk before the ledger names them,
 * and stay. Throws `unavailable` without a database, and for one of a newer version.
 */
export function backupSource(
  settings: Settings,
  { names, now, progress }: { names: string[]; now: number; progress(done: number, total: number, what: string): void },
) {
  const { snapshot, keys } = stateOf(settings);
  const pathOf = mediaFiles(mediaFolder(settings)).pathOf;
  const media = snapshot.media().map((digest) => ({ digest, file: pathOf(digest), size: sizeOf(pathOf(digest)) }));
  const found = media.filter((each): each is typeof each & { size: number } => each.size !== null);
  const missing = media.filter(({ size }) => size === null).map(({ digest }) => digest);
  const bytes = found.reduce((sum, { size }) => sum + size, 0);
  const named = settingFiles(settings);
  const manifest = Buffer.from(
    manifestText({
      broadsheet: VERSION,
      made_at: isoTime(now),
      migrations: snapshot.migrations,
      settings: names,
      heads: snapshot.heads(),
      media: { files: found.length, bytes },
      missing,
    }),
  );
  const texts = [[MANIFEST_FILE, manifest] as const, ...keys, ...named];
  const size = texts.reduce((sum, [, text]) => sum + text.length, 0) + snapshot.size + bytes;
  let done = 0;
  const counted = async function* (content: PackedFile['content'], what: string): AsyncIterable<Uint8Array> {
    for await (const chunk of content) {
      yield chunk;
      done += chunk.length;
      progress(done, size, what);
    }
  };
  const files = async function* (): AsyncIterable<PackedFile> {
    for (const [path, text] of texts) yield { path, size: text.length, content: counted([text], path) };
    yield { path: DATABASE_FILE, size: snapshot.size, content: counted(snapshot.content(), DATABASE_FILE) };
    // From here on, the write-ahead log can restart.
    snapshot.close();
    for (const { digest, file, size: length } of found) {
      const hex = digest.slice('sha256:'.length);
      const path = `media/${hex.slice(0, 2)}/${hex}`;
      yield { path, size: length, content: counted(createReadStream(file), path) };
    }
  };
  return {
    files: files(),
    /** In bytes, before compression. */
    size,
    database: snapshot.size,
    media: { files: found.length, bytes },
    keys: keys.map(([name]) => name),
    /** Digests of media that the ledger names and the disk lacks. */
    missing,
    close: () => snapshot.close(),
  };
}

/** The database and its keys, read until they fit: a rotation in between would pair the database with the wrong key. */
function stateOf(settings: Settings): { snapshot: DatabaseSnapshot; keys: [name: string, bytes: Buffer][] } {
  const file = databaseFile(settings);
  if (sizeOf(file) === null) {
    throw new Fault('unavailable', `there is no database ${file}; set DATA_DIR to the folder of the desk to back up`);
  }
  // A newer version may keep something elsewhere, which would be missing from the backup.
  requireOurs(file);
  for (let tried = 1; ; tried++) {
    const keys = keysIn(settings.dataDir);
    const snapshot = new DatabaseSnapshot(file);
    if (JSON.stringify(keys) === JSON.stringify(keysIn(settings.dataDir)) || tried === TRIES) return { snapshot, keys };
    snapshot.close();
  }
}

function keysIn(folder: string): [name: string, bytes: Buffer][] {
  const names = readdirSync(folder).filter((name) => KEY_FILE.test(name));
  return names.sort().flatMap((name) => {
    const bytes = bytesOf(join(folder, name));
    return bytes === null ? [] : [[name, bytes]];
  });
}

/** The files that settings name, which a new machine needs as much as the keys. */
function settingFiles({ dkim, logPolicy }: Settings): [path: string, bytes: Buffer][] {
  const named = { DKIM_KEY_FILE: dkim?.keyFile, LOG_POLICY: logPolicy ?? undefined };
  return Object.entries(named).flatMap(([name, file]) => {
    const bytes = file === undefined ? null : bytesOf(file);
    return bytes === null ? [] : [[`${SETTINGS_FOLDER}/${name}`, bytes]];
  });
}

function bytesOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new Fault('unavailable', `${file} cannot be read (${messageOf(error)}); correct its permissions`);
  }
}

function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}

/** The last backup of a DATA_DIR: when it began, its location and its size in bytes. */
const BackupNote = z.object({ at: z.number(), place: z.string(), bytes: z.number() });
export type BackupNote = z.infer<typeof BackupNote>;

const fileIn = ({ dataDir }: Pick<Settings, 'dataDir'>): string => join(dataDir, 'backup.last');

/** Records a complete backup, for doctor and the metrics. The record itself is not part of backups. */
export function noteBackup(settings: Pick<Settings, 'dataDir'>, note: BackupNote): void {
  putFile(fileIn(settings), (aside) => writeFileSync(aside, `${JSON.stringify(note)}\n`));
}

/** The last backup recorded on this machine; null without one. */
export function lastBackup(settings: Pick<Settings, 'dataDir'>): BackupNote | null {
  return noteIn(fileIn(settings), BackupNote);
}

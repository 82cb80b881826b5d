import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DAY } from '../../proof/time.ts';
import { codeOf, Fault, messageOf } from '../fault.ts';
import { syncFolder } from '../files/durable-file.ts';
import { isAlive, MACHINE } from '../workers/process-name.ts';

const READ = 1024 * 1024;
/** Where a file is written before it is renamed: hidden, and named after its machine and its process. */
const ASIDE = /^\.broadsheet-backup\.([0-9a-f]{12})\.(\d{1,10})\.[0-9a-f]{8}\.part$/;
const HERE = createHash('sha256').update(MACHINE).digest('hex').slice(0, 12);
/** A backup of another machine that has written nothing for this long was killed, in ms. */
const ABANDONED = DAY;

/** Writes a file of mode 0600, atomically. Returns its size. Throws `invalid_request` where no file may be. */
export async function writeBackupFile(file: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const folder = dirname(file);
  const aside = join(folder, `.broadsheet-backup.${HERE}.${process.pid}.${randomBytes(4).toString('hex')}.part`);
  let size = 0;
  try {
    requireFile(file);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeLeftovers(folder);
    const out = await open(aside, 'wx', 0o600);
    try {
      for await (const chunk of content) {
        await out.appendFile(chunk);
        size += chunk.length;
      }
      await out.sync();
    } finally {
      await out.close();
    }
    await rename(aside, file);
    syncFolder(folder);
    return size;
  } catch (error) {
    await rm(aside, { force: true }).catch(() => {});
    if (error instanceof Fault || codeOf(error) === '') throw error;
    throw new Fault(
      'unavailable',
      `the backup ${file} cannot be written (${messageOf(error)}); free space or correct the permissions, or name another place`,
    );
  }
}

/** Throws for a device or a pipe, which the backup would replace with a file. */
function requireFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  const message = `${file}: is not a file; name a file or a folder, or write to standard output: backup - > ${file}`;
  throw new Fault('invalid_request', message);
}

/** Removes the files of killed backups, as far as permissions allow. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const [, machine, pid] = ASIDE.exec(name) ?? [];
    if (machine === undefined) continue;
    const path = join(folder, name);
    const isDead = machine === HERE ? !isAlive(Number(pid)) : await isAbandoned(path);
    if (isDead) await rm(path, { force: true }).catch(() => {});
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && Date.now() - found.mtimeMs > ABANDONED;
}

/** The bytes of a backup's file. Throws `not_found` or `unavailable`. */
export async function* readBackupFile(file: string): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: READ })) yield chunk;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') throw new Fault('not_found', `there is no file ${file}; name a backup`);
    throw new Fault('unavailable', `${file} cannot be read (${messageOf(error)}); name the file of a backup`);
  }
}

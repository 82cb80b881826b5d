import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, Fault, messageOf } from '../fault.ts';
import { syncFolder } from '../files/durable-file.ts';

const READ = 1024 * 1024;
/** Where a file is written before it is renamed: hidden, and named after its process. */
const ASIDE = /^\..{1,255}\.(\d{1,10})\.part$/;

/** Writes a backup into a file of mode 0600, whole or not at all. Returns its size. Throws `unavailable`. */
export async function writeBackupFile(file: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const folder = dirname(file);
  const aside = join(folder, `.${basename(file)}.${process.pid}.part`);
  let size = 0;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeLeftovers(folder);
    await rm(aside, { force: true });
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

/** Removes what backups that were killed left behind. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = ASIDE.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
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

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, DiskFault, Fault } from '../../shared/fault.ts';

/** The folder for unfinished uploads, inside the media folder. */
const FOLDER = '.uploads';

/** A completely received file on disk. */
export interface Received {
  file: string;
  /** `sha256:<hex>`. */
  digest: string;
  bytes: number;
}

/**
 * Writes a stream into a file next to the media, synced to disk. The caller moves or removes the file. Throws
 * `too_large` as soon as more than `max` bytes arrive, `unavailable` when the disk rejects writes, and the stream's
 * errors; the file is then removed.
 */
export async function receive(
  source: AsyncIterable<Uint8Array>,
  { folder, max }: { folder: string; max: number },
): Promise<Received> {
  const uploads = join(folder, FOLDER);
  const file = join(uploads, `${process.pid}-${randomBytes(8).toString('hex')}`);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    mkdirSync(uploads, { recursive: true });
    const handle = await open(file, 'wx', 0o644);
    try {
      for await (const part of source) {
        bytes += part.length;
        if (bytes > max) throw tooLarge(max);
        hash.update(part);
        await handle.writeFile(part);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    rmSync(file, { force: true });
    throw diskFault(error, uploads);
  }
  return { file, digest: `sha256:${hash.digest('hex')}`, bytes };
}

export function tooLarge(max: number): Fault {
  return new Fault('too_large', `the file is larger than ${max} bytes, the most of its kind; send a smaller one`);
}

/** Removes partial uploads that killed processes left. Call it when a process starts. */
export function sweepUploads(folder: string): void {
  const uploads = join(folder, FOLDER);
  let names: string[];
  try {
    names = readdirSync(uploads);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  for (const name of names) {
    const pid = Number.parseInt(name, 10);
    // The process id may be reused: this process has received nothing yet.
    if (pid === process.pid || !isRunning(pid)) rmSync(join(uploads, name), { force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function diskFault(error: unknown, folder: string): unknown {
  const code = codeOf(error);
  const cure = `the upload cannot be written to ${folder} (${code}); check the disk’s space and the folder’s permissions`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return new DiskFault('full', cure);
  if (code === 'EROFS') return new DiskFault('read_only', cure);
  return /^(?:EIO|EACCES|EPERM)$/.test(code) ? new DiskFault('failing', cure) : error;
}

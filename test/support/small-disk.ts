import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Mounts a disk in memory for the time of the test; null where that is not allowed. */
export function mounted(t: TestContext, options: string): string | null {
  const disk = mkdtempSync(join(tmpdir(), 'broadsheet-disk-'));
  const isMounted =
    process.platform === 'linux' && spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk]).status === 0;
  t.after(() => {
    if (isMounted) spawnSync('umount', ['-l', disk]);
    rmdirSync(disk);
  });
  return isMounted ? disk : null;
}

/** Fills a disk until only `free` bytes are left. Returns a function that frees the rest again. */
export function fill(disk: string, free: number): () => void {
  const file = join(disk, 'filler');
  rmSync(file, { force: true });
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(file, Buffer.alloc(Math.max(0, bavail * bsize - free)));
  return () => rmSync(file);
}

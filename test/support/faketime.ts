import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's library that gives a process another clock; null where it is missing. */
function library(): string | null {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib').map((name) => join('/usr/lib', name)) : [];
  const paths = folders.map((folder) => join(folder, 'faketime/libfaketimeMT.so.1'));
  return paths.find((path) => existsSync(path)) ?? null;
}

/** Why tests that need another clock for a whole process are skipped; false when they run. */
export function skipWithoutFaketime(): string | false {
  const isNeeded = process.env.NEED_SERVERS !== undefined && process.platform === 'linux';
  return library() === null && !isNeeded && 'libfaketime is not installed; install the Debian package faketime';
}

/** The variables that shift a process's wall clock by some seconds, in addition to the shift of this process. */
export function clockOffBy(seconds: number): Record<string, string> {
  const before = Number.parseInt(process.env.FAKETIME ?? '0', 10) || 0;
  const off = before + seconds;
  return {
    LD_PRELOAD: library() ?? '',
    FAKETIME: `${off < 0 ? '' : '+'}${off}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

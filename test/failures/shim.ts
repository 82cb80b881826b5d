import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The errors of a disk, as Linux numbers them. */
export const DISK_ERROR = { full: 28, readOnly: 30 };

/** What a process that runs with the shim meets. Times in ms. */
export interface Shim {
  env: Record<string, string>;
  set(state: { syncTakes?: number; clockIsOffBy?: number; writesFail?: number }): void;
}

/** Builds shim.c. Null where that is not possible: it needs Linux and a C compiler. */
export function buildShim(folder: string): Shim | null {
  if (process.platform !== 'linux') return null;
  mkdirSync(folder, { recursive: true });
  const [library, control] = [join(folder, 'shim.so'), join(folder, 'control')];
  const source = fileURLToPath(new URL('./shim.c', import.meta.url));
  const { status } = spawnSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl']);
  if (status !== 0) return null;
  const set: Shim['set'] = ({ syncTakes = 0, clockIsOffBy = 0, writesFail = 0 }) => {
    const numbers = new BigInt64Array([BigInt(syncTakes), BigInt(clockIsOffBy), BigInt(writesFail)]);
    writeFileSync(control, Buffer.from(numbers.buffer), { flag: 'r+' });
  };
  writeFileSync(control, Buffer.alloc(24));
  // Before a library that gives the tests themselves another clock, which answers what this one passes on.
  const preloaded = [library, ...(process.env.LD_PRELOAD?.split(':') ?? [])].join(':');
  return { env: { LD_PRELOAD: preloaded, SHIM_CONTROL: control, SHIM_FOLDER: `${folder}/on-disk/` }, set };
}

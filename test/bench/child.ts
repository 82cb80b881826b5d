import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** How often a running command is asked for its memory, in ms. The system keeps the peak; the last growth may be missed. */
const WATCHED = 20;

export interface Ran {
  /** From start to exit, in ms. */
  wall: number;
  /** What it spent on the processors with its own children, in ms; null where the system does not say. */
  cpu: number | null;
  /** The most memory that it held at a time, in bytes; null where the system does not say. */
  peak: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end. Throws when it fails. */
export async function run(
  command: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<Ran> {
  const before = childTicks();
  const start = performance.now();
  const child = spawn(command, args, {
    ...options,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout = `${stdout}${chunk}`.slice(-4_000);
  });
  child.stderr.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-4_000);
  });
  let peak: number | null = null;
  const watch = setInterval(() => {
    peak = peakOf(child.pid) ?? peak;
  }, WATCHED);
  const [code] = (await once(child, 'close').finally(() => clearInterval(watch))) as [number | null];
  const wall = performance.now() - start;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
  const after = childTicks();
  return { wall, cpu: before === null || after === null ? null : (after - before) * 10, peak, stdout, stderr };
}

/** Hundredths of a second that ended children spent, as Linux tells. */
function childTicks(): number | null {
  if (!existsSync('/proc/self/stat')) return null;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[13]) + Number(fields[14]);
}

/** What a running process spent on the processors, in ms, as Linux tells; NaN where the system does not say. */
export function cpuOf(pid: number | undefined): number {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The most memory that a running process held so far, in bytes, as Linux tells. */
export function peakOf(pid: number | undefined): number | null {
  try {
    const kib = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Number(kib) * 1_024;
  } catch {
    // It ended, or the system has no such file.
    return null;
  }
}

/** Where a program is on the PATH, or null. */
export function found(program: string, path = process.env.PATH ?? ''): string | null {
  return (
    path
      .split(delimiter)
      .map((folder) => join(folder, program))
      .find((file) => existsSync(file)) ?? null
  );
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Ran {
  /** From start to exit, in ms. */
  wall: number;
  /** What it spent on the processors with its own children, in ms; null where the system does not say. */
  cpu: number | null;
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
  let output = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    output = `${output}${chunk}`.slice(-4_000);
  });
  child.stderr.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-4_000);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  const wall = performance.now() - start;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}\n${stderr}`);
  const after = childTicks();
  return { wall, cpu: before === null || after === null ? null : (after - before) * 10, stderr };
}

/** Hundredths of a second that ended children spent, as Linux tells. */
function childTicks(): number | null {
  if (!existsSync('/proc/self/stat')) return null;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[13]) + Number(fields[14]);
}

/** Where a program is on the PATH, or null. */
export function found(program: string): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file)) ?? null;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Fault } from '../fault.ts';
import { PROJECT } from '../project.ts';
import { isBuilt } from './build.ts';

/**
 * Runs `astro build` in this environment. Its output goes to standard error: standard output is for the ready line.
 * Throws `unavailable` when the build fails.
 */
export async function buildPages(env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<void> {
  const astro = join(PROJECT, 'node_modules/astro/bin/astro.mjs');
  const build = spawn(process.execPath, [astro, 'build'], { cwd: PROJECT, stdio: ['ignore', 2, 2], env });
  const end = () => build.kill();
  process.once('exit', end);
  signal?.addEventListener('abort', end);
  await once(build, 'exit');
  process.off('exit', end);
  if (!isBuilt()) throw new Fault('unavailable', 'the pages could not be built; the lines above say why');
}

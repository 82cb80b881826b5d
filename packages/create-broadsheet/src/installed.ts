import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './refusal.ts';

/** Throws a Refusal unless a project has this version of Broadsheet: the starter's files are written for it. */
export function requireInstalled(project: string, version: string): void {
  const file = join(project, 'node_modules/broadsheet/package.json');
  const found = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : 'none';
  if (found === version) return;
  throw new Refusal(
    `the package has version ${found} of broadsheet, and this starter is for ${version}; take those of one release`,
  );
}

/**
 * Runs a command of the Broadsheet that a project has installed: on the terminal if it asks questions, else with its
 * output captured, whose errors become the Refusal. Removes settings from the environment that point outside the
 * project.
 */
export function runBroadsheet(project: string, args: string[], isAsking: boolean): void {
  const own = join(project, 'node_modules/broadsheet');
  const { bin } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as { bin: { broadsheet: string } };
  const { status, stderr } = spawnSync(process.execPath, [join(own, bin.broadsheet), ...args], {
    cwd: project,
    encoding: 'utf8',
    stdio: isAsking ? 'inherit' : 'pipe',
    env: { ...process.env, CONTENT_DIR: join(project, 'content'), DATA_DIR: join(project, 'var') },
  });
  if (status === 0) return;
  const said = isAsking ? '' : `: ${stderr.trim().replace(/\n+/g, '; ')}`;
  throw new Refusal(`nothing was created${said}`);
}

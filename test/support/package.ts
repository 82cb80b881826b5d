import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endBeforeRemoval, type Scope } from './app-context.ts';
import { PROGRESS } from './program.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** Packs the program into a folder, as `npm run pack` does, and returns the tarball. */
export function pack(folder: string): string {
  const args = ['--disable-warning=ExperimentalWarning', join(PROJECT, 'tools/pack/pack.ts'), folder];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
}

/**
 * Installs a tarball into a folder without a registry: its declared dependencies, and no others, are linked to those of
 * this checkout, beside the package as npm puts them.
 */
export function installLinked(folder: string, tarball: string): void {
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'broadsheet');
  mkdirSync(own, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']);
  const { dependencies, bundleDependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    if (bundleDependencies.includes(name)) continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules', name), join(modules, name));
  }
}

/** Starts the installed program in its user's folder, with these settings alone. */
export function startInstalled(t: Scope, folder: string, args: string[], settings: Record<string, string> = {}) {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const program = join(folder, 'node_modules/broadsheet/bin/broadsheet.mjs');
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, HOME, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...settings },
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    stdout: said.stdout,
    stderr: said.stderr.replace(PROGRESS, ''),
  }));
  const end = () => {
    child.kill('SIGKILL');
    return ended;
  };
  endBeforeRemoval(folder, end);
  t.after(end);
  return { child, said, ended };
}

/** Runs npm in a folder, without a registry. */
export function npm(folder: string, ...args: string[]): void {
  execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'pipe' });
}

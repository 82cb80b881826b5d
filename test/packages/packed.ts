import { execFileSync, spawn } from 'node:child_process';
import { cpSync, globSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../src/shared/project.ts';

const OFFLINE = ['--offline', '--no-audit', '--no-fund'];

/**
 * Packs a package of this repository as a release does, outside the checkout, so that nothing is written there. Returns
 * the path of the tarball. `parts` are the files beside the package that its `prepack` reads.
 */
export function packPackage(folder: string, path: string, parts: string[] = []): string {
  const checkout = join(folder, 'checkout');
  // The package.json above says that TypeScript files are modules.
  for (const part of [path, 'package.json', ...parts]) {
    cpSync(join(PROJECT, part), join(checkout, part), {
      recursive: true,
      filter: (source) => !/\/(?:dist|node_modules)$/.test(source),
    });
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(checkout, 'node_modules'));
  const to = join(folder, 'tarball');
  mkdirSync(to);
  execFileSync('npm', ['pack', '--pack-destination', to, ...OFFLINE], { cwd: join(checkout, path), stdio: 'pipe' });
  const [tarball = ''] = globSync(join(to, '*.tgz'));
  return tarball;
}

/** Installs tarballs, and packages of this checkout that they depend on, into a folder with a package.json of its own. */
export function installTarball(folder: string, tarballs: string | string[], dependencies: string[] = []): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  const own = dependencies.map((name) => join(PROJECT, 'node_modules', name));
  execFileSync('npm', ['install', ...[tarballs].flat(), ...own, ...OFFLINE], { cwd: folder, stdio: 'pipe' });
}

/** Runs a program to its end, without a terminal. */
export async function outcome(cwd: string, [program = '', ...args]: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  return { code: await promise, ...said };
}

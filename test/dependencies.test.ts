import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FAMILIES } from '../src/astro/font-faces.ts';
import { tempFolder } from './support/app-context.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));

/** A package as the lock file has it. `os`, `cpu` and `libc` are absent where any will do. */
interface Locked {
  version?: string;
  resolved?: string;
  link?: boolean;
  dev?: boolean;
  license?: string;
  deprecated?: string;
  os?: string | string[];
  cpu?: string | string[];
  libc?: string | string[];
  optionalDependencies?: Record<string, string>;
}

const { packages } = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
};

/** Where Broadsheet is developed and run. */
const PLATFORMS = [
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { os: 'darwin', cpu: 'x64' },
  { os: 'darwin', cpu: 'arm64' },
] as const;
type Platform = { os: string; cpu: string; libc?: string };

function fits(locked: Locked, platform: Platform): boolean {
  return (['os', 'cpu', 'libc'] as const).every((trait) => {
    const allowed = [locked[trait] ?? []].flat();
    return allowed.length === 0 || allowed.includes(platform[trait] ?? '');
  });
}

/** The package that one at a path gets by a name: the nearest, as Node looks for it. */
function found(path: string, name: string): Locked | undefined {
  const folders = `${path}/node_modules/`.split(/(?<=node_modules\/)/);
  return folders
    .map((_, index) => packages[folders.slice(0, folders.length - index).join('') + name])
    .find((locked) => locked !== undefined);
}

/** The packages that come as one binary for each platform: their variants. */
function native(): [path: string, variants: [name: string, Locked | undefined][]][] {
  return Object.entries(packages)
    .filter(([path]) => path !== 'tools')
    .map(([path, { optionalDependencies = {} }]): [string, [string, Locked | undefined][]] => [
      path,
      Object.keys(optionalDependencies).map((name) => [name, found(path, name)]),
    ])
    .filter(([, variants]) => variants.filter(([, locked]) => locked?.cpu !== undefined).length > 1);
}

test('the lock file names every variant of a native package, and one for each platform', () => {
  const names = native().map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  for (const name of ['sharp', 'libsql', 'rolldown', 'esbuild', '@biomejs/biome'])
    assert.ok(names.includes(name), name);
  for (const [path, variants] of native()) {
    // npm ci refuses a lock file that leaves one out.
    for (const [name, locked] of variants) assert.ok(locked !== undefined, `${path} needs ${name}`);
    for (const platform of PLATFORMS) {
      const [one] = variants.filter(([, locked]) => locked?.cpu !== undefined && fits(locked, platform));
      assert.ok(one !== undefined, `${path} on ${platform.os} ${platform.cpu}`);
    }
  }
});

test('the lock file names no registry, and nothing that is deprecated', () => {
  for (const [path, { resolved, link, deprecated }] of Object.entries(packages)) {
    if (link !== true) assert.ok(resolved === undefined || resolved.startsWith('https://registry.npmjs.org/'), path);
    assert.equal(deprecated, undefined, path);
  }
});

test('packages for one platform are not installed with --omit=dev', () => {
  for (const name of Object.keys(packages.tools?.optionalDependencies ?? {})) {
    assert.equal(packages[`node_modules/${name}`]?.dev, true, name);
  }
});

test('without a Node that is new enough, one line says what to install', (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'bin'));
  cpSync(join(PROJECT, 'bin/broadsheet.mjs'), join(folder, 'bin/broadsheet.mjs'));
  const manifest = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  assert.match(manifest.engines.node, /^>=\d+\.\d+$/);
  // A version that no Node has yet.
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ engines: { node: '>=999.1' } }));
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin/broadsheet.mjs'), 'serve'], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^broadsheet: Node \d+\.\d+\.\d+ is too old; install Node 999\.1 or newer from [^\n]*\n$/);
});

test('the notice of third-party software names every direct dependency and font, with their licences', () => {
  const notice = execFileSync(process.execPath, [join(PROJECT, 'tools/third-party.mjs')], { encoding: 'utf8' });
  const [list = '', ...texts] = notice.split(/\n={80}\n/);
  const { dependencies } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const { version, license } = packages[`node_modules/${name}`] ?? {};
    assert.ok(list.includes(`\n${name} ${version}: ${license}\n`), name);
  }
  const faces = join(PROJECT, 'src/layouts/typefaces');
  const licence = readFileSync(join(faces, 'LICENSE.txt'), 'utf8').trim();
  assert.ok(texts.some((one) => one.includes(licence)));
  for (const [name, { family }] of Object.entries(FAMILIES)) {
    assert.match(list, new RegExp(`/${name} [^\n]*typefaces\\): \\S`));
    assert.match(licence, new RegExp(`^${family}: .`, 'm'));
  }
});

test('the notice is refused when the licence of a production package is not on its list', (t) => {
  const folder = tempFolder(t);
  for (const path of ['tools/third-party.mjs', 'tools/fonts/package-lock.json'])
    cpSync(join(PROJECT, path), join(folder, path));
  mkdirSync(join(folder, 'src/layouts/typefaces'), { recursive: true });
  const locked = (license: string, dev?: boolean) => ({ version: '1.0.0', license, dev });
  const lock = {
    packages: {
      'node_modules/free': locked('MIT AND ISC'),
      'node_modules/strong': locked('MIT AND AGPL-3.0-only'),
      'node_modules/tool': locked('AGPL-3.0-only', true),
    },
  };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'tools/third-party.mjs')], {
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /^third-party: strong 1\.0\.0 has the licence MIT AND AGPL-3\.0-only; /);
  assert.equal(stderr.trim().split('third-party: ').length, 2);
});

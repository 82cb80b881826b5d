import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { PROJECT } from '../../src/shared/project.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { PROGRAM, serveAtOnce } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { DEPLOY } from './fixture.ts';

const read = (...path: string[]) => readFileSync(join(PROJECT, ...path), 'utf8');
const SETTINGS = new Set([...read('docs/settings.md').matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name));
/** Settings of Node, Astro and the system that recipes may have as well. */
const FOREIGN = new Set(['NODE_ENV', 'NODE_COMPILE_CACHE', 'ASTRO_TELEMETRY_DISABLED']);

/** The exposure that systemd-analyze finds, ten times as large as it prints it, must not be higher. */
const EXPOSURE_MAX = 15;

test('recipes name settings and files that there are', () => {
  const dockerfile = read('deploy/docker/Dockerfile');
  const compose = parse(read('deploy/docker/compose.yaml'));
  const env = [
    ...[...dockerfile.matchAll(/^(?:ENV)? +([A-Z_]+)=\S/gm)].map(([, name]) => name),
    ...Object.keys(compose.services.broadsheet.environment),
    ...[...read('deploy/systemd/broadsheet.service').matchAll(/^Environment=([A-Z_]+)=/gm)].map(([, name]) => name),
  ];
  assert.ok(env.includes('DIST_DIR') && env.includes('ORIGIN'));
  assert.deepEqual(
    env.filter((name) => !SETTINGS.has(name) && !FOREIGN.has(name ?? '')),
    [],
  );
  // Caddy's settings are those of its file.
  const caddyfile = read('deploy/caddy/Caddyfile');
  for (const name of Object.keys(compose.services.caddy.environment)) assert.ok(caddyfile.includes(`{$${name}`), name);
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));
  const mounted = Object.values<{ volumes: string[] }>(compose.services)
    .flatMap(({ volumes }) => volumes)
    .filter((volume) => volume.startsWith('.'))
    .map((volume) => volume.split(':')[0] ?? '');
  // The package is packed before, and the papers are the operator's.
  const theirs = ['broadsheet-*.tgz', './content'];
  for (const path of [...copied, ...mounted].filter((one) => !theirs.includes(one)))
    assert.ok(existsSync(resolve(DEPLOY, 'docker', path)), path);
  for (const theirsToo of theirs) assert.ok([...copied, ...mounted].includes(theirsToo), theirsToo);
  assert.equal(
    [...dockerfile.matchAll(/^ARG \w+_IMAGE=\S+@sha256:[0-9a-f]{64}$/gm)].length,
    2,
    'base images are pinned',
  );
  for (const name of [...read('deploy/nginx/broadsheet.conf').matchAll(/snippets\/(\S+);/g)])
    assert.ok(existsSync(join(DEPLOY, 'nginx', name[1] ?? '')), name[1]);
  // Every file of deploy/ is in the manual.
  const manual = ['operating', 'cdn', 'publishing', 'watching', 'backup', 'archive']
    .filter((name) => existsSync(join(PROJECT, `docs/${name}.md`)))
    .map((name) => read(`docs/${name}.md`))
    .join('');
  const files = readdirSync(DEPLOY, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const unnamed = ['healthy.mjs', '.dockerignore'];
  for (const { name } of files.filter((file) => !unnamed.includes(file.name))) assert.ok(manual.includes(name), name);
});

test('the image’s health check asks every service', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const { url, records } = await serveAtOnce(t, folder);
  const ports = { PORT: new URL(url).port, RECORDS_PORT: new URL(records).port };
  const check = (env: Record<string, string>) =>
    spawnSync(process.execPath, [join(DEPLOY, 'docker/healthy.mjs')], { env: { ...process.env, ...env } }).status;
  assert.equal(check(ports), 0);
  assert.equal(check({ ...ports, SERVICES: 'records', PORT: '1' }), 0);
  assert.equal(check({ ...ports, RECORDS_PORT: '1' }), 1);
});

test('systemd takes the units, and finds little exposed', { skip: without('systemd-analyze') }, (t) => {
  const units = readdirSync(join(DEPLOY, 'systemd')).filter((name) => /\.(?:service|timer)$/.test(name));
  assert.equal(units.length, 7);
  // The program where the units say that it is.
  const root = tempFolder(t);
  const [, node = '', program = ''] =
    /^ExecStart=(\S+) (?:--\S+ )*(\S+) serve$/m.exec(read('deploy/systemd/broadsheet.service')) ?? [];
  assert.equal(join(PROJECT, program), PROGRAM);
  mkdirSync(dirname(join(root, node)), { recursive: true });
  symlinkSync(process.execPath, join(root, node));
  const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { cwd: root, encoding: 'utf8' });
  for (const name of units)
    writeFileSync(join(root, name), read('deploy/systemd', name).replaceAll(node, join(root, node)));
  const verified = analyze('verify', ...units.map((name) => `./${name}`));
  assert.equal(verified.stderr, '');
  assert.equal(verified.status, 0);
  for (const name of units.filter((one) => one.endsWith('.service'))) {
    const secured = analyze('security', '--offline=true', `--threshold=${EXPOSURE_MAX}`, `./${name}`);
    assert.equal(secured.status, 0, secured.stdout.split('\n').at(-2));
  }
});

test('the backup of the unit is made, one for each day of the week, and its drill finds the newest', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const to = join(folder, 'backups');
  await enterPapers(folder, [{ slug: 'tide-table' }]);
  const runs = (name: string) => {
    const unit = read('deploy/systemd', `${name}.service`);
    const [, script = ''] = /^ExecStart=\/bin\/sh -c '(.+)'$/m.exec(unit) ?? [];
    // As systemd reads it.
    const line = script.replaceAll('$$', '$').replaceAll('%%', '%');
    const here = line.replace('/usr/bin/node', process.execPath).replace('/var/lib/broadsheet-backups', to);
    const env = { PATH: process.env.PATH, TMPDIR: folder, ...envIn(folder) };
    return spawnSync('/bin/sh', ['-c', here], { cwd: PROJECT, encoding: 'utf8', env });
  };
  const made = runs('broadsheet-backup');
  assert.equal(made.status, 0, made.stderr);
  const [backup = ''] = readdirSync(to);
  assert.match(backup, /^day-[1-7]\.tar\.zst$/);
  writeFileSync(join(to, 'day-old.tar.zst'), 'no backup');
  utimesSync(join(to, 'day-old.tar.zst'), 0, 0);
  const drilled = runs('broadsheet-drill');
  assert.equal(drilled.status, 0, drilled.stderr);
  assert.match(drilled.stdout, /0 faults/);
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endBeforeRemoval, tempFolder } from '../support/app-context.ts';
import { without } from '../support/log-peers.ts';
import { npm, pack, startInstalled } from '../support/package.ts';
import { withAddresses } from '../support/program.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const json = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

let outer = '';
/** The package as it is, and later versions of it that differ in one file. */
const versions: Record<'present' | 'good' | 'broken', string> = { present: '', good: '', broken: '' };

const ends: (() => void)[] = [];
after(() => {
  for (const end of ends) end();
});
before(() => {
  if (ONLY_WIDE) return;
  outer = tempFolder({ after: (end) => void ends.push(end) });
  // Dependencies are found here, and npm asks no registry for them.
  symlinkSync(join(PROJECT, 'node_modules'), join(outer, 'node_modules'));
  const unpacked = join(outer, 'unpacked');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', pack(outer), '-C', unpacked]);
  const own = join(unpacked, 'package');
  const manifest = json(own, 'package.json');
  const packAs = (version: string): string => {
    const changed = { ...manifest, version, dependencies: {} };
    writeFileSync(join(own, 'package.json'), JSON.stringify(changed));
    npm(own, 'pack', '--ignore-scripts', '--pack-destination', outer);
    return join(outer, `broadsheet-${version}.tgz`);
  };
  versions.present = packAs('0.1.1');
  writeFileSync(join(own, 'src/store/migrations/999-new.sql'), 'CREATE TABLE new (x TEXT) STRICT;\n');
  versions.good = packAs('0.2.0');
  writeFileSync(join(own, 'src/cmd/serve.js'), 'throw new Error("this version does not start");\n');
  versions.broken = packAs('0.3.0');
});

/** A folder with the present version, a paper, and shell commands that start and stop its server. */
async function desk(t: TestContext) {
  const folder = join(tempFolder(t), 'my papers');
  mkdirSync(folder);
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, '../node_modules'));
  cpSync(versions.present, join(folder, 'broadsheet.tgz'));
  // Without one npm takes the folder above for the user's.
  writeFileSync(join(folder, 'package.json'), '{}');
  npm(folder, 'install', './broadsheet.tgz');
  const { PORT, RECORDS_PORT } = await withAddresses({});
  writeFileSync(join(folder, '.env'), `PORT=${PORT}\nRECORDS_PORT=${RECORDS_PORT}\nSCANNER=off\nLOG_LEVEL=error\n`);
  const run = (...args: string[]) => startInstalled(t, folder, args).ended;
  assert.equal((await run('new', 'the-quay', '--yes')).code, 0);
  assert.match((await run('file')).stdout, /4 filed/);
  const serve = `"${process.execPath}" node_modules/broadsheet/bin/broadsheet.mjs serve >served 2>&1`;
  // Like a service manager, it fails when the server does not become ready.
  const isReady = `curl -sf http://127.0.0.1:${PORT}/ready >/dev/null`;
  const start = `(${serve} & echo $! >pid); until ${isReady}; do kill -0 $(cat pid) || exit 1; sleep 0.1; done`;
  const stop = 'kill $(cat pid) 2>/dev/null; while kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; done';
  const shell = (line: string) => execFileSync('sh', ['-c', line], { cwd: folder, stdio: 'ignore' });
  endBeforeRemoval(folder, async () => shell(stop));
  const state = async () => ({
    version: (await run('--version')).stdout.split(' ')[0],
    papers: (await run('paper', 'list')).stdout,
    declared: json(folder, 'package.json').dependencies.broadsheet,
  });
  return { folder, run, shell, start, stop, state, url: `http://127.0.0.1:${PORT}/the-quay/` };
}

test('upgrade changes all or nothing', { skip: ONLY_WIDE || without('curl') }, async (t) => {
  const { folder, run, shell, start, stop, state, url } = await desk(t);
  const before = { ...(await state()), files: readdirSync(folder) };
  const how = ['--stop', stop, '--start', start];

  await t.test('what cannot be installed changes nothing', async (t) => {
    for (const [args, words] of [
      [['./missing.tgz'], /^broadsheet: \.\/missing\.tgz: there is no such file\n$/],
      [
        ['9.9.9'],
        /^broadsheet: broadsheet@9\.9\.9 could not be installed \(\w+: [^\n]+\); check the version and the network; nothing was changed\n$/,
      ],
      [[versions.good, '--stop', 'true'], /^broadsheet: give both --stop and --start, or neither\n$/],
      [[versions.good, '--stop', 'false', '--start', 'true'], /^broadsheet: false failed; nothing was changed\n$/],
    ] as const) {
      // No registry is there.
      const settings = { npm_config_registry: 'http://127.0.0.1:1/' };
      const { code, stderr } = await startInstalled(t, folder, ['upgrade', ...args], settings).ended;
      assert.equal(code, 1, stderr);
      assert.match(stderr, words);
    }
    writeFileSync(join(folder, 'pnpm-lock.yaml'), '');
    assert.match((await run('upgrade')).stderr, /pnpm-lock\.yaml, and this command upgrades with npm; .*`pnpm add /);
    rmSync(join(folder, 'pnpm-lock.yaml'));
    assert.deepEqual({ ...(await state()), files: readdirSync(folder) }, before);
  });

  await t.test('a version that does not start leaves the old one and its data', async () => {
    shell(start);
    const running = await run('upgrade', versions.broken);
    assert.equal(running.code, 1);
    assert.match(running.stdout, /999-new/);
    assert.match(
      running.stderr,
      /^broadsheet: a server runs here; stop it first, or give --stop and --start, .*; nothing was changed\n$/,
    );
    const failed = await run('upgrade', versions.broken, ...how);
    assert.equal(failed.code, 1, failed.stderr);
    assert.match(failed.stderr, /^broadsheet: broadsheet 0\.3\.0 failed, and 0\.1\.1 is back: /m);
    assert.deepEqual({ ...(await state()), files: before.files }, before);
    assert.equal((await fetch(url)).status, 200, 'the old version serves');
    assert.ok(existsSync(join(folder, 'var.of-0.3.0/broadsheet.db')), 'nothing is deleted');
  });

  await t.test('another is installed, upgrades the database and serves', async () => {
    const done = await run('upgrade', versions.good, ...how);
    assert.equal(done.code, 0, done.stderr);
    assert.match(
      done.stdout,
      /upgraded from broadsheet 0\.1\.1 to 0\.2\.0; the server is ready\nbefore-broadsheet-0\.2\.0-\d+\.tar\.zst is/,
    );
    assert.equal((await fetch(url)).status, 200);
    const { version, declared } = await state();
    assert.equal(version, '0.2.0');
    assert.equal(join(folder, declared.replace(/^file:/, '')), versions.good);
    assert.ok(!existsSync(join(folder, '.broadsheet-upgrade')));
    const again = await run('upgrade', versions.good);
    assert.deepEqual([again.code, again.stdout], [0, 'broadsheet 0.2.0 is installed already; nothing was changed\n']);
  });
});

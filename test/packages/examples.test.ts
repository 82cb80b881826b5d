import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { PROJECT, VERSION } from '../../src/shared/project.ts';
import { tempFolder } from '../support/app-context.ts';
import { loopback } from '../support/loopback.ts';
import { probe } from '../support/probes.ts';
import { run, until } from '../support/program.ts';
import { recordsStand } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { servedApis } from './client-types.ts';
import { installTarball, outcome, packPackage } from './packed.ts';

const EXAMPLES = join(PROJECT, 'examples');
const folder = tempFolder({ after });
/** Both packages, installed as the examples name them; a program below the folder finds them. */
const tarballs = ['verify', 'broadsheet-client'].map((name) => {
  const place = join(folder, name);
  mkdirSync(place);
  return packPackage(place, `packages/${name}`, ['src/proof']);
});
const needed = ['@noble/ed25519', '@noble/hashes', 'eventsource-parser', 'openapi-fetch', 'openapi-typescript-helpers'];
installTarball(folder, tarballs, needed);
cpSync(EXAMPLES, join(folder, 'examples'), { recursive: true });

test('each example names the packages of this version', () => {
  for (const name of readdirSync(EXAMPLES, { withFileTypes: true }).flatMap((one) =>
    one.isDirectory() ? one.name : [],
  )) {
    const { dependencies } = JSON.parse(readFileSync(join(EXAMPLES, name, 'package.json'), 'utf8'));
    for (const range of Object.values(dependencies)) assert.equal(range, `^${VERSION}`, name);
  }
});

for (const [name, filed, pieces] of [
  ['town-paper', 9, ['bridge-closed-for-bearings', 'council-keeps-the-library-hours', 'river-peaks-below-the-wall']],
  ['lab-log', 4, ['2026-44-why-the-basin-rings', '2026-45-a-gate-that-does-nothing']],
] as const) {
  test(`the paper in ${name} is filed whole, pressed, verified and audited`, {
    skip: name === 'lab-log' && ONLY_WIDE,
  }, async (t) => {
    const cwd = tempFolder(t);
    cpSync(join(EXAMPLES, name), cwd, { recursive: true });
    const file = await run(t, cwd, ['file']);
    assert.equal(file.code, 0, file.stderr);
    assert.match(file.stdout, new RegExp(`^${filed} filed, 0 unchanged, 0 refused$`, 'm'));
    const [paper = ''] = readdirSync(join(cwd, 'content'));
    const tree = join(cwd, 'papers', paper);
    const onAir = readdirSync(join(tree, 'stories'), { withFileTypes: true }).filter((one) => one.isDirectory());
    assert.deepEqual(onAir.map((one) => one.name).sort(), pieces);
    for (const command of [['verify', tree], ['audit']]) {
      const { code, stdout, stderr } = await run(t, cwd, command);
      assert.equal(code, 0, stdout + stderr);
    }
  });
}

test('the workflow of the town paper gives the action what it asks for', () => {
  const read = (path: string) => parse(readFileSync(join(PROJECT, path), 'utf8'));
  const { steps } = read('examples/town-paper/.github/workflows/publish.yml').jobs.publish;
  const { inputs } = read('action.yml') as { inputs: Record<string, { required?: boolean }> };
  const given = Object.keys(steps.at(-1).with);
  assert.deepEqual(
    given.filter((name) => inputs[name] === undefined),
    [],
  );
  for (const [name, { required }] of Object.entries(inputs)) if (required) assert.ok(given.includes(name), name);
});

test('the example that verifies checks every piece of a paper, and finds one that was altered', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { desk } = await servedApis(t);
  const cwd = join(folder, 'examples/verify-client');
  const sound = await outcome(cwd, [process.execPath, 'verify.js', desk]);
  assert.equal(sound.code, 0, sound.stderr);
  assert.deepEqual(sound.stdout.trim().split('\n').sort(), [
    'a-white-light: holds',
    'high-water: holds',
    'low-water: holds',
  ]);
  const other = await (await fetch(`${desk}/.well-known/newsdesk-keys.json`)).json();
  writeFileSync(
    join(cwd, 'other.json'),
    JSON.stringify({ keys: other.keys.map((key: object) => ({ ...key, nbf: 4_000_000_000 })) }),
  );
  const early = await outcome(cwd, [process.execPath, 'verify.js', desk, '--keys', 'other.json']);
  assert.equal(early.code, 1);
  assert.match(early.stdout, /^high-water: .*/m);
  assert.doesNotMatch(early.stdout, /holds/);
});

test('the example that watches tells a chat of each change once, also over a restart', async (t) => {
  const { url, enter, keyOf, clock } = await recordsStand(t);
  const told: string[] = [];
  const chat = await loopback(
    t,
    createServer(async (request, response) => {
      let body = '';
      for await (const part of request.setEncoding('utf8')) body += part;
      told.push(JSON.parse(body).text);
      response.end();
    }),
  );
  const cwd = join(folder, 'examples/hostname-watch');
  writeFileSync(join(cwd, 'last.txt'), '0');
  const env = { ...process.env, RECORDS: url, KEY: keyOf('account'), CHAT: chat };
  const change = (n: number) => probe('example.org', clock.now + n * 60_000, { A: [`192.0.2.${n}`] });
  const watching = async (work: () => unknown, count: number) => {
    const child = spawn(process.execPath, ['watch.js'], { cwd, env, stdio: 'inherit' });
    t.after(() => child.kill('SIGKILL'));
    work();
    await until(() =>
      told.length >= count && readFileSync(join(cwd, 'last.txt'), 'utf8') === String(count) ? true : null,
    );
    child.kill('SIGTERM');
    const { promise, resolve } = Promise.withResolvers<number | null>();
    child.once('close', resolve);
    assert.equal(await promise, 0);
  };
  await watching(() => enter(change(1), change(2)), 1);
  enter(change(3));
  await watching(() => enter(change(4)), 3);
  assert.deepEqual(
    told,
    [2, 3, 4].map((n) => `example.org: A changed: 192.0.2.${n - 1} → 192.0.2.${n}`),
  );
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { signerFrom } from '../../src/proof/ed25519.ts';
import { jwks, thumbprint, vkey } from '../../src/proof/keyring.ts';
import { tempFolder } from '../support/app-context.ts';
import { PROGRAM, run } from '../support/program.ts';

const vector = (name: string): unknown =>
  (JSON.parse(readFileSync(new URL(`../vectors/proof/${name}.json`, import.meta.url), 'utf8')) as { proof: unknown })
    .proof;

const keys = [1, 2].map((byte) => {
  const { name, publicKey } = signerFrom('desk.example/door', new Uint8Array(32).fill(byte));
  return { kid: thumbprint(publicKey), name, publicKey, nbf: 0, retired_at: null };
});

test('verify says what holds, what does not, and whose keys it went by', async (t) => {
  const folder = tempFolder(t);
  const put = (path: string, value: unknown): string => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
    return file;
  };
  const sound = put('sound.json', vector('valid/a-second-revision'));
  const text = JSON.stringify(vector('valid/a-second-revision'));
  const twice = put('twice.json', text.replace('"headline":', '"headline":"forged","headline":'));
  const escaped = put('escaped.json', text.replace('"headline":', '"\\u0068eadline":"forged","headline":'));
  const altered = put('altered.json', vector('invalid/an-altered-prose'));
  const forged = put('forged.json', vector('invalid/a-forgery-under-the-forgers-own-key'));
  const ours = put('ours.json', jwks(keys.slice(0, 1)));
  const retired = put(
    'retired.json',
    jwks(keys.slice(0, 1).map((key) => ({ ...key, retired_at: Date.UTC(2026, 9, 22) }))),
  );
  const theirs = put('theirs.json', jwks(keys.slice(1)));
  const key = keys[0];
  assert(key !== undefined);
  const paper = join(folder, 'paper');
  put('paper/stories/a/proof.json', vector('valid/a-second-revision'));
  put('paper/stories/b/proof.json', '{');
  put('paper/.well-known/newsdesk-keys.json', jwks(keys.slice(0, 1)));
  const cases: [args: string[], code: number, said: RegExp][] = [
    [
      [sound],
      0,
      /^\S+sound\.json: not signed, and so not checked: receipt_verify\.keys_url\n01jd\S+ revision 2: the hash, the receipts and the chain hold\nThe keys are the ones that come with the proof; to know whose they are, compare them with --keys or --vkey\. Only --keys knows when each key was in force\.\nA receipt proves who filed/,
    ],
    [[sound, '--keys', ours], 0, /the chain hold\nA receipt proves who filed/],
    [[sound, '--vkey', vkey(key.name, key.publicKey)], 0, /the chain hold/],
    [[sound, '--keys', theirs], 1, /no key with kid/],
    [[sound, '--keys', retired], 1, /revision \d: filed at \S+, but its key was retired at 2026-10-22T/],
    [
      [altered],
      1,
      /altered\.json: content_hash is not the hash of basis: the piece was altered\n\S+ not signed, and so not checked: \S+\n1 proof checked, 1 does not hold/,
    ],
    // A forgery holds under the forger's own key: only the reader's keys tell.
    [[forged], 0, /The keys are the ones that come with the proof/],
    [[forged, '--keys', ours], 1, /no key with kid/],
    [
      [paper],
      1,
      /b\/proof\.json: \S+ is not JSON; give a proof record\n\S+ not signed, and so not checked: \S+\n2 proofs checked, 1 does not hold/,
    ],
    [[join(folder, 'none')], 2, /^broadsheet: \S+none does not exist; give a proof file, a folder or an address\n$/],
    [[put('list.json', '[1]')], 1, /this is not a proof record/],
    [[put('null.json', 'null')], 1, /this is not a proof record/],
    [[put('text.txt', 'hello')], 2, /^broadsheet: \S+text\.txt is not JSON; give a proof record\n$/],
    [[sound, '--keys', join(folder, 'none')], 2, /^broadsheet: \S+none does not exist; give a newsdesk-keys\.json\n$/],
    [[sound, '--keys', put('null-keys.json', 'null')], 2, /holds no keys; give a newsdesk-keys\.json/],
    [
      [sound, '--keys', put('odd-keys.json', { keys: [null, 7, { vkey: 8 }] })],
      2,
      /holds no keys; give a newsdesk-keys\.json/,
    ],
    [[sound, '--vkey', 'door'], 2, /a --vkey is not in the form <name>\+<hash>\+<base64>/],
    [[join(folder, 'paper/stories')], 2, /holds no stories\/\*\/proof\.json; give the folder of a pressed paper/],
    [[twice], 1, /twice\.json: the document names the member "headline" twice\n1 proof checked, 1 does not hold/],
    [[escaped], 1, /escaped\.json: the document names the member "headline" twice/],
    [
      [sound, '--keys', put('keys-twice.json', '{"keys":[],"keys":[]}')],
      2,
      /names the member "keys" twice: it is ambiguous/,
    ],
    [['http://127.0.0.1:1/'], 2, /^broadsheet: http:\/\/127\.0\.0\.1:1\/proof\.json did not answer/],
  ];
  for (const [args, code, said] of cases) {
    const outcome = await run(t, folder, ['verify', ...args]);
    assert.match(outcome.stdout + outcome.stderr, said, args.join(' '));
    assert.equal(outcome.code, code, args.join(' '));
  }
  const piped = spawnSync(process.execPath, [PROGRAM, 'verify', '-'], { input: readFileSync(sound), encoding: 'utf8' });
  assert.equal(piped.status, 0, piped.stderr);
  assert.match(piped.stdout, /the chain hold/);
});

test('verify of an address goes by the keys that the same paper lists, each in its time, and says so', async (t) => {
  const folder = tempFolder(t);
  const [key] = keys;
  assert(key !== undefined);
  const lists: Record<string, string | number> = {
    sound: JSON.stringify(jwks([key])),
    retired: JSON.stringify(jwks([{ ...key, retired_at: Date.UTC(2026, 9, 22) }])),
    other: JSON.stringify(jwks(keys.slice(1))),
    none: 404,
    busy: 503,
    empty: '{"keys":[]}',
    large: ' '.repeat(1_000_001),
  };
  const proof = JSON.stringify(vector('valid/a-second-revision'));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const [, paper = '', ...path] = (request.url ?? '').split('/');
    const list = lists[paper] ?? 404;
    asked.push(path.join('/'));
    if (path[0] !== '.well-known') return void response.end(proof);
    response.statusCode = typeof list === 'number' ? list : 200;
    response.end(typeof list === 'number' ? '' : list);
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const list = (paper: string) => `${root}/${paper}/.well-known/newsdesk-keys.json`;
  const holds = 'the hash, the receipts and the chain hold';
  const unread = `${holds} by the keys that come with the proof; when those keys were in force was not checked, for`;
  const cases: [where: string, code: number, said: string][] = [
    ['/sound/stories/a/', 0, `${holds}\nThe keys and their times are those of ${list('sound')}; to know whose`],
    ['/sound/stories/a/proof.json', 0, `${holds}\nThe keys and their times are those of ${list('sound')};`],
    ['/sound/api/v1/stories/a/proof', 0, `${holds}\nThe keys and their times are those of ${list('sound')};`],
    ['/retired/stories/a/', 1, 'but its key was retired at 2026-10-22T'],
    ['/other/stories/a/', 1, 'no key with kid'],
    ['/none/stories/a/', 0, `${unread} ${list('none')} answered 404; give the address of a key document\nThe keys are`],
    ['/busy/stories/a/', 0, `${unread} ${list('busy')} answered 503`],
    ['/empty/stories/a/', 0, `${unread} ${list('empty')} holds no keys`],
    ['/large/stories/a/', 0, `${unread} ${list('large')} is longer than 1 MB, the most that is checked`],
    ['/sound/a-copy.json', 0, `${unread} the address does not say where the paper lists its keys`],
  ];
  for (const [where, code, said] of cases) {
    const outcome = await run(t, folder, ['verify', root + where]);
    assert.ok(outcome.stdout.includes(said), `${where}: ${outcome.stdout}${outcome.stderr}`);
    assert.equal(outcome.code, code, where);
  }
  const { stdout } = await run(t, folder, ['verify', `${root}/none/stories/a/`, '--json']);
  const [checked] = JSON.parse(stdout) as { keys_from: string | null; keys_unread: string | null }[];
  assert.equal(checked?.keys_from, null);
  assert.match(checked?.keys_unread ?? '', /answered 404/);
  // Callers that name keys need no list.
  asked.length = 0;
  const own = join(folder, 'own.json');
  writeFileSync(own, JSON.stringify(jwks([key])));
  assert.equal((await run(t, folder, ['verify', `${root}/none/stories/a/`, '--keys', own])).code, 0);
  assert.deepEqual(asked, ['stories/a/proof.json']);
});

test('verify names the unsigned members of a proof', async (t) => {
  const folder = tempFolder(t);
  const file = join(folder, 'more.json');
  const proof = vector('valid/members-that-nobody-knows') as Record<string, unknown>;
  const put = (more: object): void => writeFileSync(file, JSON.stringify({ ...proof, ...more }));
  const named = async (): Promise<string> => {
    const { stdout, code } = await run(t, folder, ['verify', file]);
    assert.equal(code, 0, stdout);
    return /: not signed, and so not checked: (.*)\n/.exec(stdout)?.[1] ?? '';
  };
  put({});
  assert.equal(await named(), 'published_at, receipt_verify.keys_url, receipt_verify.more');
  put({ hash_basis: 'content_hash is whatever you like', generations: [] });
  const { stdout } = await run(t, folder, ['verify', file]);
  assert.match(stdout, /not checked: hash_basis, published_at, receipt_verify\.keys_url/);
  put(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x${index}`, index])));
  assert.match(await named(), /^published_at, x0, .*x18 and 13 more$/);
});

test('verify called with an unknown option, or with nothing, has checked nothing', async (t) => {
  const folder = tempFolder(t);
  for (const args of [[], ['x.json', '--bogus'], ['x.json', '--keys']]) {
    const { code, stderr } = await run(t, folder, ['verify', ...args]);
    assert.match(stderr, /^error: /);
    assert.equal(code, 2, args.join(' '));
  }
  const help = await run(t, folder, ['verify', '--help']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /Exit code 0: everything holds/);
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { signerFrom } from '../../src/ledger/ed25519.ts';
import { jwks, thumbprint } from '../../src/ledger/keyring.ts';
import { vkey } from '../../src/ledger/verifier-key.ts';
import { PROGRAM, run } from '../support/program.ts';
import { tempFolder } from '../support/workshop.ts';

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
      /^01jd\S+ revision 2: the hash, the receipts and the chain hold\nThe keys are the ones that come with the proof; to know whose they are, compare them with --keys or --vkey\. Only --keys knows in which time each key signed\.\nA receipt proves who filed/,
    ],
    [[sound, '--keys', ours], 0, /the chain hold\nA receipt proves who filed/],
    [[sound, '--vkey', vkey(key.name, key.publicKey)], 0, /the chain hold/],
    [[sound, '--keys', theirs], 1, /no key with kid/],
    [[sound, '--keys', retired], 1, /revision \d: filed at \S+, but its key was retired at 2026-10-22T/],
    [
      [altered],
      1,
      /altered\.json: content_hash is not the hash of basis: the piece was altered\n1 proof checked, 1 does not hold/,
    ],
    // A forgery holds under the forger's own key: only the reader's keys tell.
    [[forged], 0, /The keys are the ones that come with the proof/],
    [[forged, '--keys', ours], 1, /no key with kid/],
    [[paper], 1, /b\/proof\.json: \S+ is not JSON; give a proof record\n2 proofs checked, 1 does not hold/],
    [[join(folder, 'none')], 2, /^broadsheet: \S+none is not there; give a proof file, a folder or an address\n$/],
    [[put('list.json', '[1]')], 1, /this is not a proof record/],
    [[put('null.json', 'null')], 1, /this is not a proof record/],
    [[put('text.txt', 'hello')], 2, /^broadsheet: \S+text\.txt is not JSON; give a proof record\n$/],
    [[sound, '--keys', join(folder, 'none')], 2, /^broadsheet: \S+none is not there; give a newsdesk-keys\.json\n$/],
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
      /names the member "keys" twice: nobody can tell/,
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

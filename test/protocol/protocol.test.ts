import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { jwks } from '../../src/proof/keyring.ts';
import { observe } from '../../src/proof/records/observation.ts';
import { recordOf } from '../../src/records/record.ts';
import { tempFolder } from '../support/app-context.ts';
import { certificate, KEY, probe, toolsAt } from '../support/probes.ts';
import { evidenceOf } from '../support/records-faults.ts';
import { protocolExamples } from './examples.ts';
import { examplesIn } from './protocol-page.ts';

const PAGE = fileURLToPath(new URL('../../docs/protocol.md', import.meta.url));
const VERIFIER = fileURLToPath(new URL('verifier', import.meta.url));
const VECTORS = fileURLToPath(new URL('../vectors', import.meta.url));

const examples = await protocolExamples();

test('the examples of the protocol are what the code makes', () => {
  const shown = examplesIn(readFileSync(PAGE, 'utf8'));
  assert.deepEqual(Object.fromEntries(shown), examples, 'run `node test/protocol/write-examples.ts`');
  assert.equal(shown.length, Object.keys(examples).length);
});

const skip = spawnSync('python3', ['--version']).status !== 0 && 'there is no python3 on this machine';

/** Runs the verifier that was written from the protocol alone. Returns what it says. */
function verifier(status: 0 | 1, ...args: string[]): string {
  const run = spawnSync('python3', ['-B', VERIFIER, ...args], { encoding: 'utf8' });
  assert.equal(run.status, status, run.stdout + run.stderr);
  return run.stdout;
}

test('a verifier from the protocol alone accepts its examples', { skip }, () => {
  assert.match(verifier(0, 'page', PAGE), /^\d+ examples, 0 faults$/m);
});

test('it comes to the verdict of every vector', { skip }, () => {
  assert.match(verifier(0, 'vectors', VECTORS), /^[4-9]\d\d vectors, 0 faults$/m);
});

test('it verifies a proof with its log and a correction of the clock, and an evidence bundle', { skip }, (t) => {
  const folder = tempFolder(t);
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { proof = '', policy = '', clock = '', 'key document': document = '' } = examples;
  const keys = file('keys.json', document);
  const corrected = { ...JSON.parse(proof), clock: [clock] };
  const logged = file('policy', policy);
  verifier(0, 'file', file('proof.json', JSON.stringify(corrected)), keys, logged);
  // Signed before its key was in use, unless the correction is the desk's own.
  const late = { ...JSON.parse(document) };
  late.keys[0].nbf = Date.parse('2026-11-20T12:00:00Z') / 1_000;
  const lateKeys = file('late.json', JSON.stringify(late));
  verifier(0, 'file', file('plain.json', proof), lateKeys);
  assert.match(verifier(1, 'file', join(folder, 'proof.json'), lateKeys), /before the key was in use/);
  const stranger = policy.replace(/^quorum one$/m, 'quorum two').replace(/^witness one/m, 'witness two');
  verifier(0, 'file', join(folder, 'proof.json'), keys, file('renamed', stranger));
  const nobody = policy.replace(/^witness .*$/m, `witness one ${examples.policy?.split(' ')[1]}`);
  verifier(1, 'file', join(folder, 'proof.json'), keys, file('nobody', nobody));

  const host = { hostname: 'example.com', unicode: 'example.com', registrable_domain: 'example.com' };
  const at = Date.parse('2026-11-21T07:06:00Z');
  const tools = toolsAt(at);
  const found = probe('example.com', at, { A: ['192.0.2.1'], TXT: ['späte "Post"'] }, certificate('a'));
  const record = recordOf(found, host, at);
  const observation = observe({ record, seq: 1, prev: null, seed: tools.randomBytes(32) }, tools);
  const bundle = JSON.stringify(evidenceOf('example.com', [observation], [KEY]));
  const recordKeys = file('records-keys.json', JSON.stringify(jwks([KEY])));
  verifier(0, 'file', file('evidence.json', bundle), recordKeys);
  const altered = bundle.replaceAll('192.0.2.1', '192.0.2.2');
  assert.match(verifier(1, 'file', file('altered.json', altered), recordKeys), /record_root/);
});

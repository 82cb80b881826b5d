import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { parseCheckpoint } from '../../../src/proof/log/checkpoint.ts';
import { LogFault } from '../../../src/proof/log/log-fault.ts';
import { tlogProofText } from '../../../src/proof/log/log-proof.ts';
import { nodeCrypto, readPolicy } from '../../../src/proof/log/node-crypto.ts';
import { readVerifierKey, WITNESS_TYPES } from '../../../src/proof/log/signatures.ts';
import { verifyTlogProof } from '../../../src/proof/log/verify.ts';
import { addCheckpointBody, cosignedAt, readAddCheckpointAnswer } from '../../../src/signing/log/witness.ts';
import { tempFolder } from '../../support/app-context.ts';
import { MemoryLog } from '../../support/log.ts';
import {
  LOG_FSCK,
  type PeerWitness,
  serveFiles,
  startLitewitness,
  startOmniwitness,
  without,
} from '../../support/log-peers.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

/** The log held against programs that nobody here wrote. */

const run = promisify(execFile);
const ORIGIN = 'papers.example/log';

function grown(size: number, origin = ORIGIN, key?: number): MemoryLog {
  const log = new MemoryLog(origin, key);
  // Batches that end within tiles, at their ends and beyond.
  for (const batch of [1, 2, 253, 256, 300, size]) {
    const more = Math.min(batch, size - log.size);
    log.append(Array.from({ length: more }, (_, at) => `entry ${log.size + at}`));
  }
  return log;
}

function published(log: MemoryLog, checkpoint = log.checkpoint()): Map<string, Uint8Array | string> {
  return new Map<string, Uint8Array | string>([...log.files, ['checkpoint', checkpoint]]);
}

const WITNESSES: [
  name: string,
  skip: string | false,
  start: (t: TestContext, folder: string, log: MemoryLog) => Promise<PeerWitness>,
][] = [
  ['omniwitness', without('omniwitness', 'generate_keys'), startOmniwitness],
  ['litewitness', without('litewitness', 'ssh-agent', 'ssh-add', 'ssh-keygen'), startLitewitness],
];

/** What a witness answers to a checkpoint. */
async function submit({ url }: PeerWitness, old: number, proof: Uint8Array[], checkpoint: string) {
  const body = addCheckpointBody(old, proof, checkpoint);
  const response = await fetch(new URL('add-checkpoint', url), { method: 'POST', body });
  return readAddCheckpointAnswer(response.status, response.headers.get('content-type'), await response.text());
}

/** The checkpoint with the witness' lines, each checked. */
async function cosigned(witness: PeerWitness, log: MemoryLog, old: number): Promise<string> {
  const checkpoint = log.checkpoint();
  const answer = await submit(witness, old, log.tree().consistencyProof(old), checkpoint);
  assert(answer.kind === 'cosigned');
  for (const vkey of witness.vkeys) {
    const key = readVerifierKey(vkey, WITNESS_TYPES);
    await cosignedAt(answer.lines, parseCheckpoint(checkpoint), key, Date.now(), nodeCrypto);
  }
  return checkpoint + answer.text;
}

for (const [name, skip, start] of WITNESSES) {
  test(`${name} cosigns a log as it grows, and proofs hold with it`, { skip }, async (t) => {
    const log = new MemoryLog(ORIGIN);
    const witness = await start(t, tempFolder(t), log);
    const policy = readPolicy(
      [
        `log ${log.vkey}`,
        ...witness.vkeys.map((vkey, at) => `witness w${at} ${vkey}`),
        `group all-of-it all ${witness.vkeys.map((_, at) => `w${at}`).join(' ')}`,
        'quorum all-of-it\n',
      ].join('\n'),
    );
    for (const size of [1, 2, 255, 256, 257, 600, 600]) {
      const old = log.size;
      log.append(Array.from({ length: size - old }, (_, at) => `entry ${old + at}`));
      const checkpoint = await cosigned(witness, log, old);
      const index = size - 1;
      const text = tlogProofText({ index, path: log.tree().inclusionProof(index), checkpoint, extra: null });
      const verified = await verifyTlogProof(`entry ${index}`, text, policy, nodeCrypto);
      assert.equal(verified.cosigners.length, witness.vkeys.length);
    }
    // One that asks from another size is told where the witness is, and can go on from there.
    const answer = await submit(witness, 2, log.tree().consistencyProof(2), log.checkpoint());
    assert.deepEqual(answer, { kind: 'conflict', size: 600 });
  });

  test(`${name} refuses a history that was rewritten, shrunken or forked`, { skip }, async (t) => {
    const log = grown(300);
    const witness = await start(t, tempFolder(t), log);
    await cosigned(witness, log, 0);
    const rewritten = new MemoryLog(ORIGIN);
    rewritten.append(['another entry', ...Array.from({ length: 399 }, (_, at) => `entry ${at + 1}`)]);
    const refused = async (old: number, proof: Uint8Array[], checkpoint: string, words: string) =>
      assert.rejects(submit(witness, old, proof, checkpoint), (fault) => {
        assert(fault instanceof LogFault && fault.message.includes(words), String(fault));
        return true;
      });
    await refused(300, rewritten.tree().consistencyProof(300), rewritten.checkpoint(), 'not consistent');
    // The same size with another root. omniwitness answers 409 without a size, in place of 422.
    await assert.rejects(submit(witness, 300, [], rewritten.checkpoint(300)), /not consistent|another root/);
    // A tree that is smaller: the witness has seen more.
    assert.deepEqual(await submit(witness, 0, [], log.checkpoint(200)), { kind: 'conflict', size: 300 });
    // Two copies of one honest server go on apart: the second one is refused.
    const [one, copy] = [grown(300), grown(300)];
    one.append(['of the one']);
    copy.append(['of the copy', 'and more']);
    assert.equal((await submit(witness, 300, one.tree().consistencyProof(300), one.checkpoint())).kind, 'cosigned');
    await refused(301, copy.tree().consistencyProof(301), copy.checkpoint(), 'not consistent');
    // Another key, and a log that it does not follow. omniwitness answers 500 where tlog-witness asks for 403 and 404.
    const thief = grown(302, ORIGIN, 9);
    const stolen = submit(witness, 301, thief.tree().consistencyProof(301), thief.checkpoint());
    await assert.rejects(stolen, /does not take the checkpoint's signature|answered 500/);
    const stranger = submit(witness, 0, [], grown(3, 'stranger.example/log').checkpoint());
    await assert.rejects(stranger, /does not follow this log|answered 500/);
  });
}

/** What fsck says of a log. It ends with 0 whatever it finds. */
async function fsck(url: string, vkey: string, folder: string): Promise<string> {
  const key = join(folder, 'log.pub');
  writeFileSync(key, vkey);
  const { stderr } = await run(LOG_FSCK ?? '', [`--storage_url=${url}`, `--public_key=${key}`, '--ui=false']);
  return stderr;
}

test('fsck rebuilds the root of a log from its tiles and entries', {
  skip: ONLY_WIDE || (LOG_FSCK === null && 'needs the fsck of logs on the PATH'),
}, async (t) => {
  for (const size of [1, 256, 257, 1_000, 66_000]) {
    const log = grown(size);
    assert.match(await fsck(await serveFiles(t, published(log)), log.vkey, tempFolder(t)), /Successfully fsck'd log/);
  }
});

// With more than one tile it waits for ever once it has found something.
test('fsck finds a swapped tile, an altered entry and another size', {
  skip: ONLY_WIDE || (LOG_FSCK === null && 'needs the fsck of logs on the PATH'),
}, async (t) => {
  const log = grown(256);
  const files = published(log);
  const url = await serveFiles(t, files);
  for (const path of ['tile/0/000', 'tile/entries/000']) {
    const bytes = files.get(path) as Uint8Array;
    files.set(path, bytes.with(bytes.length - 1, ~(bytes.at(-1) ?? 0) & 0xff));
    assert.match(await fsck(url, log.vkey, tempFolder(t)), /fsck failed/);
    files.set(path, bytes);
  }
  files.set('checkpoint', log.checkpoint().replace('\n256\n', '\n255\n'));
  assert.match(await fsck(url, log.vkey, tempFolder(t)), /fsck failed/);
});

const needed = without(
  'tlog-verify',
  'litewitness',
  'omniwitness',
  'generate_keys',
  'ssh-agent',
  'ssh-add',
  'ssh-keygen',
);
test('tlog-verify takes every entry of a log, and its proofs, with two witnesses', {
  skip: ONLY_WIDE || needed,
}, async (t) => {
  const log = grown(1_000);
  const [omni, lite] = [await startOmniwitness(t, tempFolder(t), log), await startLitewitness(t, tempFolder(t), log)];
  const checkpoint = log.checkpoint();
  const lines = await Promise.all([omni, lite].map((witness) => cosigned(witness, log, 0)));
  const whole = checkpoint + lines.map((text) => text.slice(checkpoint.length)).join('');
  const folder = tempFolder(t);
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const ed25519 = `log ${log.vkey}\nwitness omni ${omni.vkeys[0]}\nwitness lite ${lite.vkeys[0]}\n`;
  const text = `${ed25519}group both all omni lite\nquorum both\n`;
  const policy = file('policy', text);
  const url = await serveFiles(t, published(log, whole));
  const read = await run('tlog-verify', ['log', policy, url]);
  assert.match(read.stdout, /^1000 entries read and authenticated/);
  // This program knows no ML-DSA-44: that witness stands in our policy alone.
  const quantum = `witness quantum ${omni.vkeys[1]}\ngroup both all omni lite quantum\nquorum both\n`;
  const ours = readPolicy(ed25519 + quantum);
  for (const index of [0, 1, 255, 256, 767, 768, 999]) {
    const path = log.tree().inclusionProof(index);
    const proof = file('proof', tlogProofText({ index, path, checkpoint: whole, extra: null }));
    const verify = (entry: string) => run('tlog-verify', ['proof', policy, proof, file('entry', entry)]);
    await verify(`entry ${index}`);
    await assert.rejects(verify('another entry'));
    const proofText = tlogProofText({ index, path, checkpoint: whole, extra: null });
    assert.equal((await verifyTlogProof(`entry ${index}`, proofText, ours, nodeCrypto)).cosigners.length, 3);
  }
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loggedEntries } from '../../src/proof/log/logged-entries.ts';
import { nodeCrypto } from '../../src/proof/log/node-crypto.ts';
import { verifyTlogProof } from '../../src/proof/log/verify.ts';
import { logProver } from '../../src/shared/transparency/log-tree.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { tempFolder } from '../support/app-context.ts';
import { LogHeads } from '../support/log-heads.ts';
import { ONLY_WIDE } from '../support/wide.ts';

function opened(t: TestContext): Store {
  const store = openStore({ file: join(tempFolder(t), 'log.db') });
  t.after(() => store.database.close());
  return store;
}

const noteOf = (number: number): string => `receipt ${number}\n`;

test('a proof is given out once a cosigned head covers its leaf, and never changes', async (t) => {
  const store = opened(t);
  const heads = new LogHeads(store.database.log, 'desk');
  const [first, second] = [noteOf(1), noteOf(2)];
  store.database.log.append('desk', first);
  assert.equal(logProver(store.database.log, 'desk')(first), null, 'without a head');
  heads.sign();
  assert.equal(logProver(store.database.log, 'desk')(first), null, 'without a quorum');
  store.database.log.append('desk', second);
  heads.cosign(heads.sign());
  const given = logProver(store.database.log, 'desk')(first);
  assert(given !== null);
  assert.deepEqual([given.origin, given.index], [heads.origin, 0]);
  assert.equal((await verifyTlogProof(first, given.tlog_proof, heads.policy, nodeCrypto)).checkpoint.size, 2);
  store.database.transact(() => {
    for (let number = 3; number < 600; number++) store.database.log.append('desk', noteOf(number));
  });
  heads.cosign(heads.sign());
  assert.deepEqual(logProver(store.database.log, 'desk')(first), given);
  assert.deepEqual(logProver(store.database.log, 'desk')(second)?.index, 1);
  assert.equal(logProver(store.database.log, 'desk')(noteOf(600)), null, 'not logged');
  assert.equal(logProver(store.database.log, 'records')(first), null, 'in the other log');
});

test('a note with a hash in the log is proved by it, and by its own leaf once it has one', async (t) => {
  const store = opened(t);
  const heads = new LogHeads(store.database.log, 'desk');
  const note = noteOf(1);
  const [, hash] = loggedEntries(note);
  store.database.log.append('desk', hash);
  heads.cosign(heads.sign());
  const hidden = logProver(store.database.log, 'desk')(note);
  assert.equal(hidden?.index, 0);
  await verifyTlogProof(hash, hidden?.tlog_proof ?? '', heads.policy, nodeCrypto);
  store.database.log.append('desk', note);
  assert.equal(logProver(store.database.log, 'desk')(note), null, 'its leaf is not covered yet');
  heads.cosign(heads.sign());
  const shown = logProver(store.database.log, 'desk')(note);
  assert.equal(shown?.index, 1);
  await verifyTlogProof(note, shown?.tlog_proof ?? '', heads.policy, nodeCrypto);
});

test('every leaf of a log of several tiles has a proof, by whichever head was the first', async (t) => {
  const store = opened(t);
  const heads = new LogHeads(store.database.log, 'records');
  const notes = Array.from({ length: 700 }, (_, number) => noteOf(number));
  const heights = [1, 2, 255, 256, 257, 511, 600, 700];
  store.database.transact(() => {
    for (const [number, note] of notes.entries()) {
      store.database.log.append('records', note);
      if (heights.includes(number + 1)) heads.cosign(heads.sign());
    }
  });
  const proved = logProver(store.database.log, 'records');
  for (const [index, note] of notes.entries()) {
    // On a push: the leaves on both sides of each head, and some between.
    if (ONLY_WIDE !== false && index % 50 > 0 && !heights.some((size) => Math.abs(size - index) < 2)) continue;
    const proof = proved(note);
    assert.equal(proof?.index, index);
    const { checkpoint } = await verifyTlogProof(note, proof?.tlog_proof ?? '', heads.policy, nodeCrypto);
    assert.equal(
      checkpoint.size,
      heights.find((size) => size > index),
    );
    assert.deepEqual(logProver(store.database.log, 'records')(note), proof);
  }
});

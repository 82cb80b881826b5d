import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyNode } from '../../../../src/proof/ed25519.ts';
import type { LogProof } from '../../../../src/proof/log/log-proof.ts';
import { loggedEntries } from '../../../../src/proof/log/logged-entries.ts';
import { nodeCrypto } from '../../../../src/proof/log/node-crypto.ts';
import { verifyTlogProof } from '../../../../src/proof/log/verify.ts';
import type { Evidence } from '../../../../src/proof/records/evidence.ts';
import { documentFaults } from '../../../../src/proof/records/verify/document-faults.ts';
import { jsonDocument, type ProvenancePage } from '../../../../src/proof/records/verify/documents.ts';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { ask } from '../../../support/http.ts';
import { LogHeads } from '../../../support/log-heads.ts';
import { probe } from '../../../support/probes.ts';
import { evidenceFaults } from '../../../support/records-faults.ts';
import { recordsStand } from '../../../support/records-fixture.ts';

test('provenance and evidence say that receipts are in the log, as soon as a cosigned head covers them', async (t) => {
  const { app, url, enter, clock, keyOf } = await recordsStand(t);
  const key = { 'x-service-key': keyOf('account') };
  const heads = new LogHeads(app.store.database.log, 'records');
  const observe = (n: number) => enter(probe('example.org', clock.now + n * 60_000, { A: [`192.0.2.${n}`] }));
  const read = async <T>(path: string) => JSON.parse((await ask(url, path, key)).text) as T;
  const provenance = () => read<ProvenancePage>('/v1/domains/example.org/provenance');
  const evidence = () => read<Evidence>('/v1/exports/domains/example.org/evidence.json');

  observe(1);
  assert.deepEqual(
    (await provenance()).items.map(({ log }) => log),
    [null],
  );
  assert.equal((await evidence()).records[0]?.log, null);
  heads.cosign(heads.sign());
  observe(2);
  const page = await provenance();
  assert.deepEqual(
    page.items.map(({ log }) => log === null),
    [true, false],
    'newest first: no head covers the second yet',
  );
  const bundle = await evidence();
  const [receipt, log] = [page.items[1]?.receipt ?? '', page.items[1]?.log as LogProof];
  assert.deepEqual(bundle.records[0]?.log, log);
  const [, hash] = loggedEntries(receipt);
  const { checkpoint } = await verifyTlogProof(hash, log.tlog_proof, heads.policy, nodeCrypto);
  assert.equal(checkpoint.origin, heads.origin);
  assert(!log.tlog_proof.includes('example.org'), 'the proof names no hostname');

  const keys = app.store.desk.verifyingKeys('records');
  const pageFaults = (json: unknown) => documentFaults(jsonDocument(json) ?? assert.fail(), keys, verifyNode);
  assert.deepEqual(pageFaults(page), []);
  assert.deepEqual(jsonDocument(bundle)?.unsigned, ['keys[0].nbf', 'keys[0].retired_at']);
  assert.deepEqual(evidenceFaults(bundle, verifyNode), []);
  const altered = (change: Partial<LogProof>) => {
    const [record, ...others] = bundle.records;
    return evidenceFaults({ ...bundle, records: [{ ...record, log: { ...log, ...change } }, ...others] }, verifyNode);
  };
  assert.deepEqual(altered({ index: log.index + 1 }), [
    `seq 1: log: it says index ${log.index + 1}, but its proof is of entry ${log.index}`,
  ]);
  assert.match(altered({ origin: 'x' }).join(), /^seq 1: log: it says origin "x", but its proof is of/);
  assert.match(altered({ tlog_proof: 'x' }).join(), /^seq 1: log: the proof does not begin with the line/);
  const items = page.items.map((row, n) => (n === 0 ? { ...row, log } : row));
  assert.deepEqual(pageFaults({ ...page, items }), [
    'seq 2: log: the proof does not lead from the receipt to the root of its checkpoint',
  ]);

  app.store.records.optOut(parseHostname('example.org'), 'its owner asked', 'test', clock.now);
  for (const path of ['/v1/domains/example.org/provenance', '/v1/exports/domains/example.org/evidence.json'])
    assert.equal((await ask(url, path, key)).status, 404);
});

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { verifyNoble, verifyNode } from '../../src/proof/ed25519.ts';
import type { Evidence } from '../../src/proof/records/evidence.ts';
import { type Observation, observe } from '../../src/proof/records/observation.ts';
import { fullRecordOf, previewOf } from '../../src/proof/records/preview.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordOf } from '../../src/records/record.ts';
import { certificate, KEY, probe, toolsAt } from '../support/probes.ts';
import * as fc from '../support/properties.ts';
import { answerFaults, evidenceFaults, evidenceOf, receiptChainFaults } from '../support/records-faults.ts';

const AT = Date.UTC(2026, 10, 20, 12);
const HOST = parseHostname('bücher.example');

/** Five observations of one domain, with gaps in their numbers: others were observed in between. */
const CHAIN: Observation[] = [];
for (let n = 0; n < 5; n++) {
  const at = AT + n * 1000;
  const seen = probe(HOST.hostname, at, { A: [`192.0.2.${n}`], NS: ['ns1.example.net'] }, certificate('a'));
  const seed = new Uint8Array(randomBytes(32));
  const prev = CHAIN.at(-1)?.receipt_hash ?? null;
  CHAIN.push(observe({ record: recordOf(seen, HOST, at), seq: 3 * n + 1, prev, seed }, toolsAt(at)));
}
const [first, second] = CHAIN as [Observation, Observation];
/** As somebody gets it. */
const sent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const bundle = (): Evidence => sent(evidenceOf(HOST.hostname, CHAIN, [KEY]));

test('a bundle verifies by both implementations, from itself and against trusted keys', () => {
  for (const verify of [verifyNode, verifyNoble]) {
    assert.deepEqual(evidenceFaults(bundle(), verify), []);
    assert.deepEqual(evidenceFaults(bundle(), verify, [KEY]), []);
    assert.match(evidenceFaults(bundle(), verify, []).join(), /no key with kid/);
  }
});

test('no record of a bundle can be left out, doubled or swapped', () => {
  const faults = (change: (records: Evidence['records']) => Evidence['records']) => {
    const whole = bundle();
    return evidenceFaults({ ...whole, records: change(whole.records) }, verifyNode);
  };
  for (let n = 0; n < 4; n++)
    assert.notDeepEqual(
      faults((records) => records.toSpliced(n, 1)),
      [],
      `without ${n}`,
    );
  assert.deepEqual(
    faults((records) => records.slice(0, 4)),
    [],
    'an earlier state of the chain is a chain',
  );
  assert.notDeepEqual(
    faults((records) => [...records.slice(0, 2), ...records.slice(1)]),
    [],
  );
  assert.notDeepEqual(
    faults((records) => records.toReversed()),
    [],
  );
  assert.deepEqual(
    faults(() => []),
    ['there is no observation'],
  );
  assert.match(evidenceFaults({ ...bundle(), domain: 'other.example' }, verifyNode).join(), /not of other\.example/);
  const receipts = CHAIN.map(({ receipt }) => receipt);
  assert.deepEqual(receiptChainFaults(receipts.slice(2), [KEY], verifyNode, false), [], 'a page of a chain');
  assert.match(receiptChainFaults(receipts.slice(2), [KEY], verifyNode, true).join(), /nothing is before it/);
});

test('an answer says nothing beside its proof that was not signed', () => {
  const full = sent(fullRecordOf(first));
  const preview = sent(previewOf(first));
  assert.deepEqual(answerFaults(full, [KEY], verifyNode), []);
  assert.deepEqual(answerFaults(preview, [KEY], verifyNode), []);
  const A = { ...full.signals.A, values: ['192.0.2.9'] };
  const altered: [answer: object, fault: string][] = [
    [{ ...full, signals: { ...full.signals, A } }, 'signals.A is not what was signed'],
    [{ ...full, signals: { ...full.signals, X: A } }, 'signals.X is not what was signed'],
    [{ ...full, signals: { A: full.signals.A } }, 'signals leaves out what was signed'],
    [{ ...full, certificate: null }, 'certificate is not what was signed'],
    [{ ...full, services: [{ service: 'Acme' }] }, 'services is not what was signed'],
    [{ ...full, seq: 2 }, 'seq is not the receipt’s'],
    [{ ...full, unicode: 'bucher.example' }, 'unicode is not what was signed'],
    [{ ...full, unicode: '\ud800' }, 'unicode is not what was signed'],
    [{ ...preview, nameservers: ['ns9.example.net'] }, 'nameservers is not what was signed'],
    [{ ...preview, summary: { A: 7 } }, 'summary is not what was signed'],
    [{ ...preview, observed_at: second.record.observed_at }, 'observed_at is not what was signed'],
    [{ ...preview, certificate: null }, 'certificate is not what was signed'],
    [{ ...preview, disclosures: preview.disclosures.slice(1) }, 'domain is not what was signed'],
  ];
  for (const [answer, fault] of altered) assert(answerFaults(answer, [KEY], verifyNode).includes(fault), fault);
});

test('any value in place of an answer or a bundle is a fault, never an exception', () => {
  const mangled = fc.oneof(
    fc.anything(),
    fc.record({ preview: fc.boolean(), receipt: fc.anything(), disclosures: fc.anything() }),
    fc.record({
      preview: fc.constant(true),
      receipt: fc.constant(first.receipt),
      disclosures: fc.array(fc.record({ index: fc.anything(), disclosure: fc.json(), path: fc.array(fc.string()) }), {
        minLength: 1,
      }),
    }),
    fc.record({ preview: fc.constant(false), receipt: fc.constant(first.receipt), disclosures: fc.array(fc.json()) }),
  );
  fc.assert(
    fc.property(mangled, (value) => {
      assert.notDeepEqual(answerFaults(value, [KEY], verifyNode), []);
      assert.notDeepEqual(evidenceFaults(value, verifyNode), []);
      const one = { evidence: 'domain-evidence/v1', domain: HOST.hostname, keys: bundle().keys, records: [value] };
      assert.notDeepEqual(evidenceFaults(one, verifyNode), []);
    }),
  );
});

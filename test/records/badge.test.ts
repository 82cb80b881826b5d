import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { badgeOf } from '../../src/proof/records/badge.ts';
import { observe } from '../../src/proof/records/observation.ts';
import { fullRecordOf } from '../../src/proof/records/preview.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordOf } from '../../src/records/record.ts';
import { KEY, probe, toolsAt } from '../support/probes.ts';
import { recordFaults } from '../support/records-faults.ts';

test('a badge is sound XML that carries its own receipt', () => {
  const at = Date.UTC(2026, 10, 20, 12);
  const host = parseHostname('bücher.example');
  const record = recordOf(probe(host.hostname, at, { A: ['192.0.2.1'] }), host, at);
  const observation = observe({ record, seq: 42, prev: null, seed: new Uint8Array(32).fill(7) }, toolsAt(at));
  const svg = badgeOf(observation, 'https://records.example/t/xn--bcher-kva.example?a=1&b="<');
  assert.equal(XMLValidator.validate(svg), true);
  const { svg: root } = new XMLParser({ ignoreAttributes: false, trimValues: false, htmlEntities: true }).parse(
    svg,
  ) as {
    svg: { metadata: string; title: string; a: { '@_href': string; g: { text: { '#text': string }[] } } };
  };
  assert.equal(root.a['@_href'], 'https://records.example/t/xn--bcher-kva.example?a=1&b="<');
  assert.deepEqual(
    root.a.g.text.map((text) => text['#text']),
    ['bücher.example', 'observed 2026-11-20 · signed no. 42'],
  );
  assert.equal(root.metadata, observation.receipt);
  const { disclosures } = fullRecordOf(observation);
  assert.deepEqual(recordFaults({ receipt: root.metadata, disclosures }, [KEY], verifyNode), []);
});

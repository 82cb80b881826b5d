import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { verifyNode } from '../../../../src/proof/ed25519.ts';
import { fullRecordOf } from '../../../../src/proof/records/preview.ts';
import { parseHostname } from '../../../../src/records/hostname.ts';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { recordFaults } from '../../../support/records-faults.ts';
import { recordsStand } from '../../../support/records-fixture.ts';

test('a badge carries the receipt of the newest observation and leads to it', async (t) => {
  const { url, app, enter, clock } = await recordsStand(t);
  enter(
    probe('xn--bcher-kva.example', clock.now, { A: ['192.0.2.1'] }),
    probe('xn--bcher-kva.example', clock.now + 1, {}),
  );
  const { status, text, headers } = await ask(url, '/badge/xn--bcher-kva.example.svg');
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^image\/svg\+xml/);
  assert.equal(headers['access-control-allow-origin'], '*');
  assert.equal(headers['cross-origin-resource-policy'], 'cross-origin');
  assert.match(String(headers['content-security-policy']), /default-src 'none'; sandbox/);
  assert.match(String(headers['cache-control']), /^public, max-age=300/);
  assert.match(String(headers.link), /<http:\/\/localhost:4322\/t\/xn--bcher-kva\.example>; rel="describedby"/);
  const { svg } = new XMLParser({ trimValues: false, htmlEntities: true }).parse(text) as {
    svg: { metadata: string; title: string };
  };
  assert.match(svg.title, /^bücher\.example: .* signed observation 2$/);
  const host = app.store.records.find('xn--bcher-kva.example');
  const newest = app.store.records.observation(host?.id ?? 0);
  assert.ok(newest !== null);
  const { signer, kid } = app.signer.key('records');
  const key = { kid, name: signer.name, publicKey: signer.publicKey, nbf: 0, retired_at: null };
  const { disclosures } = fullRecordOf(newest);
  assert.deepEqual(recordFaults({ receipt: svg.metadata, disclosures }, [key], verifyNode), []);

  assert.equal(
    (await ask(url, '/badge/xn--bcher-kva.example.svg', { 'if-none-match': String(headers.etag) })).status,
    304,
  );
  assert.equal((await ask(url, '/badge/B%C3%9Ccher.example..svg')).text, text, 'any spelling of the name');
  const head = await ask(url, '/badge/xn--bcher-kva.example.svg', {}, 'HEAD');
  assert.deepEqual([head.status, head.headers.etag, head.text], [200, headers.etag, '']);
});

test('without an observation, a grey badge states the reason', async (t) => {
  const { url, app } = await recordsStand(t);
  app.store.records.watch([parseHostname('new.example')], app.clock.now());
  const cases = [
    ['nobody.example', 404, 'not watched'],
    ['new.example', 200, 'not observed yet'],
    ['a..b.com', 400, 'not a hostname'],
    ['1.2.3.4', 400, 'not a hostname'],
    ['%00%3Cscript%3E', 400, 'not a hostname'],
    ['%22%3E%3Cscript%3E.example', 400, 'not a hostname'],
  ] as const;
  for (const [name, status, words] of cases) {
    const answer = await ask(url, `/badge/${name}.svg`, { accept: 'text/html' });
    assert.equal(answer.status, status, name);
    assert.match(String(answer.headers['content-type']), /^image\/svg\+xml/, name);
    assert.equal(XMLValidator.validate(answer.text), true, name);
    assert.ok(answer.text.includes(`>${words}</text>`), name);
    assert.doesNotMatch(answer.text, /<metadata>|<script/, name);
    if (status !== 200) assert.equal(answer.headers['cache-control'], 'no-store', name);
  }
  assert.equal((await ask(url, '/badge/new.example.png')).status, 404);
});

test('crawlers and browsers find the well-known files', async (t) => {
  const { url } = await recordsStand(t);
  const robots = await ask(url, '/robots.txt');
  assert.equal(robots.status, 200);
  assert.match(robots.text, /^User-agent: \*\n/);
  assert.equal((await ask(url, '/favicon.svg')).status, 200);
  const page = await ask(url, '/', { accept: 'text/html' });
  assert.equal(page.headers['x-content-type-options'], 'nosniff');
  assert.equal(page.headers['referrer-policy'], 'strict-origin-when-cross-origin');
  for (const [, path] of page.text.matchAll(/(?:href|src)="(\/_astro\/[^"]+)"/g)) {
    assert.equal((await ask(url, String(path))).status, 200, path);
  }
});

test('behind TLS, pages send HSTS', async (t) => {
  const { url } = await recordsStand(t, { DATA_ORIGIN: 'https://records.example' });
  const { headers, text } = await ask(url, '/', { accept: 'text/html' });
  assert.match(String(headers['strict-transport-security']), /^max-age=\d+/);
  assert.match(text, /<link rel="canonical" href="https:\/\/records\.example\/">/);
});

test('refusals are pages for browsers and JSON for programs', async (t) => {
  const { url } = await recordsStand(t);
  const html = { accept: 'text/html' };
  const lost = await ask(url, '/nothing/here', html);
  assert.equal(lost.status, 404);
  assert.match(lost.text, /<h1>Not found<\/h1>/);
  assert.match(lost.text, /<meta name="robots" content="noindex"/);
  assert.equal(JSON.parse((await ask(url, '/nothing/here')).text).error, 'not_found');
  assert.equal(JSON.parse((await ask(url, '/v1/nothing', html)).text).error, 'not_found', 'the API speaks JSON');
  const wrong = await ask(url, '/changes/today', html, 'DELETE');
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.allow, 'GET, HEAD, OPTIONS');
  assert.match(wrong.text, /<h1>Method not allowed<\/h1>/);
  const badKey = await ask(url, '/changes/today', { ...html, 'x-service-key': 'drs_nothing' });
  assert.equal(badKey.status, 401, 'a bad key is never ignored');
});

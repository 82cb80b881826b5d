import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Contract, type Document } from '../../../support/contract.ts';
import { checkDocument, examplesIn } from '../../../support/document.ts';
import { ask } from '../../../support/http.ts';
import { recordsStand } from '../../../support/records-fixture.ts';

type Endpoints = Record<string, { method: string; url: string }>;

test('the data API describes itself', async (t) => {
  const root = 'https://records.example';
  const { url, keyOf } = await recordsStand(t, { DATA_ORIGIN: root });

  await t.test('the document is sound, and every lane’s answers are in it', async () => {
    const { text, headers } = await ask(url, '/v1/openapi.json');
    assert.match(String(headers['content-type']), /^application\/json/);
    const document = JSON.parse(text) as Document;
    await checkDocument(document, root);
    assert.ok(examplesIn(document).length > 30);
    const { components, paths } = document;
    const lookup = paths['/v1/domains/{domain}']?.get;
    assert.ok(lookup);
    const shown = Object.keys(lookup.responses[200]?.headers ?? {});
    for (const name of ['X-RateLimit-Reset', 'X-Service-Credits-Remaining', 'X-PAYMENT-RESPONSE', 'RateLimit']) {
      assert.ok(shown.includes(name), name);
    }
    assert.deepEqual(Object.keys(components.securitySchemes ?? {}), ['bearer', 'key', 'payment', 'paymentV2']);
    for (const path of ['/v1/changes', '/v1/stream', '/v1/search']) assert.ok(paths[path]?.get?.responses[402], path);
    const known = await ask(url, '/v1/openapi.json', { 'if-none-match': String(headers.etag) });
    assert.equal(known.status, 304);
    const keyed = await ask(url, '/v1/openapi.json', { 'x-service-key': keyOf('account') });
    assert.equal(keyed.headers['cache-control'], 'private, no-store');
    assert.equal(keyed.headers.etag, undefined);
  });

  await t.test('the index lists every operation with its access', async () => {
    const { text, headers } = await ask(url, '/v1');
    const { endpoints, ...index } = JSON.parse(text) as Record<string, string> & { endpoints: Endpoints };
    const document = JSON.parse((await ask(url, '/v1/openapi.json')).text) as Document;
    const { operations } = new Contract(document);
    const listed = Object.entries(endpoints).map(([id, { method, url }]) => `${id}: ${method} ${url}`);
    const all = operations.map(({ operationId, method, path }) => `${operationId}: ${method} ${root}${path}`);
    assert.deepEqual(listed.sort(), all.sort());
    assert.ok(String(headers.link).includes(`<${index.openapi}>; rel="service-desc"`));
    for (const address of [index.docs, index.playground, index.openapi, index.sign_in_url, index.keys_url]) {
      // A page of an account leads to the one where one signs in.
      assert.match(
        String((await ask(url, new URL(String(address)).pathname, { accept: 'text/html' })).status),
        /^(?:200|303)$/,
        address,
      );
    }
  });

  await t.test('with a key the index lists every route that it opens', async () => {
    const document = JSON.parse((await ask(url, '/v1/openapi.json')).text) as Document;
    const { operations } = new Contract(document);
    for (const level of ['account', 'service', 'scanner', 'operator'] as const) {
      const { text, headers } = await ask(url, '/v1', { authorization: `Bearer ${keyOf(level)}` });
      const { endpoints, key } = JSON.parse(text) as { endpoints: Endpoints; key: object };
      const opened = operations.filter(({ security }) =>
        security.some(
          ({ bearer }, at) => bearer?.includes(level) || (at === 0 && Object.keys(security[0] ?? {}).length === 0),
        ),
      );
      const ids = opened.filter(({ operationId }) => level !== 'scanner' || operationId !== 'readDomain');
      assert.deepEqual(Object.keys(endpoints).sort(), ids.map(({ operationId }) => operationId).sort(), level);
      assert.deepEqual(key, { level, name: `a test’s ${level}` });
      assert.equal(headers['cache-control'], 'private, no-store');
    }
  });

  await t.test('the playground runs scripts of its own host only', async () => {
    const { headers, text, status } = await ask(url, '/docs/playground');
    assert.equal(status, 200);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'(?:;|$)/);
    assert.match(policy, /connect-src 'self'(?:;|$)/);
    const files = [...text.matchAll(/(?:src|href)="(playground\/[^"]+)"/g)].map(([, file = '']) => file);
    assert.equal(files.length, 5);
    for (const file of files) {
      const answer = await ask(url, `/docs/${file}`);
      assert.equal(answer.status, 200, file);
      assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable', file);
    }
    assert.equal((await ask(url, '/docs/playground/x.js')).status, 404);
  });
});

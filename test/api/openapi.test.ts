import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import type { Document } from '../support/contract.ts';
import { checkDocument, examplesIn } from '../support/document.ts';
import { ask } from '../support/http.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

const DOOR = '/api/v1/openapi.json';
const CATALOG = '/.well-known/api-catalog';

test('the API describes itself', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [
    { slug: 'the-plumb-line' },
    { slug: 'elsewhere', url: 'https://elsewhere.example' },
    { slug: 'hidden', isPublic: false },
  ]);
  const { url } = await serveHere(t, folder);
  const sites = [
    { server: `${url}/the-plumb-line`, path: '/the-plumb-line', host: new URL(url).host },
    { server: `${url}/elsewhere`, path: '/elsewhere', host: new URL(url).host },
    { server: 'https://elsewhere.example', path: '', host: 'elsewhere.example' },
  ];

  for (const { server, path, host } of sites) {
    await t.test(`the document of ${path || host}`, async () => {
      const { text, headers } = await ask(url, path + DOOR, { host });
      assert.match(String(headers['content-type']), /^application\/json/);
      assert.equal((await ask(url, path + DOOR, { host })).text, text, 'the same bytes each time');
      const document = JSON.parse(text) as Document;
      await checkDocument(document, server);
      assert.ok(examplesIn(document).length > 40);
    });
  }

  await t.test('a 401 carries a challenge', async () => {
    for (const key of [undefined, 'nrf_wrong']) {
      const headers: Record<string, string> = key === undefined ? {} : { 'x-nrf-key': key };
      const answer = await ask(url, '/the-plumb-line/api/v1/keys', headers);
      assert.equal(answer.status, 401);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    }
  });

  await t.test('the index leads to the document and to the playground', async () => {
    const { headers } = await ask(url, '/the-plumb-line/api/v1');
    for (const [path, relation] of [
      [DOOR, 'service-desc'],
      ['/api/v1/playground', 'service-doc'],
      [CATALOG, 'api-catalog'],
    ]) {
      assert.ok(String(headers.link).includes(`<${url}/the-plumb-line${path}>; rel="${relation}"`), relation);
    }
  });

  await t.test('the playground runs scripts of its own host only', async () => {
    const { headers, text } = await ask(url, '/the-plumb-line/api/v1/playground');
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'(?:;|$)/);
    assert.match(policy, /connect-src 'self'(?:;|$)/);
    for (const [, file = ''] of text.matchAll(/(?:src|href)="(playground\/[^"]+)"/g)) {
      const answer = await ask(url, `/the-plumb-line/api/v1/${file}`);
      assert.equal(answer.status, 200, file);
      assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable', file);
    }
    assert.equal((await ask(url, '/the-plumb-line/api/v1/playground/x.js')).status, 404);
  });

  await t.test('a catalog leads from each root to the documents', async () => {
    const hosts = sites.filter(({ path, host }) => path !== '/elsewhere' || host !== new URL(url).host);
    for (const { path, host, root, apis } of [
      { path: '', host: new URL(url).host, root: url, apis: hosts.map(({ server }) => `${server}/api/v1`) },
      ...hosts.map(({ server, path, host }) => ({ path, host, root: server, apis: [`${server}/api/v1`] })),
    ]) {
      const catalog = await ask(url, path + CATALOG, { host });
      assert.equal(catalog.status, 200, root);
      assert.equal(
        catalog.headers['content-type'],
        'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      );
      assert.equal(catalog.headers['access-control-allow-origin'], '*');
      const known = { host, 'if-none-match': String(catalog.headers.etag) };
      assert.equal((await ask(url, path + CATALOG, known)).status, 304, root);
      const head = await ask(url, path + CATALOG, { host }, 'HEAD');
      assert.equal(head.status, 200);
      assert.equal(head.text, '');
      const link = `<${root}${CATALOG}>; rel="api-catalog"`;
      for (const answer of [head, catalog, await ask(url, `${path}/`, { host })]) {
        assert.ok(String(answer.headers.link).startsWith(link), `${answer.headers.link} of ${root}`);
      }

      const { linkset } = JSON.parse(catalog.text) as { linkset: Context[] };
      const [self, ...each] = linkset;
      assert.equal(self?.anchor, root + CATALOG);
      assert.deepEqual(self?.item?.map(({ href }) => href).sort(), [...apis].sort());
      assert.deepEqual(each.map(({ anchor }) => anchor).sort(), [...apis].sort());
      for (const api of each) {
        const targets = [{ href: api.anchor, type: 'application/json' }];
        for (const target of [...targets, ...(api['service-desc'] ?? []), ...(api['service-doc'] ?? [])]) {
          const { host: at, pathname } = new URL(target.href);
          const answer = await ask(url, pathname, { host: at });
          assert.equal(answer.status, 200, target.href);
          assert.ok(String(answer.headers['content-type']).startsWith(target.type), target.href);
        }
        assert.ok(api['service-desc']?.length && api['service-doc']?.length);
      }
    }
  });

  await t.test('a private paper has no catalog and no document, as one that is not there', async () => {
    for (const path of [DOOR, CATALOG]) {
      const [hidden, nowhere] = [await ask(url, `/hidden${path}`), await ask(url, `/nowhere${path}`)];
      assert.equal(hidden.status, 404);
      assert.equal(hidden.text, nowhere.text);
    }
  });
});

interface Target {
  href: string;
  type: string;
}

interface Context {
  anchor: string;
  item?: Target[];
  'service-desc'?: Target[];
  'service-doc'?: Target[];
}

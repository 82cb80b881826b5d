import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

/** The methods that an OpenAPI document may give an address. */
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

test('Allow names the methods that an address takes, and no others', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'the-open' }, { slug: 'quiet', isPublic: false }]);
  const { url, records } = await serveHere(t, folder);
  const services = [
    ['the desk', url, '/the-open', '/api/v1/openapi.json'],
    ['the records', records, '', '/v1/openapi.json'],
  ] as const;
  for (const [name, base, root, document] of services) {
    await t.test(`every address of ${name}`, async () => {
      const { paths } = JSON.parse((await ask(base, root + document)).text) as { paths: Record<string, object> };
      assert.ok(Object.keys(paths).length > 20);
      for (const [path, item] of Object.entries(paths)) {
        const known = METHODS.filter((method) => method in item).map((method) => method.toUpperCase());
        const wanted = [...known, ...(known.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort().join(', ');
        const asked = root + path.replace(/\{[^}]+\}/g, 'x--y');
        const options = await ask(base, asked, {}, 'OPTIONS');
        assert.deepEqual([options.status, options.headers.allow], [204, wanted], `OPTIONS ${asked}`);
        const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
        assert.equal((await ask(base, asked, preflight, 'OPTIONS')).headers.allow, wanted, `preflight ${asked}`);
        const refused = await ask(base, asked, {}, 'PROPFIND');
        assert.deepEqual([refused.status, refused.headers.allow], [405, wanted], `PROPFIND ${asked}`);
        if (root !== '') {
          const hidden = await ask(base, asked.replace(root, '/quiet'), {}, 'OPTIONS');
          assert.deepEqual([hidden.status, hidden.headers.allow], [204, wanted], 'a private paper’s look alike');
        }
      }
    });
  }

  await t.test('pages of other origins get the same response', async () => {
    const { headers } = await ask(url, '/the-open/api/v1/sections', {}, 'OPTIONS');
    assert.equal(headers.allow, 'GET, HEAD, OPTIONS');
    assert.equal(headers['access-control-allow-origin'], '*');
  });

  await t.test('an address that nothing is at takes nothing', async () => {
    for (const [base, path] of [
      [url, '/the-open/api/v1/nothing'],
      [records, '/v1/nothing/at/all'],
    ] as const) {
      assert.equal((await ask(base, path, {}, 'OPTIONS')).headers.allow, 'OPTIONS', path);
      assert.equal((await ask(base, path, {}, 'PATCH')).status, 404, path);
    }
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Document } from '../support/contract.ts';
import { Contract } from '../support/contract.ts';
import { ask } from '../support/http.ts';
import { copyPaper } from '../support/papers.ts';
import { copyContent, serve } from '../support/program.ts';
import { tempFolder } from '../support/workshop.ts';

const DOOR = '/api/v1/openapi.json';
const CATALOG = '/.well-known/api-catalog';

test('the API describes itself', async (t) => {
  const folder = tempFolder(t);
  copyContent(folder);
  copyPaper(folder, 'the-leading-light', 'elsewhere', (yaml) => `url: https://elsewhere.example\n${yaml}`);
  copyPaper(folder, 'the-leading-light', 'hidden', (yaml) => yaml.replace('paper_public: true', 'paper_public: false'));
  const { url } = await serve(t, folder);
  const places = [
    { server: `${url}/the-plumb-line`, path: '/the-plumb-line', host: new URL(url).host },
    { server: `${url}/the-leading-light`, path: '/the-leading-light', host: new URL(url).host },
    { server: `${url}/elsewhere`, path: '/elsewhere', host: new URL(url).host },
    { server: 'https://elsewhere.example', path: '', host: 'elsewhere.example' },
  ];

  for (const { server, path, host } of places) {
    await t.test(`the document of ${path || host}`, async () => {
      const { text, headers } = await ask(url, path + DOOR, { host });
      assert.match(String(headers['content-type']), /^application\/json/);
      assert.equal((await ask(url, path + DOOR, { host })).text, text, 'the same bytes each time');
      const document = JSON.parse(text) as Document;
      const verdict = await new Validator().validate(JSON.parse(text));
      assert.deepEqual(verdict, { valid: true });
      assert.match(document.openapi, /^3\.1\./);
      assert.deepEqual(
        document.servers.map((one) => one.url),
        [server],
      );

      const contract = new Contract(document);
      const ids = contract.operations.map(({ operationId }) => operationId);
      assert.equal(new Set(ids).size, ids.length, 'each operation has a name of its own');
      const tags = new Set(document.tags.map(({ name }) => name));
      for (const operation of contract.operations as ((typeof contract.operations)[0] & { tags: string[] })[]) {
        for (const tag of operation.tags) assert.ok(tags.has(tag), `${tag} is described`);
        const known = Object.keys(operation.responses);
        const statuses = ['400', '401', '403', '404', '405', '429', '500', '503'];
        for (const status of statuses) assert.ok(known.includes(status), `${operation.operationId} ${status}`);
        if (operation.requestBody) assert.ok(known.includes('413') && known.includes('415'), operation.operationId);
        assert.ok(operation.security.length > 0, operation.operationId);
        for (const way of operation.security.flatMap((one) => Object.keys(one))) {
          assert.ok(document.components.securitySchemes?.[way], way);
        }
        for (const [, name] of operation.path.matchAll(/\{(\w+)\}/g)) {
          const parameter = operation.parameters?.find((one) => one.in === 'path' && one.name === name);
          assert.ok(parameter?.required, `${operation.operationId} ${name}`);
        }
      }
      for (const reference of referencesIn(document)) contract.at({ $ref: reference });
      for (const [name, { allOf = [] }] of Object.entries(document.components.schemas as Record<string, Whole>)) {
        assert.ok(!allOf.some((one) => one.$ref?.endsWith(`/${name}`)), `${name} is made of itself`);
      }
      const examples = examplesIn(document);
      assert.ok(examples.length > 40, `${examples.length} examples`);
      for (const { schema, value } of examples) {
        assert.equal(contract.misfit(schema, value), null, `the example at ${schema.join(' / ')}`);
      }
    });
  }

  await t.test('a 401 says how to come back', async () => {
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

  await t.test('the playground lets no script run but its own host’s', async () => {
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
    const hosts = places.filter(({ path, host }) => path !== '/elsewhere' || host !== new URL(url).host);
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

/** A schema that is put together of others. */
interface Whole {
  allOf?: { $ref?: string }[];
}

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

/** Every `$ref` of a document. */
function referencesIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    name === '$ref' && typeof value === 'string' ? [value] : referencesIn(value),
  );
}

/** Every example of a document, with the way to the schema that it is an example of. */
function examplesIn(node: unknown, way: string[] = []): { schema: string[]; value: unknown }[] {
  if (typeof node !== 'object' || node === null) return [];
  const members = node as Record<string, unknown>;
  const schema = 'schema' in members ? [...way, 'schema'] : way;
  return Object.entries(members).flatMap(([name, value]) => {
    // A member of a record may be called `example` too; that of a schema stands beside its type.
    if (way.at(-1) === 'properties') return examplesIn(value, [...way, name]);
    if (name === 'example') return [{ schema, value }];
    if (name === 'examples') {
      return Object.values(value as object).map((one) => ({ schema, value: (one as { value: unknown }).value }));
    }
    return examplesIn(value, [...way, name]);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { parse } from 'yaml';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { recordsStand } from '../../../support/records-fixture.ts';

const ROOT = 'https://records.example';
const DAY = 86_400_000;

test('discovery documents lead to everything here, and reveal no hostname of the catalog', async (t) => {
  const { url, enter, clock } = await recordsStand(t, { DATA_ORIGIN: ROOT, CONTACT: 'desk@records.example' });
  const at = clock.now;
  enter(probe('hidden.example', at, { A: ['192.0.2.1'] }), probe('hidden.example', at + DAY, { A: ['192.0.2.2'] }));
  const read = async (path: string, type: RegExp) => {
    const { status, text, headers } = await ask(url, path, { accept: '*/*' });
    assert.equal(status, 200, path);
    assert.match(String(headers['content-type']), type, path);
    assert.equal(headers['x-content-type-options'], 'nosniff', path);
    assert.ok(headers.etag, path);
    return text;
  };
  const opens = async (address: string) => {
    const { pathname } = new URL(address);
    const { status } = await ask(url, pathname, { accept: 'text/html' });
    // An example’s hostname is not watched here, a page of an account leads to the sign-in, and MCP takes POST.
    const known = /example\.com$/.test(pathname)
      ? 404
      : pathname === '/mcp'
        ? 405
        : pathname === '/account'
          ? 303
          : 200;
    assert.equal(status, known, address);
  };

  const sitemap = await read('/sitemap.xml', /^application\/xml/);
  assert.equal(XMLValidator.validate(sitemap), true);
  const { urlset } = new XMLParser().parse(sitemap) as { urlset: { url: { loc: string }[] } };
  const pages = urlset.url.map(({ loc }) => loc);
  assert.equal(new Set(pages).size, pages.length);
  assert.ok(pages.includes(`${ROOT}/changes/2026-11-22`), 'a day with changes');
  for (const page of pages) await opens(page);

  const llms = await read('/llms.txt', /^text\/plain/);
  assert.match(llms, /^# Domain Records\n\n> /);
  for (const [, address = ''] of llms.matchAll(/\]\(([^)]+)\)/g)) await opens(address);

  const skill = await read('/SKILL.md', /^text\/markdown/);
  const [, front = ''] = /^---\n([\s\S]*?)^---\n\n# /m.exec(skill) ?? [];
  const { name, description, ...rest } = parse(front) as { name: string; description: string };
  assert.deepEqual([name, rest], ['domain-records', {}]);
  assert.ok(description.length <= 1_024 && /Use when .*records\.example/.test(description), description);
  const { paths } = JSON.parse((await ask(url, '/v1/openapi.json')).text) as { paths: object };
  for (const [, path = ''] of skill.matchAll(/GET (?:https:\/\/records\.example)?(\/v1\/[\w{}/-]+)/g)) {
    assert.ok(path in paths, path);
  }
  assert.ok(skill.length < 10_000);

  const security = await read('/.well-known/security.txt', /^text\/plain/);
  assert.match(security, /^Contact: mailto:desk@records\.example\n/);
  const expires = Date.parse(/^Expires: (.+)$/m.exec(security)?.[1] ?? '');
  assert.ok(expires > clock.now && expires < clock.now + 365 * DAY);
  assert.match((await ask(url, '/robots.txt')).text, /^Sitemap: https:\/\/records\.example\/sitemap\.xml$/m);

  const catalog = JSON.parse(await read('/.well-known/api-catalog', /^application\/linkset\+json/));
  for (const { href } of catalog.linkset[0].item) await opens(href);
  for (const text of [sitemap, llms, skill, security]) assert.doesNotMatch(text, /hidden\.example|localhost/);
});

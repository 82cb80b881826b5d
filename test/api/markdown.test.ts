import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { parse } from 'yaml';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

const MARKDOWN = { accept: 'text/markdown' };
const OWN = 'http://tides.example';

test('pages in Markdown, and skills', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [
    { slug: 'shared' },
    { slug: 'own', url: OWN },
    { slug: 'quiet', isPublic: false },
  ]);
  const { url } = await serveHere(t, folder);

  await t.test(
    'each public page answers it, with its title and absolute links, and says that Accept matters',
    async () => {
      const texts: Record<string, RegExp> = {
        '/': /\[What a white light means\]\(ROOT\/stories\/a-white-light\/\)/,
        '/sections/tides/': /What low water means/,
        '/days/': /2026|November/,
        '/days/2026-11-18/': /What high water means/,
        '/masthead/': /Vera Holm/,
        '/masthead/vera-holm/': /Watch/,
        '/cast/': /The watch in half a minute/,
        '/corrections/': /\w/,
        '/standards/': /Corrections/,
        '/search/': /\w/,
        '/agents/': /## The way of a piece/,
        '/stories/high-water/': /^\[\^1\]: One thing is so/m,
      };
      const sitemap = (await ask(url, '/shared/sitemap.xml')).text;
      assert.ok(sitemap.includes('<sitemap'));
      for (const [path, text] of Object.entries(texts)) {
        const page = await ask(url, `/shared${path}`, MARKDOWN);
        assert.equal(page.status, 200, path);
        assert.equal(page.headers['content-type'], 'text/markdown; charset=utf-8', path);
        assert.match(page.text, new RegExp(text.source.replaceAll('ROOT', `${url}/shared`), text.flags), path);
        assert.doesNotMatch(page.text.replace(/```[\s\S]*?```/g, ''), /<(?:script|svg|form|div)\b|\]\(\//, path);
        const front = parse(page.text.split('---\n')[1] ?? '') as Record<string, unknown>;
        assert.ok(front.title ?? front.headline ?? front.name, path);
        for (const answer of [page, await ask(url, `/shared${path}`, { accept: 'text/html' })])
          assert.match(String(answer.headers.vary), /\bAccept\b(?!-)/, path);
        const again = await ask(url, `/shared${path}`, { ...MARKDOWN, 'if-none-match': String(page.headers.etag) });
        assert.equal(again.status, 304, path);
      }
    },
  );

  await t.test('q-values decide, and browsers get pages', async () => {
    const typeOf = async (accept: string) =>
      String((await ask(url, '/shared/sections/tides/', { accept })).headers['content-type']).slice(
        0,
        'text/markdown'.length,
      );
    for (const accept of [
      'text/markdown',
      'text/markdown, text/html;q=0.9, */*;q=0.1',
      'text/html;q=0.5, text/markdown;q=0.6',
      'text/markdown, text/html, */*',
      'text/markdown, */*',
      'TEXT/MARKDOWN; charset=utf-8',
    ])
      assert.equal(await typeOf(accept), 'text/markdown', accept);
    for (const accept of [
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      '*/*',
      'text/*',
      'text/markdown;q=0',
      'text/markdown;q=0, */*',
      'text/html, text/markdown',
      'text/markdown;q=0.1, */*;q=0.5',
      'text/markdown;q=0.5, text/*',
    ])
      assert.match(await typeOf(accept), /^text\/html/, accept);
  });

  await t.test('other files, cards and private papers stay as they are', async () => {
    const card = await ask(url, '/shared/embed/high-water/', MARKDOWN);
    assert.match(String(card.headers['content-type']), /^text\/html/);
    assert.match(String((await ask(url, '/shared/front.json', MARKDOWN)).headers['content-type']), /json/);
    assert.equal((await ask(url, '/quiet/', MARKDOWN)).status, 404);
    const missing = await ask(url, '/shared/nothing/', MARKDOWN);
    assert.equal(missing.status, 404);
  });

  await t.test('a paper with an address of its own answers at both, with its own links', async () => {
    for (const [path, host] of [
      ['/masthead/', 'tides.example'],
      ['/own/masthead/', new URL(url).host],
    ] as const) {
      const { text, headers } = await ask(url, path, { ...MARKDOWN, host });
      assert.match(String(headers['content-type']), /^text\/markdown/);
      assert.match(text, /\(http:\/\/tides\.example\/masthead\/vera-holm\/\)/);
    }
  });

  await t.test('the index of skills names the guide with its digest, of one paper and of the host', async () => {
    const index = async (path: string, host = new URL(url).host) => JSON.parse((await ask(url, path, { host })).text);
    const own = await index('/.well-known/agent-skills/index.json', 'tides.example');
    const shared = await index('/shared/.well-known/agent-skills/index.json');
    const all = await index('/.well-known/agent-skills/index.json');
    assert.deepEqual([own.skills.length, shared.skills.length], [1, 1]);
    assert.deepEqual(
      all.skills.map(({ name }: { name: string }) => name).sort(),
      ['own', 'shared'],
      'no private paper',
    );
    for (const [{ name, type, url: at, digest }, path] of [
      [shared.skills[0], '/shared/agents/SKILL.md'],
      [own.skills[0], '/own/agents/SKILL.md'],
    ]) {
      assert.equal(type, 'skill-md');
      const { body, text } = await ask(url, path);
      assert.equal(digest, `sha256:${createHash('sha256').update(body).digest('hex')}`);
      assert.ok(at.endsWith('/agents/SKILL.md') && text.startsWith(`---\nname: ${name}\n`));
    }
    assert.ok(keys.get('quiet'));
  });
});

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { filingProblems, sourceFloorProblems } from '../../src/desk/door/door.ts';
import { FilingBody, filingFrom } from '../../src/desk/door/filing.ts';
import { isPaperSlug, PaperBody, type PaperRecord, sectionSlug } from '../../src/desk/papers/paper.ts';
import { logUrl, siteOf } from '../../src/desk/press/edition.ts';
import { plainProseHtml } from '../../src/desk/press/prose-html.ts';
import { agentsText, skillText } from '../../src/desk/press/standards-text.ts';
import { readPage } from '../site/links.ts';
import * as fc from '../support/properties.ts';
import { channel } from './feeds/fixtures.ts';

const { root, paper } = channel;
const site = siteOf(root);
const guide = agentsText(paper, site);
const log = logUrl(paper, site);

/** Every door of the API that is there, as the wire spells it. */
const DOORS = [
  'GET /api/v1',
  'GET /api/v1/stories',
  'GET /api/v1/stories/{id}',
  'GET /api/v1/stories/{id}/proof',
  'GET /api/v1/stories/{id}/preview',
  'POST /api/v1/preview',
  'GET /api/v1/sections',
  'GET /api/v1/tags',
  'GET /api/v1/days',
  'GET /api/v1/days/{day}',
  'GET /api/v1/search',
  'GET /api/v1/front',
  'GET /api/v1/cast',
  'GET /api/v1/posts',
  'GET /api/v1/masthead',
  'GET /embed/{id}',
  'GET /oembed',
  'GET /api/v1/openapi.json',
  'GET /api/v1/agent',
  'GET /api/v1/agent/terms',
  'POST /api/v1/agent/terms/accept',
  'GET /api/v1/config',
  'GET /api/v1/facts',
  'PUT /api/v1/facts/{claim_key}',
  'POST /api/v1/stories',
  'PUT /api/v1/stories/{id}',
  'POST /api/v1/stories/{id}/airing',
  'DELETE /api/v1/stories/{id}/airing',
  'GET /api/v1/drafts',
  'PUT /api/v1/config',
  'PUT /api/v1/front',
  'PUT /api/v1/masthead/{slug}',
  'PUT /api/v1/cast/{day}',
  'POST /api/v1/media',
  'GET /api/v1/media',
  'DELETE /api/v1/media/{path}',
  'GET /api/v1/keys',
  'POST /api/v1/keys',
  'DELETE /api/v1/keys/{id}',
  'GET /api/v1/subscribers',
  'POST /api/v1/subscribers',
  'DELETE /api/v1/subscribers/{email}',
  'GET /api/v1/webhooks',
  'GET /api/v1/deliveries',
];

/** Files of a paper's tree that the guide names, beside its sections. */
const FILES = [
  '/llms.txt',
  '/front.json',
  '/rss.xml',
  '/feed.json',
  '/podcast.xml',
  '/sitemap.xml',
  '/agents/SKILL.md',
  '/stories/{slug}.md',
  '/stories/{slug}/proof.json',
  '/.well-known/newsdesk-keys.json',
  // No file of the tree: the server answers it.
  '/.well-known/api-catalog',
];

const codes = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
const links = (text: string): string[] => [...text.matchAll(/(?<!\\)\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
const fenced = (text: string): unknown[] =>
  [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, json = '']) => JSON.parse(json));

/** A name of letters of any script, or of the signs that mean something in Markdown, YAML and JSON. */
const anyName = (maxLength: number) =>
  fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength }),
    fc.string({ unit: fc.constantFrom(...'a1[]()`<>*_\\!^"\'#:-&;|~'), minLength: 1, maxLength }),
    fc.constantFrom('A](https://b.example/)[', '[A](https://b.example/)', '`A', '&lt;A', '<https://b.example/>', 'A\\'),
  );

/** A paper with whatever names its record may have. */
const anyPaper = fc
  .record({
    slug: fc.stringMatching(/^[a-z0-9]{1,12}(-[a-z0-9]{1,12}){0,4}$/).filter(isPaperSlug),
    nameplate: anyName(80),
    sections: fc.array(anyName(60), { minLength: 1, maxLength: 5 }),
    contact: fc.constantFrom(undefined, 'desk@example.org', "o'desk_a+b@example.org"),
    root: fc.constantFrom('https://a.example', `https://a.example/${'long/'.repeat(300)}paper`),
  })
  .map(({ slug, root, ...more }) => ({ root, paper: { slug, ...PaperBody.safeParse(more).data } as PaperRecord }))
  .filter(({ paper }) => paper.nameplate !== undefined);

describe('the guide for agents', () => {
  test('it names every route as on the wire, and none that does not exist', () => {
    const named = codes(guide)
      .filter((code) => /^(GET|POST|PUT|DELETE) /.test(code))
      .map((code) => code.replace(/\?.*$/, ''));
    assert.deepEqual([...new Set(named)].sort(), [...DOORS].sort());
  });

  test('every file it names is one that a paper has', () => {
    const base = site.base;
    const sections = paper.sections.map((name) => `${base}/sections/${sectionSlug(name)}/`);
    const known = new Set([
      ...FILES.map((file) => base + file),
      ...sections,
      `${base}/api/v1/openapi.json`,
      log,
      `${log}policy`,
    ]);
    for (const link of links(guide)) assert(known.has(link), link);
    for (const code of codes(guide).filter((text) => text.startsWith('/'))) assert(FILES.includes(code), code);
    for (const section of sections) assert(links(guide).includes(section), section);
  });

  test('as a skill its links are absolute', () => {
    const skill = skillText(paper, site);
    assert(links(skill).length > 8);
    const log = logUrl(paper, { root, base: root });
    for (const link of links(skill)) assert(link.startsWith(`${root}/`) || link.startsWith(log), link);
    assert(URL.canParse(log), log);
  });

  test('its example is accepted by the door, and on air, once it names a persona', () => {
    const { air, ...body } = fenced(guide)[0] as { air: unknown };
    assert.equal(air, false);
    const filing = filingFrom(FilingBody.parse(body), { slug: '', kind: 'blog', language: 'en' });
    assert.deepEqual([filing.category, filing.kind], [paper.sections[0], paper.default_kind]);
    const rules = {
      ...paper,
      personas: [filing.persona],
      hasMedia: () => false,
      hasPage: () => false,
      aliasOwner: () => null,
      fact: () => null,
    };
    assert.deepEqual([...filingProblems(filing, rules), ...sourceFloorProblems(filing, rules)], []);
  });

  test('its refusal matches the door’s response to such a piece', () => {
    const [body, refusal] = fenced(guide) as [{ air: unknown }, { problems: unknown[] }];
    const { air: _, ...rest } = body;
    const filing = filingFrom(FilingBody.parse(rest), { slug: '', kind: 'news', language: 'en' });
    filing.prose += '[^3]';
    const problems = filingProblems(filing, {
      ...paper,
      personas: [filing.persona],
      hasMedia: () => false,
      hasPage: () => false,
      aliasOwner: () => null,
      fact: () => null,
    });
    assert.deepEqual(
      problems.map(({ field, rule, message }) => ({ field, rule, message })),
      refusal.problems,
    );
  });

  test('it says what the paper asks: its floor, and whom to ask for a key', () => {
    assert.match(agentsText({ ...paper, source_floor: 4 }, site), /at least 4 distinct publishers/);
    assert.match(guide, /`desk@example\.org`/);
    assert.doesNotMatch(agentsText({ ...paper, contact: undefined }, site), /undefined|\(ask/);
  });

  test('it is short, and of no time', () => {
    const skill = skillText(paper, site);
    assert(skill.length < 10_000, `${skill.length} characters`);
    assert(skill.split('\n').length < 500);
    assert.doesNotMatch(skill, /\d{4}-\d\d-\d\d|\d\d:\d\d/);
  });

  test('printed as a page, its examples are code, and their markers are text', () => {
    const html = plainProseHtml(guide);
    assert.equal(html.match(/<pre tabindex="0"><code>\{/g)?.length, 2);
    assert(html.includes('What the first document says.[^1]\\n\\n'));
    assert.doesNotMatch(html, /#fact-|class="marker"/);
    assert.deepEqual(readPage(`<!doctype html><html lang="en"><title>x</title><main>${html}</main></html>`).errors, []);
  });

  test('for any names of a paper, the links are its own and the example is JSON', () => {
    fc.assert(
      fc.property(anyPaper, ({ root, paper }) => {
        const text = agentsText(paper, { root, base: '' });
        const [body] = fenced(text) as [{ category: string }];
        assert.equal(body.category, paper.sections[0]);
        const page = readPage(`<!doctype html><html lang="en"><title>x</title>${plainProseHtml(text)}</html>`);
        assert.equal(page.links.length, links(guide).length - channel.paper.sections.length + paper.sections.length);
      }),
    );
  });
});

describe('SKILL.md', () => {
  test('its front matter follows the format of skills for any name of the paper', () => {
    fc.assert(
      fc.property(anyPaper, ({ root, paper }) => {
        const match = /^---\n([\s\S]*?)^---\n\n# /m.exec(skillText(paper, { root }));
        assert.equal(match?.index, 0);
        const front = parse(match[1] ?? '') as { name: unknown; description: unknown };
        assert.deepEqual(Object.keys(front), ['name', 'description']);
        assert.equal(front.name, paper.slug, 'a slug of digits, or of "true", is still a text');
        assert.match(String(front.name), /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/);
        assert(typeof front.description === 'string' && front.description.length <= 1024);
        assert(front.description.includes(paper.nameplate));
      }),
    );
  });

  test('its description says what and when; its text is the guide', () => {
    const text = skillText(paper, site);
    const { description } = parse(text.split('---\n')[1] ?? '') as { description: string };
    assert.match(description, /^Finds, reads, searches, cites and verifies .* Use when .*ledger\.example/);
    assert(text.endsWith(agentsText(paper, { root, base: root })));
  });

  test('a paper that is called like another type of YAML keeps its name', () => {
    for (const slug of ['1999', 'true', 'null', '1e3', '0x1f', '2026-11-21', 'no']) {
      const text = skillText({ ...paper, slug }, site);
      assert.equal((parse(text.split('---\n')[1] ?? '') as { name: unknown }).name, slug);
    }
  });
});

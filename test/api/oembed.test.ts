import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { XMLParser } from 'fast-xml-parser';
import { parse } from 'parse5';
import { tempFolder } from '../support/app-context.ts';
import { type Answer, ask } from '../support/http.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, type Keys } from '../support/small-papers.ts';

const OWN = 'http://tides.example';
const STORY = 'high-water';
const DRAFT = 'slack-water';
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

test('oEmbed and the embed card', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [
    { slug: 'shared' },
    { slug: 'own', url: OWN },
    { slug: 'quiet', isPublic: false },
  ]);
  const { url } = await serveHere(t, folder);
  const keyOf = (slug: string, level: keyof Keys) => ({ 'x-nrf-key': keys.get(slug)?.[level] ?? '' });
  const oembed = (query: Record<string, string>, { paper = 'shared', headers = {} } = {}): Promise<Answer> =>
    ask(url, `/${paper}/oembed?${new URLSearchParams(query)}`, headers);
  const page = (slug: string, paper = 'shared') => `${url}/${paper}/stories/${slug}/`;

  const sites: { name: string; prefix: string; root: string; headers: Record<string, string> }[] = [
    { name: 'the shared host', prefix: '/shared', root: `${url}/shared`, headers: {} },
    { name: 'a domain of the paper’s own', prefix: '', root: OWN, headers: { host: 'tides.example' } },
  ];
  for (const site of sites) {
    await t.test(`the links on a story page lead to both forms, on ${site.name}`, async () => {
      const { text } = await ask(url, `${site.prefix}/stories/${STORY}/`, site.headers);
      const links = alternates(text);
      assert.deepEqual([...links.keys()].sort(), ['application/json+oembed', 'text/xml+oembed']);
      const [json, xml] = await Promise.all(
        ['application/json+oembed', 'text/xml+oembed'].map((type) => {
          const link = links.get(type) ?? '';
          assert.ok(link.startsWith(`${site.root}/oembed?`), link);
          return ask(url, link.slice(new URL(link).origin.length), site.headers);
        }),
      );
      assert.ok(json && xml);
      assert.deepEqual([json.status, json.headers['content-type']], [200, 'application/json']);
      assert.deepEqual([xml.status, xml.headers['content-type']], [200, 'text/xml; charset=utf-8']);
      const record = JSON.parse(json.text);
      const { id } = JSON.parse((await ask(url, `${site.prefix}/api/v1/stories/${STORY}`, site.headers)).text);
      const { html, height, thumbnail_url, ...rest } = record;
      assert.deepEqual(rest, {
        type: 'rich',
        version: '1.0',
        title: 'What high water means',
        author_name: 'Vera Holm (AI persona)',
        author_url: `${site.root}/masthead/vera-holm/`,
        provider_name: 'The Tide Table',
        provider_url: `${site.root}/`,
        cache_age: 3600,
        width: 640,
        thumbnail_width: 1200,
        thumbnail_height: 630,
      });
      assert.ok(html.startsWith(`<blockquote><a href="${site.root}/stories/${STORY}/">`), html);
      assert.match(html, new RegExp(`<iframe src="${site.root}/embed/${id}/" [^>]* width="640" height="${height}" `));
      for (const address of [record.author_url, record.provider_url, thumbnail_url, `${site.root}/embed/${id}/`]) {
        const { status } = await ask(url, address.slice(new URL(address).origin.length), site.headers);
        assert.equal(status, 200, address);
      }
      const read = new XMLParser({ parseTagValue: false, ignoreDeclaration: true }).parse(xml.text) as object;
      const texts = Object.entries(record).map(([name, value]) => [name, String(value)]);
      assert.deepEqual(read, { oembed: Object.fromEntries(texts) });
      for (const { headers } of [json, xml]) {
        assert.match(String(headers.etag), /^"\d+-[0-9a-f]{8}"$/);
        assert.match(String(headers['cache-control']), /s-maxage=60/);
        assert.equal(headers['access-control-allow-origin'], '*');
      }
    });
  }

  await t.test('a video edition’s record has its player, and its page leads to both forms', async () => {
    const cast = `${url}/shared/cast/2026-11-19/`;
    const [json, xml] = await Promise.all([oembed({ url: cast }), oembed({ url: cast, format: 'xml' })]);
    assert.deepEqual([json.status, xml.status], [200, 200], json.text);
    const record = JSON.parse(json.text);
    const { html, thumbnail_url, thumbnail_width, thumbnail_height, ...rest } = record;
    assert.deepEqual(rest, {
      type: 'video',
      version: '1.0',
      title: 'The watch in half a minute',
      author_name: 'The Tide Table (AI personas)',
      author_url: `${url}/shared/masthead/`,
      provider_name: 'The Tide Table',
      provider_url: `${url}/shared/`,
      cache_age: 3600,
      width: 640,
      height: 390,
    });
    assert.match(html, new RegExp(`^<blockquote><a href="${cast}">[^<]*</a></blockquote><iframe src="${cast}embed/" `));
    assert.match(html, / width="640" height="390" .* allow="fullscreen; picture-in-picture"><\/iframe>$/);
    assert.equal(thumbnail_url, `${url}/shared/media/cast/2026-11-16.jpg`);
    assert.ok(thumbnail_width > 0 && thumbnail_height > 0);
    const read = new XMLParser({ parseTagValue: false, ignoreDeclaration: true }).parse(xml.text) as object;
    assert.deepEqual(read, {
      oembed: Object.fromEntries(Object.entries(record).map(([name, value]) => [name, String(value)])),
    });
    const { text } = await ask(url, '/shared/cast/2026-11-19/');
    for (const [type, link] of alternates(text)) {
      const { status, text: found } = await ask(url, link.slice(url.length));
      assert.deepEqual([status, found], [200, type.startsWith('text/xml') ? xml.text : json.text]);
    }
    assert.equal(alternates(text).size, 2);
    const player = await ask(url, '/shared/cast/2026-11-19/embed/');
    const script = /<script>([\s\S]*?)<\/script>/.exec(player.text)?.[1] ?? '';
    const hash = createHash('sha256').update(script).digest('base64');
    assert.ok(String(player.headers['content-security-policy']).includes(`script-src 'sha256-${hash}'`));
    const low = JSON.parse((await oembed({ url: cast, maxwidth: '400', maxheight: '200' })).text);
    assert.deepEqual([low.width, low.height, low.thumbnail_url], [302, 200, undefined]);
    const quiet = await oembed(
      { url: `${url}/quiet/cast/2026-11-19/` },
      { paper: 'quiet', headers: keyOf('quiet', 'read') },
    );
    assert.equal(quiet.status, 200);
    for (const none of ['2026-11-18', '2026-13-45'])
      assert.equal((await oembed({ url: `${url}/shared/cast/${none}/` })).status, 404, none);
  });

  await t.test('the card of a piece without a picture shows its section’s shapes, and the headline once', async () => {
    const read = async (slug: string) => (await ask(url, `/shared/embed/${slug}/`)).text;
    const card = await read('a-white-light');
    const [, motif = ''] = /<svg class="picture motif"[^>]*>([\s\S]*?)<\/svg>/.exec(card) ?? [];
    assert.match(motif, /<path class="soft" d="M[^"]+"><\/path>\s*<path class="strong" d="M[^"]+">/);
    assert.doesNotMatch(card, /<img/);
    const body = card.slice(card.indexOf('<body'));
    assert.equal(body.split('What a white light means').length, 2);
    assert.doesNotMatch(await read(STORY), /motif"/, 'a picture of its own stands alone');
  });

  await t.test(
    'an address may be the one on the shared host, the twin’s, with or without a slash, with a query',
    async () => {
      const first = await oembed({ url: page(STORY) });
      for (const end of [`${STORY}`, `${STORY}.md`, `${STORY}/?a=b`, `${STORY}/#sources`])
        assert.equal((await oembed({ url: `${url}/shared/stories/${end}` })).text, first.text, end);
      const paper = 'own';
      const own = await oembed({ url: `${OWN}/stories/${STORY}/` }, { paper });
      assert.equal(own.status, 200);
      assert.equal((await oembed({ url: page(STORY, paper) }, { paper })).text, own.text);
      const again = await oembed({ url: page(STORY) }, { headers: { 'if-none-match': String(first.headers.etag) } });
      assert.deepEqual([again.status, again.text], [304, '']);
      const head = await ask(url, `/shared/oembed?url=${encodeURIComponent(page(STORY))}`, {}, 'HEAD');
      assert.deepEqual([head.status, head.text], [200, '']);
    },
  );

  await t.test('maxwidth and maxheight are respected', async () => {
    const sizes = async (query: Record<string, string>) => {
      const answer = await oembed({ url: page(STORY), ...query });
      assert.equal(answer.status, 200, answer.text);
      return JSON.parse(answer.text) as { width: number; height: number; html: string; thumbnail_url?: string };
    };
    const full = await sizes({});
    for (const maxwidth of ['640', '641', '1920', '0640', '9'.repeat(100)])
      assert.deepEqual((await sizes({ maxwidth })).width, 640, maxwidth);
    const narrow = await sizes({ maxwidth: '220' });
    assert.equal(narrow.width, 220);
    assert.ok(narrow.height < full.height, 'the picture is lower on a narrow card');
    assert.equal(narrow.thumbnail_url, undefined);
    for (const maxheight of ['1', '150', '239', '240', '300', '400', '599', '5000']) {
      const { width, height, html } = await sizes({ maxheight });
      assert.ok(height >= 1 && height <= Number(maxheight) && width >= 220 && width <= 640, `${width}×${height}`);
      assert.match(html, new RegExp(` width="${width}" height="${height}" `));
    }
    assert.deepEqual(await sizes({ maxheight: '5000', dnt: '1' }), full);
  });

  await t.test('malformed parameters are named', async () => {
    const story = encodeURIComponent(page(STORY));
    for (const [query, field] of [
      ['', 'url'],
      [`url=${story}&url=${story}`, 'url'],
      [`url=${story}${'x'.repeat(2_048)}`, 'url'],
      ['url=%FF', 'url'],
      ...['219', '0', '-1', '1.5', '640.0', '1e3', 'wide', '', '0x280', '%D9%A6%D9%A4%D9%A0', '300&maxwidth=300'].map(
        (text) => [`url=${story}&maxwidth=${text}`, 'maxwidth'],
      ),
      ...['0', '-1', '2.5', 'tall', '', '300&maxheight=300'].map((text) => [
        `url=${story}&maxheight=${text}`,
        'maxheight',
      ]),
    ] as [string, string][]) {
      const { status, text } = await ask(url, `/shared/oembed?${query}`);
      assert.deepEqual(
        [status, JSON.parse(text).error, JSON.parse(text).field],
        [400, 'invalid_request', field],
        query,
      );
    }
    for (const format of ['yaml', 'JSON', '', 'xml ']) {
      const { status, text } = await oembed({ url: page(STORY), format });
      assert.deepEqual([status, JSON.parse(text).error], [501, 'not_implemented'], format);
    }
  });

  await t.test('anything but a story of this paper on air is not found', async () => {
    for (const address of [
      'x',
      'javascript:alert(1)',
      `${url}/shared/`,
      `${url}/shared/sections/tides/`,
      `${url}/own/stories/${STORY}/`,
      `${url}/quiet/stories/${STORY}/`,
      `${OWN}/stories/${STORY}/`,
      'https://elsewhere.example/shared/stories/high-water/',
      page('nothing'),
      page(DRAFT),
    ]) {
      for (const headers of [{}, keyOf('shared', 'admin')]) {
        const { status, text } = await oembed({ url: address }, { headers });
        assert.deepEqual([status, JSON.parse(text).error], [404, 'not_found'], address);
      }
    }
    const { id } = JSON.parse((await ask(url, `/shared/api/v1/stories/${STORY}`)).text);
    assert.equal((await oembed({ url: page(id) })).status, 404, 'a page has its slug, not its id');
  });

  await t.test('a card is at its id and its slug, with a slash or without, with the headers of its file', async () => {
    const { id } = JSON.parse((await ask(url, `/shared/api/v1/stories/${STORY}`)).text);
    const file = readFileSync(join(folder, `papers/shared/embed/${STORY}/index.html`), 'utf8');
    const [listed, ...others] = await Promise.all(
      [`${STORY}/`, STORY, `${id}/`, id].map((path) => ask(url, `/shared/embed/${path}`, BROWSER)),
    );
    assert.ok(listed);
    assert.equal(listed.status, 200);
    assert.equal(listed.text, file);
    assert.equal(listed.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(String(listed.headers['content-security-policy']), /script-src 'sha256-[^;]+; .*frame-ancestors \*$/);
    assert.equal(listed.headers['access-control-allow-origin'], '*');
    assert.equal(listed.headers['set-cookie'], undefined);
    for (const { status, text, headers } of others) {
      assert.deepEqual([status, text], [200, file]);
      assert.deepEqual({ ...headers, ...moving }, { ...listed.headers, ...moving });
    }
    for (const path of ['nothing', DRAFT, `${STORY}%2f..`, '%00', 'x'.repeat(5_000)])
      for (const headers of [{}, keyOf('shared', 'read')])
        assert.equal((await ask(url, `/shared/embed/${path}`, headers)).status, 404, path.slice(0, 20));
  });

  await t.test('other methods are refused by name, and preflights answered', async () => {
    for (const path of ['/shared/oembed', `/shared/embed/${STORY}`, `/shared/embed/${STORY}/`]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status, headers } = await ask(url, path, {}, method);
        assert.deepEqual([status, headers.allow], [405, 'GET, HEAD, OPTIONS'], `${method} ${path}`);
      }
      const preflight = await ask(url, path, { origin: 'https://blog.example' }, 'OPTIONS');
      assert.equal(preflight.status, 204);
      assert.equal(preflight.headers['access-control-allow-origin'], '*');
    }
  });

  await t.test('a private paper’s own key reads both; to others it is not there', async () => {
    const query = new URLSearchParams({ url: page(STORY, 'quiet') });
    for (const rest of [`/oembed?${query}`, '/oembed', `/embed/${STORY}`, `/embed/${STORY}/`]) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        for (const accept of ['*/*', BROWSER.accept]) {
          const [hidden, absent] = await Promise.all(
            ['quiet', 'absent'].map((slug) => ask(url, `/${slug}${rest}`, { accept }, method)),
          );
          assert.deepEqual(
            { ...hidden, body: '', headers: { ...hidden?.headers, ...moving } },
            { ...absent, body: '', headers: { ...absent?.headers, ...moving } },
          );
          if (method !== 'OPTIONS') assert.equal(hidden?.status, 404, `${method} ${rest}`);
        }
      }
      assert.equal((await ask(url, `/quiet${rest}`, keyOf('shared', 'admin'))).status, 403);
      assert.equal((await ask(url, `/quiet${rest}`, { 'x-nrf-key': 'nrf_x' })).status, 401);
    }
    const key = keyOf('quiet', 'read');
    const record = await oembed({ url: page(STORY, 'quiet') }, { paper: 'quiet', headers: key });
    assert.deepEqual([record.status, record.headers['cache-control']], [200, 'private, no-store']);
    assert.equal((await oembed({ url: page(DRAFT, 'quiet') }, { paper: 'quiet', headers: key })).status, 404);
    const shown = await ask(url, `/shared/embed/${STORY}`);
    for (const path of [STORY, `${STORY}/`]) {
      const card = await ask(url, `/quiet/embed/${path}`, key);
      assert.deepEqual([card.status, card.headers['cache-control']], [200, 'private, no-store']);
      assert.match(card.text, /What high water means/);
      for (const name of ['content-security-policy', 'content-type', 'access-control-allow-origin'])
        assert.equal(card.headers[name], shown.headers[name], name);
    }
    assert.equal((await ask(url, `/quiet/embed/${DRAFT}`, key)).status, 404);
  });

  await t.test('a withdrawn piece answers 410, its card with a notice', async () => {
    const reason = 'the <table> was last year’s';
    for (const paper of ['shared', 'quiet']) {
      const sent = await send(url, {
        method: 'DELETE',
        path: `/${paper}/api/v1/stories/low-water/airing`,
        headers: keyOf(paper, 'admin'),
        body: { reason },
      });
      assert.equal(sent.status, 200, sent.text);
      const key = keyOf(paper, 'read');
      const gone = await oembed({ url: page('low-water', paper) }, { paper, headers: key });
      const { error, reason: why, withdrawn_at } = JSON.parse(gone.text);
      assert.deepEqual([gone.status, error, why], [410, 'withdrawn', reason]);
      for (const end of ['', '/']) {
        for (const accept of ['*/*', BROWSER.accept]) {
          const card = await ask(url, `/${paper}/embed/low-water${end}`, { ...key, accept });
          assert.equal(card.status, 410);
          assert.match(String(card.headers['content-type']), /^text\/html/);
          assert.match(String(card.headers['content-security-policy']), /frame-ancestors \*/);
          assert.match(card.text, /This piece was withdrawn on <time datetime="2/);
          assert.ok(card.text.includes(withdrawn_at));
          assert.doesNotMatch(card.text, /A dek of one sentence|Vera Holm|Ibo Sand|<img|<svg/);
        }
        for (const accept of ['application/json', 'application/problem+json']) {
          const record = await ask(url, `/${paper}/embed/low-water${end}`, { ...key, accept });
          assert.deepEqual([record.status, JSON.parse(record.text).reason], [410, reason]);
        }
      }
    }
  });

  await t.test('the OpenAPI document describes both routes', async () => {
    const { paths } = JSON.parse((await ask(url, '/shared/api/v1/openapi.json')).text);
    const { get } = paths['/oembed'];
    assert.deepEqual(Object.keys(get.responses['200'].content), ['application/json', 'text/xml']);
    for (const status of ['400', '404', '410', '501']) assert.ok(get.responses[status], status);
    const address = get.parameters.find(({ name }: { name: string }) => name === 'url').schema.example;
    assert.equal((await oembed({ url: address })).status, 200, 'the example answers');
    assert.ok(paths['/embed/{id}'].get.responses['200'].content['text/html']);
  });
});

/** Headers that differ from answer to answer. */
const moving = { 'x-request-id': '', date: '', etag: '', 'last-modified': '' };

/** The oEmbed links in a page's head: their addresses, by type. */
function alternates(html: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (node: { childNodes?: unknown[]; nodeName?: string; attrs?: { name: string; value: string }[] }) => {
    const attrs = Object.fromEntries((node.attrs ?? []).map(({ name, value }) => [name, value]));
    if (node.nodeName === 'link' && attrs.rel === 'alternate' && attrs.type?.endsWith('+oembed'))
      found.set(attrs.type, attrs.href ?? '');
    for (const child of node.childNodes ?? []) walk(child as object);
  };
  walk(parse(html) as object);
  return found;
}

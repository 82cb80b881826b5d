import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cacheControl, contentType, headersFile, securityHeaders } from '../../../src/desk/press/feeds/headers.ts';

const CONTEXT = { root: 'https://ledger.example/harbor-ledger', embed_scripts: ['sha256-AAAA=', 'sha256-BBBB='] };
const BASE = '/harbor-ledger';

/** One address of each kind that a paper's tree has. */
const PATHS = [
  '/',
  '/index.html',
  '/front.json',
  '/rss.xml',
  '/feed.json',
  '/podcast.xml',
  '/sitemap.xml',
  '/sitemaps/2026-11.xml',
  '/sitemap-news.xml',
  '/llms.txt',
  '/robots.txt',
  '/404.html',
  '/.well-known/newsdesk-keys.json',
  '/.well-known/security.txt',
  '/stories/the-tide-turned/',
  '/stories/the-tide-turned.md',
  '/stories/the-tide-turned/proof.json',
  '/sections/city/',
  '/sections/city/3/',
  '/sections/city/rss.xml',
  '/days/',
  '/days/2026-11-20/',
  '/masthead/',
  '/masthead/mara-vell/',
  '/cast/',
  '/cast/2026-11-20/',
  '/cast/2026-11-20/embed/',
  '/search/',
  '/subscribe/',
  '/subscribe/sample/',
  '/corrections/',
  '/corrections/rss.xml',
  '/standards/',
  '/agents/',
  '/agents/SKILL.md',
  '/embed/01jd/',
  '/embed/the-tide-turned/',
  '/cards/01jd-0011223344556677.png',
  '/_astro/page.abcd.css',
  '/media/art/metre.svg',
  '/hue.css',
  '/alphabets.css',
  '/fonts.css',
  '/fonts/amiri-arabic-400-normal.woff2',
  '/favicon.svg',
  '/cards/cover-0011223344556677.png',
];

type Rules = [string, [string, string][]][];

/** Reads a `_headers` file; throws at a line that a host would refuse. */
function parse(file: string): Rules {
  const rules: Rules = [];
  for (const line of file.split('\n')) {
    if (line === '') continue;
    const header = /^ {2}([A-Za-z-]+): (\S.*)$/.exec(line);
    if (header !== null) rules.at(-1)?.[1].push([header[1] ?? '', header[2] ?? '']);
    else {
      assert.match(line, /^\/[^\s*]*\*?$/, 'a path with a star at its end at most');
      rules.push([line, []]);
    }
    assert.ok(line.length <= 2_000, 'Cloudflare reads lines of 2,000 characters');
  }
  assert.ok(rules.length <= 100, 'Cloudflare reads 100 rules');
  return rules;
}

const literal = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');

/** Cloudflare Pages: the path as it is, a star is anything, a placeholder anything but a slash. */
function cloudflare(pattern: string): RegExp {
  return new RegExp(
    `^${literal(pattern)
      .replaceAll('*', '.*')
      .replace(/:[A-Za-z]\w*/g, '[^/]+')}$`,
  );
}

/** Netlify: segment by segment, a closing slash does not count, a star takes the rest or nothing. */
function netlify(pattern: string): RegExp {
  const parts = pattern.split('/').filter(Boolean);
  const source = parts.map((part) =>
    part === '*' ? '(?:/.*)?' : part.startsWith(':') ? '/[^/]+' : `/${literal(part)}`,
  );
  return new RegExp(`^${source.join('')}/?$`);
}

/** The headers of a path as a host sends them: values of the same name are joined. */
function sent(rules: Rules, path: string, host: (pattern: string) => RegExp): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [pattern, lines] of rules) {
    if (!host(pattern).test(path)) continue;
    for (const [name, value] of lines)
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

function ours(path: string): Record<string, string> {
  const type = contentType(path);
  return {
    ...securityHeaders(path, CONTEXT),
    'Cache-Control': cacheControl(path),
    ...(type === null ? {} : { 'Content-Type': type }),
  };
}

describe('_headers', () => {
  const rules = parse(headersFile(CONTEXT));
  for (const [name, host] of Object.entries({ cloudflare, netlify })) {
    it(`gives on ${name} what our own server sends, for every kind of file`, () => {
      for (const path of PATHS) assert.deepEqual(sent(rules, `${BASE}${path}`, host), ours(path), path);
    });
  }

  it('has no path of the root when the paper is at the root of its domain', () => {
    const [first, second] = parse(headersFile({ ...CONTEXT, root: 'https://own.example' }));
    assert.deepEqual([first?.[0], second?.[0]], ['/*', '/']);
  });
});

describe('the policy', () => {
  const csp = (path: string) => securityHeaders(path, CONTEXT)['Content-Security-Policy'] ?? '';

  it('lets pages frame the cards and the sample of a mail, and nothing else', () => {
    const framed = PATHS.filter((path) => /frame-ancestors \*/.test(csp(path)));
    assert.deepEqual(framed, [
      '/cast/2026-11-20/embed/',
      '/subscribe/sample/',
      '/embed/01jd/',
      '/embed/the-tide-turned/',
    ]);
    for (const path of PATHS.filter((other) => !framed.includes(other)))
      assert.match(csp(path), /frame-ancestors 'none'/);
    assert.match(csp('/no/such/path'), /frame-ancestors 'none'/);
    assert.match(csp('/cast/2026-11-20/embed/more/'), /frame-ancestors 'none'/);
  });

  it('allows inline scripts by hash only, and no others in cards', () => {
    assert.match(csp('/embed/01jd/'), /script-src 'sha256-AAAA=' 'sha256-BBBB=';/);
    const bare = securityHeaders('/embed/01jd/', { ...CONTEXT, embed_scripts: [] })['Content-Security-Policy'];
    assert.match(bare ?? '', /script-src 'none';/);
    for (const path of PATHS) assert.doesNotMatch(csp(path), /script-src[^;]*'unsafe-/);
  });

  it('opens an SVG in a sandbox', () => {
    assert.match(csp('/media/art/metre.svg'), /; sandbox;/);
    assert.doesNotMatch(csp('/media/art/metre.svg'), /allow-|script-src/);
    for (const spelled of ['/medi%61/art/metre.svg', '//media/art/metre.svg', '/media%2Fart/metre.svg']) {
      assert.equal(csp(spelled), csp('/media/art/metre.svg'), spelled);
    }
    assert.match(csp('/%E0%A4%A'), /frame-ancestors 'none'/);
  });

  it('marks only content-addressed files as immutable', () => {
    const kept = PATHS.filter((path) => /immutable/.test(cacheControl(path)));
    assert.deepEqual(kept, [
      '/cards/01jd-0011223344556677.png',
      '/_astro/page.abcd.css',
      '/cards/cover-0011223344556677.png',
    ]);
  });

  it('opens feeds, twins, proofs, keys, cards and pictures to pages of other origins', () => {
    const open = (path: string) => securityHeaders(path, CONTEXT)['Access-Control-Allow-Origin'] === '*';
    for (const path of [
      '/rss.xml',
      '/feed.json',
      '/front.json',
      '/sections/city/rss.xml',
      '/stories/a.md',
      '/stories/a/proof.json',
      '/.well-known/newsdesk-keys.json',
      '/embed/a/',
    ]) {
      assert.ok(open(path), path);
    }
    for (const path of ['/', '/search/', '/subscribe/', '/api/v1/keys']) assert.ok(!open(path), path);
    for (const path of ['/cards/a.png', '/media/portraits/a.svg', '/portraits/a.png']) {
      assert.equal(securityHeaders(path, CONTEXT)['Cross-Origin-Resource-Policy'], 'cross-origin');
    }
  });

  it('is strict about transport only where it is secure', () => {
    assert.ok('Strict-Transport-Security' in securityHeaders('/', CONTEXT));
    assert.ok(!('Strict-Transport-Security' in securityHeaders('/', { ...CONTEXT, root: 'http://localhost:4321/a' })));
  });
});

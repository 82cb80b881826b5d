import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ONLY_WIDE } from '../support/wide.ts';
import { assertWellFormed } from '../support/xml.ts';
import { pressDemo } from './demo.ts';
import { readPage } from './links.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

/** The trees must hold wherever a paper lives. */
const PLACES = [
  { name: 'under the shared host', origin: 'http://stand.example', url: null },
  { name: 'at the root of a domain', origin: 'http://stand.example', url: 'https://plumb.example' },
  { name: 'under a path of a domain', origin: 'http://stand.example', url: 'https://press.example/papers/plumb' },
];

/** Doors of the live server, which no tree holds: under a paper's root. */
const LIVE = [/^\/api\/v1(\/|$)/, /^\/mcp$/, /^\/oembed(\?|$)/, /^\/log\//];

for (const [n, { name, origin, url }] of PLACES.entries()) {
  describe(`the demo papers, ${name}`, { skip: n > 0 && ONLY_WIDE }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'broadsheet-site-'));
    after(() => rmSync(folder, { recursive: true, force: true }));
    let papers: Awaited<ReturnType<typeof pressDemo>>;
    before(async () => {
      papers = await pressDemo(folder, origin, url);
    });

    test('every address that a file names leads to a file, and every fragment to an id', () => {
      const faults: string[] = [];
      const ids = new Map<string, Set<string>>();
      for (const { root, files } of papers) {
        for (const [path, text] of files)
          if (path.endsWith('.html')) ids.set(`${root}/${path}`, new Set(readPage(text).ids));
      }
      for (const { root, files } of papers) {
        for (const [path, text] of files) {
          for (const link of linksOf(path, text)) {
            const fault = faultOf(new URL(link, `${root}/${path}`), ids);
            if (fault !== null) faults.push(`${path}: ${link}: ${fault}`);
          }
        }
      }
      assert.deepEqual(faults, []);
    });

    test('a page says how large the picture of its preview is', () => {
      let cards = 0;
      for (const { files } of papers) {
        for (const [path, text] of files) {
          if (!/^(?:stories|cast)\/[^/]+\/index\.html$/.test(path)) continue;
          const said = new Map(
            [...text.matchAll(/<meta property="(og:image[^"]*)" content="([^"]*)"/g)].map(([, n, v]) => [n, v]),
          );
          if (said.size === 0) continue;
          const size = [said.get('og:image:width'), said.get('og:image:height')];
          if (said.get('og:image')?.includes('/cards/'))
            assert.deepEqual([size.join('×'), ++cards > 0], ['1200×630', true]);
          else
            assert.ok(
              size.every((pixels) => Number(pixels) > 0),
              `${path}: ${size}`,
            );
          assert.notEqual(said.get('og:image:alt') ?? '', '', path);
        }
      }
      assert.ok(cards > 0);
    });

    test('no file contains a local path or an unset value', () => {
      for (const { files } of papers) {
        for (const [path, text] of files) {
          if (!isText(path)) continue;
          for (const word of [
            folder,
            PROJECT,
            homedir().length > 5 ? homedir() : PROJECT,
            '[object Object]',
            'broadsheet.invalid',
            '127.0.0.1:4321',
            // A library's script may know the name; nothing of ours says it.
            ...(path.startsWith('_astro/') ? ['//localhost'] : ['localhost']),
          ]) {
            assert.ok(!text.includes(word), `${path} holds ${word}`);
          }
          // Scripts may speak of undefined; words may too, once somebody writes of it.
          if (!path.startsWith('_astro/'))
            assert.doesNotMatch(
              text.replace(/<script>[\s\S]*?<\/script>/g, ''),
              /\b(undefined|NaN|Invalid Date)\b/,
              path,
            );
        }
      }
    });

    test('every page is well formed', () => {
      for (const { root, files } of papers) {
        for (const [path, text] of files) {
          if (!path.endsWith('.html')) continue;
          const page = readPage(text);
          assert.deepEqual(page.errors, [], path);
          assert.equal(new Set(page.ids).size, page.ids.length, `${path} names an id twice`);
          assert.ok(page.title, `${path} has a title`);
          assert.ok(page.language, `${path} has a language`);
          for (const data of page.data) assert.equal(JSON.parse(data)['@context'], 'https://schema.org', path);
          const isEmbed = path.startsWith('embed/') || path.endsWith('/embed/index.html');
          if (!isEmbed) assert.equal(page.h1, 1, `${path} has one h1`);
          // The sample of a mail is in a frame of the subscribe page.
          const isPage = !isEmbed && path !== '404.html' && path !== 'subscribe/sample/index.html';
          if (isPage) assert.equal(page.canonical, `${root}/${path.replace(/index\.html$/, '')}`, path);
        }
      }
    });

    test('every document of machines is well formed', () => {
      for (const { files } of papers) {
        for (const [path, text] of files) {
          if (path.endsWith('.xml')) assertWellFormed(text);
          if (path.endsWith('.json')) assert.equal(typeof JSON.parse(text), 'object', path);
        }
      }
    });

    test('an enclosure is as long as its file', () => {
      let enclosures = 0;
      for (const { slug, root, files } of papers) {
        for (const [path, text] of files) {
          if (!path.endsWith('rss.xml') && path !== 'podcast.xml') continue;
          for (const [, address = '', length] of text.matchAll(
            /<enclosure url="([^"]+)" (?:type="[^"]+" )?length="(\d*)"/g,
          )) {
            const file = join(folder, 'papers', slug, decodeURIComponent(address.slice(root.length + 1)));
            assert.equal(Number(length), statSync(file).size, `${path}: ${address}`);
            enclosures++;
          }
          assert.equal(
            text.match(/<enclosure /g)?.length ?? 0,
            text.match(/<enclosure [^>]*length="[1-9]/g)?.length ?? 0,
          );
        }
      }
      assert.ok(enclosures > 0);
    });

    function faultOf(link: URL, ids: Map<string, Set<string>>): string | null {
      if (link.protocol === 'mailto:' || link.protocol === 'data:') return null;
      const own = papers.filter(({ root }) => link.href === root || link.href.startsWith(`${root}/`));
      const paper = own.sort((a, b) => b.root.length - a.root.length)[0];
      const hosts = papers.map(({ root }) => new URL(root).host);
      if (paper === undefined)
        return hosts.includes(link.host) && link.href !== `${origin}/` && !link.href.startsWith(`${origin}/log/`)
          ? 'is outside of every paper'
          : null;
      const rest = link.href.slice(paper.root.length);
      if (LIVE.some((door) => door.test(rest))) return null;
      const path = decodeURIComponent(link.pathname.slice(new URL(paper.root).pathname.replace(/\/$/, '').length + 1));
      const file = path === '' || path.endsWith('/') ? `${path}index.html` : path;
      if (!paper.files.has(file)) return 'leads nowhere';
      const fragment = decodeURIComponent(link.hash.slice(1));
      if (
        fragment !== '' &&
        fragment !== ':~:text' &&
        file.endsWith('.html') &&
        !ids.get(`${paper.root}/${file}`)?.has(fragment)
      )
        return 'names no id';
      return null;
    }
  });
}

function isText(path: string): boolean {
  return !/\.(png|jpe?g|webp|mp4|woff2?)$/.test(path);
}

/** Every address that a file names. */
function linksOf(path: string, text: string): string[] {
  if (path.endsWith('.html')) {
    const page = readPage(text);
    return [...page.links, ...page.data.flatMap(absolute).map(withoutFragment)];
  }
  if (path.endsWith('.css')) return [...text.matchAll(/url\(["']?([^"')]+)["']?\)/g)].map(([, link = '']) => link);
  if (/\.(xml|json|md|txt)$/.test(path)) return absolute(text);
  return [];
}

/** In JSON-LD a fragment names a thing, not a place in a page. */
function withoutFragment(link: string): string {
  return link.replace(/#.*$/, '');
}

/** Absolute addresses in a text of any kind. */
function absolute(text: string): string[] {
  const plain = text
    .replace(/\\\//g, '/')
    .replace(/&(?:amp|#38|#x26);/g, '&')
    .replace(/&(?:lt|gt|quot|apos|#\w+);/g, ' ');
  return [...plain.matchAll(/https?:\/\/[^\s"'<>()[\]{}|\\^`]+/g)].map(([link]) => link.replace(/[.,;:!?]+$/, ''));
}

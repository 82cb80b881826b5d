import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  NEWS_MAX,
  newsLanguage,
  newsSitemap,
  SITEMAP_URLS_MAX,
  sitemapIndex,
  sitemapShard,
} from '../../../src/desk/press/feeds/sitemap.ts';
import * as fc from '../../support/properties.ts';
import { anyText, asXmlReads } from './any-text.ts';
import { channel, hardItems, item, realItems } from './fixtures.ts';
import { all, asNode, one, readXml, text, xmllint } from './read-xml.ts';

const file = (name: string) => ({
  fileName: name,
  contents: readFileSync(new URL(`schemas/${name}`, import.meta.url), 'utf8'),
});
const validate = (xml: string) => xmllint(xml, file('sitemap.xsd'), [file('news.xsd')]);

const ROOT = channel.root;

describe('a sitemap index', () => {
  it('is valid and names every sitemap', async () => {
    const xml = sitemapIndex(ROOT, ['sitemaps/pages.xml', 'sitemap-news.xml?a&b']);
    assert.deepEqual(await validate(xml), []);
    const rows = all(one(readXml(xml), 'sitemapindex'), 'sitemap').map(asNode);
    assert.deepEqual(
      rows.map((row) => text(row, 'loc')),
      [`${ROOT}/sitemaps/pages.xml`, `${ROOT}/sitemap-news.xml?a&b`],
    );
  });
});

describe('a sitemap', () => {
  it('is valid and gives each address with the time of its last change', async () => {
    const xml = sitemapShard(ROOT, [
      { path: '' },
      { path: 'stories/a/', updated_at: Date.UTC(2026, 10, 21, 1, 2, 3, 4) },
    ]);
    assert.deepEqual(await validate(xml), []);
    const rows = all(one(readXml(xml), 'urlset'), 'url').map(asNode);
    assert.deepEqual(
      rows.map((row) => [text(row, 'loc'), text(row, 'lastmod')]),
      [
        [`${ROOT}/`, null],
        [`${ROOT}/stories/a/`, '2026-11-21T01:02:03.004Z'],
      ],
    );
  });

  it('refuses more addresses than one may hold', () => {
    const urls = Array.from({ length: SITEMAP_URLS_MAX + 1 }, () => ({ path: '' }));
    assert.throws(() => sitemapShard(ROOT, urls), /50000 addresses at most, not 50001/);
    assert.equal(sitemapShard(ROOT, urls.slice(1)).match(/<url>/g)?.length, SITEMAP_URLS_MAX);
  });
});

describe('a news sitemap', () => {
  it('is valid for hard and real pieces', async (t) => {
    for (const items of [hardItems(), realItems(t)]) {
      assert.deepEqual(await validate(newsSitemap(channel, items)), []);
    }
  });

  it('says the name of the paper, the language, the time and the title', () => {
    const rows = all(
      one(readXml(newsSitemap(channel, [item({ language: 'pt-BR', headline: 'A & <b>' })])), 'urlset'),
      'url',
    );
    const [row = {}] = rows.map(asNode);
    const news = one(row, 'news:news');
    assert.equal(text(row, 'loc'), `${ROOT}/stories/the-tide-turned/`);
    assert.equal(text(one(news, 'news:publication'), 'news:name'), 'The Harbor Ledger & Sons');
    assert.equal(text(one(news, 'news:publication'), 'news:language'), 'pt');
    assert.equal(text(news, 'news:publication_date'), '2026-11-20T07:06:00.000Z');
    assert.equal(text(news, 'news:title'), 'A & <b>');
  });

  it('is an empty list when nothing is new, and never more than a thousand', () => {
    assert.equal(all(one(readXml(newsSitemap(channel, [])), 'urlset'), 'url').length, 0);
    const rows = Array.from({ length: NEWS_MAX + 5 }, () => item());
    assert.equal(newsSitemap(channel, rows).match(/<url>/g)?.length, NEWS_MAX);
  });

  it('names Chinese by its script', () => {
    const names = ['en', 'en-GB', 'ja', 'zh', 'zh-Hans-SG', 'zh-TW', 'zh-Hant', 'zh-HK', 'ast'].map(newsLanguage);
    assert.deepEqual(names, ['en', 'en', 'ja', 'zh-cn', 'zh-cn', 'zh-tw', 'zh-tw', 'zh-tw', 'ast']);
  });

  it('any headline round-trips', () => {
    fc.assert(
      fc.property(anyText, (headline) => {
        const [row = {}] = all(one(readXml(newsSitemap(channel, [item({ headline })])), 'urlset'), 'url').map(asNode);
        assert.equal(text(one(row, 'news:news'), 'news:title'), asXmlReads(headline));
      }),
    );
  });
});

describe('the schemas', () => {
  const good = newsSitemap(channel, [item()]);
  const broken: Record<string, [string | RegExp, string]> = {
    'a relative address': [/<loc>[^<]*/, '<loc>/stories/a/'],
    'a time that is none': [/_date>[^<]*/, '_date>Fri, 20 Nov 2026'],
    'a language with a region': ['>en<', '>en-GB<'],
    'an unknown element': ['</news:news>', '</news:news><priority>1</priority>'],
  };
  for (const [name, [from, to]] of Object.entries(broken)) {
    it(`refuse ${name}`, async () => {
      const bad = good.replace(from, to);
      assert.notEqual(bad, good);
      assert.notDeepEqual(await validate(bad), []);
    });
  }
});

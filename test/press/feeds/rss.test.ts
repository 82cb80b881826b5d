import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Parser from 'rss-parser';
import { authorName } from '../../../src/desk/press/feeds/channel.ts';
import { feedHtml } from '../../../src/desk/press/feeds/feed-html.ts';
import { correctionsRss, rss } from '../../../src/desk/press/feeds/rss.ts';
import * as fc from '../../support/properties.ts';
import { anyText, asXmlReads, unescapeHtml } from './any-text.ts';
import { channel, hardItems, item, realItems } from './fixtures.ts';
import { all, asNode, type Node, one, readXml, text, xmllint } from './read-xml.ts';
import { rssFaults } from './rss-rules.ts';

const OPTIONS = { path: 'rss.xml' };
const SELF = `${channel.root}/rss.xml`;

const itemsOf = (xml: string): Node[] => all(one(one(readXml(xml), 'rss'), 'channel'), 'item').map(asNode);

describe('rss', () => {
  it('keeps the rules of the W3C feed validator, for hard pieces and for none', async () => {
    for (const items of [hardItems(), [], [item()]]) {
      const xml = rss(channel, items, OPTIONS);
      assert.deepEqual(rssFaults(xml, SELF), []);
      assert.deepEqual(await xmllint(xml), []);
    }
  });

  it('keeps them for real pieces', (t) => {
    const items = realItems(t);
    const xml = rss(channel, items, OPTIONS);
    assert.deepEqual(rssFaults(xml, SELF), []);
    assert.deepEqual(
      itemsOf(xml).map((node) => text(node, 'title')),
      items.map(({ headline }) => headline),
    );
  });

  it('keeps them for corrections of any words, withheld headlines and none', async () => {
    const piece = { headline: 'A <b>ship</b> & ]]> \u0000 \ud800', url: `${channel.root}/stories/ship/` };
    const rows = (['correction', 'corrected', 'withdrawal', 'retracted'] as const).map((kind, at) => ({
      ...{ kind, note: at === 1 ? '' : 'It was <noon> & not\u0000 later.', piece: at === 2 ? null : piece },
      at: `2026-11-2${9 - at}T08:00:00.000Z`,
    }));
    for (const some of [rows, []]) {
      const xml = correctionsRss(channel, some, 'corrections/rss.xml');
      assert.deepEqual(rssFaults(xml, `${channel.root}/corrections/rss.xml`), []);
      assert.deepEqual(await xmllint(xml), []);
      assert.equal(itemsOf(xml).length, some.length);
    }
  });

  it('says what it says to a reader that knows nothing of us', async () => {
    const feed = await new Parser({ customFields: { item: ['dc:language', 'content:encoded'] } }).parseString(
      rss(channel, hardItems(), OPTIONS),
    );
    assert.equal(feed.title, 'The Harbor Ledger & Sons');
    assert.equal(feed.feedUrl, SELF);
    const [first, second, third, fourth] = feed.items;
    assert.equal(first?.creator, 'Mara Vell, AI persona');
    assert.equal(first?.isoDate, '2026-11-20T07:06:00.000Z');
    assert.equal(first?.link, `${channel.root}/stories/the-tide-turned/`);
    assert.deepEqual(first?.categories, ['City']);
    assert.equal(first?.enclosure, undefined);
    assert.match(first?.['content:encoded'] ?? '', /Mara Vell, AI persona, Tides Desk/);
    assert.equal(first?.['dc:language'], undefined);
    assert.equal(second?.summary ?? null, null);
    assert.equal(third?.title, 'Using <canvas> & "AT&amp;T" ]]> twice ]]>');
    assert.equal(fourth?.['dc:language'], 'ar');
  });

  it('gives an enclosure its length, and a picture of unknown length as media', async () => {
    const art = `${channel.root}/media/a.jpg`;
    const own = item({ id: '2', image_url: art, image_type: 'image/jpeg', image_bytes: 1234 });
    const xml = rss(channel, [item(), own], OPTIONS);
    assert.deepEqual(rssFaults(xml, SELF), []);
    assert.deepEqual(await xmllint(xml), []);
    const [card = {}, photo = {}] = itemsOf(xml);
    assert.deepEqual(all(card, 'enclosure'), []);
    assert.deepEqual(one(card, 'media:content'), {
      '@url': item().image_url,
      '@type': 'image/png',
      '@medium': 'image',
      '@width': '1200',
      '@height': '630',
    });
    assert.deepEqual(one(photo, 'enclosure'), { '@url': art, '@type': 'image/jpeg', '@length': '1234' });
    assert.deepEqual(all(photo, 'media:content'), []);
  });

  it('is the feed of a section when one is named', () => {
    const path = 'sections/tides-ships/rss.xml';
    const xml = rss(channel, [item()], {
      path,
      list: { name: 'Tides & Ships', path: 'sections/tides-ships/' },
    });
    assert.deepEqual(rssFaults(xml, `${channel.root}/${path}`), []);
    const head = one(one(readXml(xml), 'rss'), 'channel');
    assert.equal(text(head, 'title'), 'The Harbor Ledger & Sons: Tides & Ships');
    assert.equal(text(head, 'link'), `${channel.root}/sections/tides-ships/`);
  });

  it('dates itself by the newest change among its items, never by the clock', (t) => {
    const head = (xml: string) => one(one(readXml(xml), 'rss'), 'channel');
    const items = [item({ updated_at: 5_000 }), item({ id: '2', updated_at: 9_000 }), item({ id: '3', updated_at: 1 })];
    const xml = rss(channel, items, OPTIONS);
    assert.equal(text(head(xml), 'lastBuildDate'), 'Thu, 01 Jan 1970 00:00:09 GMT');
    assert.equal(text(head(rss(channel, [], OPTIONS)), 'lastBuildDate'), null);
    t.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2031, 0, 1) });
    assert.equal(rss(channel, items, OPTIONS), xml);
  });

  it('knows a piece by the same guid when it is revised and when the paper moves', () => {
    const guid = (xml: string) => text(itemsOf(xml)[0] ?? {}, 'guid');
    const here = guid(rss(channel, [item()], OPTIONS));
    const there = guid(
      rss({ ...channel, root: 'https://own.example' }, [item({ revision: 4, headline: 'New', slug: 'new' })], OPTIONS),
    );
    assert.match(here ?? '', /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(there, here);
    assert.notEqual(guid(rss(channel, [item({ id: 'other' })], OPTIONS)), here);
  });

  it('any text round-trips', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, anyText, (headline, dek, prose, statement) => {
        const one_ = item({
          headline,
          dek,
          prose,
          category: headline,
          byline: { name: dek, title: statement },
          credit: statement,
          cited_facts: [{ n: 1, statement, source: dek, instrument: headline, claim_key: null }],
        });
        const named = { ...channel, paper: { ...channel.paper, nameplate: headline } };
        const xml = rss(named, [one_], OPTIONS);
        assert.deepEqual(
          rssFaults(xml, SELF).filter((fault) => !/has no (title|description)/.test(fault)),
          [],
        );
        const [node = {}] = itemsOf(xml);
        assert.equal(text(node, 'title'), asXmlReads(headline));
        assert.equal(unescapeHtml(text(node, 'description') ?? ''), asXmlReads(dek));
        assert.equal(text(node, 'content:encoded'), asXmlReads(feedHtml(named, one_)));
        assert.equal(text(node, 'category'), asXmlReads(headline));
        assert.equal(text(node, 'dc:creator'), asXmlReads(authorName(`${dek}, AI persona`)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('the rules for RSS', () => {
  const good = rss(channel, [item({ image_bytes: 12 })], OPTIONS);
  const broken: Record<string, [string | RegExp, string]> = {
    'a date by the wrong weekday': ['Fri, 20 Nov', 'Thu, 20 Nov'],
    'no self link': [/<atom:link[^>]*>/, ''],
    'a relative link': ['<link>https://ledger.example/harbor-ledger/stories', '<link>/stories'],
    'a relative address in the text': [/href="https:[^"]*standards/, 'href="/standards'],
    'no guid': [/<guid[^>]*>[^<]*/, '<guid>'],
    'an enclosure without a length': [/length="\d+"/, 'length=""'],
    'an enclosure of no bytes': [/length="\d+"/, 'length="0"'],
    'an unbound prefix': ['xmlns:dc', 'xmlns:cd'],
    'a forbidden character': ['The tide', 'The \u0001 tide'],
    'an element that is not closed': ['</ol>', ''],
  };
  for (const [name, [from, to]] of Object.entries(broken)) {
    it(`see ${name}`, () => {
      const bad = good.replace(from, to);
      assert.notEqual(bad, good);
      assert.notDeepEqual(rssFaults(bad, SELF), []);
    });
  }
});

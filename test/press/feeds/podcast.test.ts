import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Parser from 'rss-parser';
import { podcast, podcastGuid } from '../../../src/desk/press/feeds/podcast.ts';
import * as fc from '../../support/properties.ts';
import { anyText, asXmlReads } from './any-text.ts';
import { cast, channel } from './fixtures.ts';
import { pspFaults } from './psp-1.ts';
import { all, asNode, one, readXml, text, xmllint } from './read-xml.ts';

const OPTIONS = { cover_url: 'https://ledger.example/harbor-ledger/media/cover.png', identity: 'kid-of-the-first-key' };
const SELF = `${channel.root}/podcast.xml`;
const CASTS = [
  cast(),
  cast({
    day: '2026-11-19',
    poster: 'media/cast/a b.svg',
    captions: null,
    video: 'media/cast/a&b.webm',
    media_type: 'video/webm',
  }),
];

const head = (xml: string) => one(one(readXml(xml), 'rss'), 'channel');

describe('podcast', () => {
  it('keeps PSP-1, with and without captions, a contact and episodes', async () => {
    const { contact: _, ...paper } = channel.paper;
    for (const [where, casts] of [
      [channel, CASTS],
      [{ ...channel, paper }, []],
    ] as const) {
      const xml = podcast(where, casts, OPTIONS);
      assert.deepEqual(pspFaults(xml, SELF), []);
      assert.deepEqual(await xmllint(xml), []);
    }
  });

  it('takes its guid from its address as the podcast namespace says', () => {
    // The example that the definition of podcast:guid itself gives.
    assert.equal(podcastGuid('https://mp3s.nashownotes.com/pc20rss.xml'), '917393e3-1b1e-5cef-ace4-edaa54e1f810');
    assert.equal(podcastGuid('http://mp3s.nashownotes.com/pc20rss.xml//'), '917393e3-1b1e-5cef-ace4-edaa54e1f810');
    assert.equal(text(head(podcast(channel, CASTS, OPTIONS)), 'podcast:guid'), podcastGuid(SELF));
  });

  it('says what it says to a reader that knows nothing of us', async () => {
    const feed = await new Parser().parseString(podcast(channel, CASTS, OPTIONS));
    assert.equal(feed.title, 'The Harbor Ledger & Sons');
    assert.match(feed.description ?? '', /declared AI persona/);
    assert.equal(feed.itunes?.image, OPTIONS.cover_url);
    const [first, second] = feed.items;
    assert.equal(first?.title, 'The day in "tides" & ships');
    assert.deepEqual(
      { ...first?.enclosure },
      {
        url: `${channel.root}/media/cast/2026-11-20.mp4`,
        length: '1234567',
        type: 'video/mp4',
      },
    );
    assert.equal(first?.isoDate, '2026-11-20T00:00:00.000Z');
    assert.equal(first?.itunes.duration, '83');
    assert.equal(first?.itunes.image, `${channel.root}/media/cast/2026-11-20.jpg`);
    assert.match(first?.content ?? '', /^What the sea did\. .*declared AI persona/);
    assert.equal(second?.enclosure?.url, `${channel.root}/media/cast/a%26b.webm`);
    assert.equal(second?.itunes.image, OPTIONS.cover_url, 'a poster that Apple does not take gives way to the cover');
  });

  it('points at the captions where there are any', () => {
    const [first = {}, second = {}] = all(head(podcast(channel, CASTS, OPTIONS)), 'item').map(asNode);
    assert.deepEqual(one(first, 'podcast:transcript'), {
      '@url': `${channel.root}/media/cast/2026-11-20.vtt`,
      '@type': 'text/vtt',
      '@language': 'en',
      '@rel': 'captions',
    });
    assert.equal(all(second, 'podcast:transcript').length, 0);
  });

  it('knows an episode by the same guid when the paper moves, and no other paper’s by it', () => {
    const guid = (where: typeof channel, options = OPTIONS) =>
      text(asNode(all(head(podcast(where, [cast()], options)), 'item')[0] ?? {}), 'guid');
    assert.equal(guid({ ...channel, root: 'https://own.example' }), guid(channel));
    assert.notEqual(guid(channel, { ...OPTIONS, identity: 'another' }), guid(channel));
    assert.notEqual(guid({ ...channel, paper: { ...channel.paper, slug: 'other' } }), guid(channel));
  });

  it('any text round-trips', () => {
    fc.assert(
      fc.property(anyText, anyText, (title, description) => {
        const [episode = {}] = all(head(podcast(channel, [cast({ title, description })], OPTIONS)), 'item').map(asNode);
        assert.equal(text(episode, 'title'), asXmlReads(title));
        // Outer blanks do not count, and what may not stand in XML may have hidden some.
        assert.ok(text(episode, 'description')?.trimStart().startsWith(asXmlReads(description).trim()));
      }),
    );
  });
});

describe('the rules for podcasts', () => {
  const good = podcast(channel, CASTS, OPTIONS);
  const broken: Record<string, [string | RegExp, string]> = {
    'no cover': [/<itunes:image[^>]*>/, ''],
    'a category written as text': ['<itunes:category text="News">', '<itunes:category>'],
    'no namespace': ['https://podcastindex.org/namespace/1.0', 'https://example.org/'],
    'an enclosure without a length': [/length="\d+"/, ''],
    'the same guid twice': [/<guid[^>]*>[^<]*/g, '<guid>same'],
    'no self link': ['rel="self"', 'rel="alternate"'],
  };
  for (const [name, [from, to]] of Object.entries(broken)) {
    it(`see ${name}`, () => {
      const bad = good.replace(from, to);
      assert.notEqual(bad, good);
      assert.notDeepEqual(pspFaults(bad, SELF), []);
    });
  }
});

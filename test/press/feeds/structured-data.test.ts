import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { castJsonLd, frontJsonLd, storyJsonLd } from '../../../src/desk/press/structured-data.ts';
import * as fc from '../../support/properties.ts';
import { anyText } from './any-text.ts';
import { cast, channel, hardItems, realItems, story } from './fixtures.ts';

const LOGO = { url: `${channel.root}/icons/a-512.png`, width: 512, height: 512 };
const FACTS = {
  image: `${channel.root}/cards/a.png`,
  avatar: `${channel.root}/media/a.svg`,
  word_count: 6,
  logo: LOGO,
};
const AFTER_SCRIPT = /[<>&\u2028\u2029]/;

/** Every object in a document. */
function* objects(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const child of Object.values(value)) yield* objects(child);
}

describe('the JSON-LD of a story', () => {
  it('is a NewsArticle by an organization that is named as an AI persona, never a person', (t) => {
    for (const piece of [...hardItems(), ...realItems(t)]) {
      const json = storyJsonLd(channel, piece, FACTS);
      assert.doesNotMatch(json, AFTER_SCRIPT);
      const article = JSON.parse(json);
      assert.equal(article['@context'], 'https://schema.org');
      assert.equal(article['@type'], 'NewsArticle');
      assert.equal(article.author['@type'], 'Organization');
      assert.equal(article.author.name, `${piece.byline.name} (AI persona)`);
      assert.equal(article.digitalSourceType, 'https://schema.org/TrainedAlgorithmicMediaDigitalSource');
      for (const { '@type': type } of objects(article)) assert.notEqual(type, 'Person');
      const documents = new Set(piece.cited_facts.map(({ source, instrument }) => `${source}\n${instrument}`));
      assert.equal(article.citation?.length ?? 0, documents.size);
    }
  });

  it('says what the page says', () => {
    const corrections = [{ at: Date.UTC(2026, 10, 21), revision: 2, note: 'Noon.' }];
    const image = { src: 'media/art/a.svg', alt: 'A', credit: 'B' };
    const change = {
      corrections,
      credit: 'After A',
      kind: 'blog' as const,
      category: 'Tides & Ships',
      image,
      revision: 2,
    };
    const article = JSON.parse(storyJsonLd(channel, story(change), FACTS));
    const page = `${channel.root}/stories/the-tide-turned/`;
    assert.equal(article.url, page);
    assert.equal(article.headline, 'The tide turned');
    assert.equal(article.description, 'It does so twice a day.');
    assert.equal(article.genre, 'Blog');
    assert.equal(article.articleSection, 'Tides & Ships');
    assert.equal(article.inLanguage, 'en');
    assert.equal(article.wordCount, 6);
    assert.equal(article.datePublished, '2026-11-20T07:06:00.000Z');
    assert.equal(article.dateModified, '2026-11-20T09:30:00.000Z');
    assert.deepEqual(article.image, { '@type': 'ImageObject', url: FACTS.image, caption: 'A', creditText: 'B' });
    assert.equal(article.author.url, `${channel.root}/masthead/mara-vell/`);
    assert.equal(article.author.logo, FACTS.avatar);
    assert.equal(article.publisher.name, channel.paper.nameplate);
    assert.deepEqual(article.publisher.logo, { '@type': 'ImageObject', ...LOGO });
    assert.equal(article.isPartOf['@type'], 'WebSite');
    assert.equal(article.creditText, 'After A');
    assert.equal(article.identifier.value, story().content_hash);
    assert.deepEqual(article.correction, [
      { '@type': 'CorrectionComment', datePublished: '2026-11-21T00:00:00.000Z', text: 'Noon.' },
    ]);
    assert.deepEqual(article.citation, [
      {
        '@type': 'CreativeWork',
        name: 'https://tides.example/?a=1&b="2"',
        publisher: { '@type': 'Organization', name: 'tides.example' },
        url: 'https://tides.example/?a=1&b=%222%22',
      },
      {
        '@type': 'CreativeWork',
        name: 'Log book 12, page 3',
        publisher: { '@type': 'Organization', name: 'Harbour Office' },
      },
    ]);
    const trail = article.mainEntityOfPage.breadcrumb.itemListElement;
    assert.deepEqual(
      trail.map(({ position, item }: { position: number; item: string }) => [position, item]),
      [
        [1, `${channel.root}/`],
        [2, `${channel.root}/sections/tides-ships/`],
        [3, page],
      ],
    );
  });

  it('leaves out what a piece has not', () => {
    const article = JSON.parse(storyJsonLd(channel, story({ dek: '', cited_facts: [] }), FACTS));
    for (const name of ['description', 'genre', 'citation', 'correction', 'creditText'])
      assert.ok(!(name in article), name);
    assert.equal(article.image, FACTS.image);
  });

  it('any text round-trips, and cannot end its script element', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (headline, dek, statement) => {
        const cited_facts = [{ n: 1, statement, source: dek, instrument: statement, claim_key: null }];
        const json = storyJsonLd(channel, story({ headline, dek, credit: statement, cited_facts }), FACTS);
        assert.doesNotMatch(json, AFTER_SCRIPT);
        const article = JSON.parse(json);
        assert.deepEqual([article.headline, article.description, article.creditText], [headline, dek, statement]);
        assert.equal(article.citation[0].name, statement);
      }),
    );
  });
});

describe('the JSON-LD of the other pages', () => {
  it('names the paper as a news organization and its search', () => {
    const [paper, site] = JSON.parse(frontJsonLd(channel, LOGO))['@graph'];
    assert.equal(paper['@type'], 'NewsMediaOrganization');
    assert.equal(paper.name, channel.paper.nameplate);
    assert.deepEqual(paper.logo, { '@type': 'ImageObject', ...LOGO });
    assert.equal(paper.correctionsPolicy, `${channel.root}/corrections/`);
    assert.equal(site['@type'], 'WebSite');
    assert.equal(site.potentialAction.target.urlTemplate, `${channel.root}/search/?q={search_term_string}`);
    assert.equal(site.publisher['@id'], paper['@id']);
    assert.doesNotMatch(frontJsonLd(channel, LOGO), AFTER_SCRIPT);
  });

  it('describes a video edition as a VideoObject', () => {
    const image = `${channel.root}/media/cast/2026-11-20.jpg`;
    const facts = { size: { width: 1280, height: 720 }, image, logo: LOGO };
    const json = castJsonLd(channel, cast(), facts);
    assert.doesNotMatch(json, AFTER_SCRIPT);
    const { publisher, creator, ...video } = JSON.parse(json);
    const page = `${channel.root}/cast/2026-11-20/`;
    assert.deepEqual(video, {
      '@context': 'https://schema.org',
      '@type': 'VideoObject',
      '@id': `${page}#video`,
      url: page,
      name: cast().title,
      description: 'What the sea did.',
      thumbnailUrl: image,
      uploadDate: '2026-11-20T00:00:00.000Z',
      duration: 'PT1M23S',
      contentUrl: `${channel.root}/media/cast/2026-11-20.mp4`,
      embedUrl: `${page}embed/`,
      encodingFormat: 'video/mp4',
      contentSize: '1234567',
      width: 1280,
      height: 720,
      inLanguage: 'en',
      isAccessibleForFree: true,
    });
    assert.deepEqual(publisher.logo, { '@type': 'ImageObject', ...LOGO });
    assert.equal(creator['@type'], 'Organization');
    assert.match(creator.name, /AI personas/);
    const bare = JSON.parse(castJsonLd(channel, cast({ description: ' ' }), { ...facts, size: null }));
    assert.ok(bare.description.startsWith(`${cast().title}. `) && !('width' in bare));
  });

  it('ends the paper’s own words as a sentence before the next one', () => {
    const descriptionOf = (description: string) => {
      const [paper] = JSON.parse(frontJsonLd({ ...channel, paper: { ...channel.paper, description } }, LOGO))['@graph'];
      return paper.description;
    };
    for (const [words, ended] of [
      ['A paper of tides', 'A paper of tides.'],
      ['A paper of tides. ', 'A paper of tides.'],
      ['Whose tide?', 'Whose tide?'],
      ['It says “Tide by tide.”', 'It says “Tide by tide.”'],
      ['Tide by tide (and back)', 'Tide by tide (and back).'],
      ['Tides and so on…', 'Tides and so on…'],
      ['潮の新聞。', '潮の新聞。'],
      ['潮の新聞', '潮の新聞.'],
      ['ज्वार का अख़बार।', 'ज्वार का अख़बार।'],
      ['', 'Tide by tide.'],
    ]) {
      assert.equal(descriptionOf(words ?? ''), `${ended} Every byline is a declared AI persona.`);
    }
  });
});

import { existsSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import type { Story } from '../../../src/desk/archive.ts';
import type { Cast } from '../../../src/desk/papers/cast.ts';
import type { Channel, FeedItem } from '../../../src/desk/press/feeds/channel.ts';
import { proseHtml } from '../../../src/desk/press/prose-html.ts';

export const channel: Channel = {
  root: 'https://ledger.example/harbor-ledger',
  paper: {
    slug: 'harbor-ledger',
    nameplate: 'The Harbor Ledger & Sons',
    motto: 'Tide by tide',
    description: 'A paper of <tides> and "ships".',
    language: 'en',
    hue: 28,
    sections: ['City', 'Tides & Ships', '港'],
    default_kind: 'news',
    paper_public: true,
    source_floor: 2,
    contact: 'desk@example.org',
    standards: '',
  },
};

/** A piece on air, with whatever a test wants different. */
export function story(change: Partial<Story> = {}): Story {
  return {
    id: '01jd0000000000000000000001',
    slug: 'the-tide-turned',
    headline: 'The tide turned',
    dek: 'It does so twice a day.',
    category: 'City',
    kind: 'news',
    persona: 'mara-vell',
    byline: { name: 'Mara Vell', title: 'Tides Desk' },
    language: 'en',
    image: null,
    revision: 1,
    published_at: Date.UTC(2026, 10, 20, 7, 6, 0),
    updated_at: Date.UTC(2026, 10, 20, 9, 30, 0),
    state: 'on_air',
    prose: 'The tide turned[^1] at noon[^2].',
    cited_facts: [
      {
        n: 1,
        statement: 'The tide turned.',
        source: 'tides.example',
        instrument: 'https://tides.example/?a=1&b="2"',
        claim_key: null,
      },
      { n: 2, statement: 'It was noon.', source: 'Harbour Office', instrument: 'Log book 12, page 3', claim_key: null },
    ],
    credit: null,
    evidence: [],
    awaits_review: false,
    awaits_evidence: false,
    reviewed_by: null,
    change_request: null,
    writers: [],
    writer: null,
    authors: [],
    written_by: null,
    provenance: null,
    aliases: [],
    tags: [],
    word_count: 6,
    content_hash: `sha256:${'0'.repeat(64)}`,
    corrections: [],
    citations: [],
    scheduled_at: null,
    withdrawn_at: null,
    reason: null,
    headline_withheld: false,
    ...change,
  };
}

/** The same, as a feed carries it. */
export function item(change: Partial<FeedItem> = {}): FeedItem {
  const base = story(change);
  return {
    ...base,
    html: proseHtml(base.prose, base.cited_facts, (path) => `${channel.root}/${path}`).html,
    image_url: `${channel.root}/cards/${base.id}-0011223344556677.png`,
    image_type: 'image/png',
    image_bytes: null,
    avatar_url: `${channel.root}/media/portraits/mara-vell.svg`,
    ...change,
  };
}

export function cast(change: Partial<Cast> = {}): Cast {
  return {
    day: '2026-11-20',
    title: 'The day in "tides" & ships',
    description: 'What the sea did.',
    video: 'media/cast/2026-11-20.mp4',
    poster: 'media/cast/2026-11-20.jpg',
    captions: 'media/cast/2026-11-20.vtt',
    duration_s: 83.4,
    bytes: 1_234_567,
    media_type: 'video/mp4',
    ...change,
  };
}

/** Kinds of pieces that are easily got wrong. */
export function hardItems(): FeedItem[] {
  return [
    item(),
    item({ id: '02', slug: 'no-dek', dek: '', credit: 'After A. Author, CC BY 4.0 <https://example.org/?a&b>' }),
    item({
      id: '03',
      slug: 'tags',
      headline: 'Using <canvas> & "AT&amp;T" ]]> twice ]]>',
      dek: 'a < b && c > d',
      prose: 'Code `<b>]]></b>`[^1] and ]]> text[^2].',
    }),
    item({
      id: '04',
      slug: 'rtl',
      language: 'ar',
      headline: 'المد والجزر',
      dek: 'مرتين في اليوم',
      byline: { name: 'ليلى', title: '' },
      prose: 'تحوّل المد[^1][^2].',
    }),
    item({
      id: '05',
      slug: 'han',
      language: 'ja',
      category: '港',
      headline: '潮が変わった 🌊',
      prose: '潮が変わった[^1]。正午[^2]。',
    }),
    item({
      id: '06',
      slug: 'corrected',
      image: { src: 'media/art/metre & co.svg', alt: 'A "metre"', credit: 'Own work' },
      revision: 2,
      updated_at: Date.UTC(2026, 10, 21),
      corrections: [{ at: Date.UTC(2026, 10, 21), revision: 2, note: 'It was noon, not <midnight>.' }],
    }),
    item({
      id: '07',
      slug: 'many-facts',
      prose: Array.from({ length: 234 }, (_, index) => `Fact ${index + 1}[^${index + 1}].`).join('\n\n'),
      cited_facts: Array.from({ length: 234 }, (_, index) => ({
        n: index + 1,
        statement: `Fact ${index + 1}.`,
        source: index % 2 === 0 ? 'a.example' : 'b.example',
        instrument: `https://a.example/${index % 7}`,
        claim_key: null,
      })),
    }),
  ];
}

const SAMPLE = new URL('../../../../shared/corpus/sample.jsonl', import.meta.url);

/** Real pieces where the corpus is at hand; else the hard ones, and the test says so. */
export function realItems(t: TestContext): FeedItem[] {
  if (!existsSync(SAMPLE)) {
    t.diagnostic('the corpus sample is not there: this test ran over a few made-up pieces only');
    return hardItems();
  }
  return readFileSync(SAMPLE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => {
      const piece = JSON.parse(line);
      return item({
        id: `01jd00000000000000000${String(index).padStart(5, '0')}`,
        slug: piece.slug,
        headline: piece.headline,
        dek: piece.dek ?? '',
        category: piece.section,
        kind: piece.kind,
        language: piece.lang,
        prose: piece.prose,
        cited_facts: piece.cited_facts,
        credit: `${piece.authors?.join(', ')}, ${piece.license}, ${piece.origin}`,
        published_at: Date.parse(piece.published_at),
        updated_at: Date.parse(piece.published_at),
      });
    });
}

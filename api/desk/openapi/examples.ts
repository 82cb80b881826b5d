import type { Archive } from '../../../src/desk/archive.ts';
import type { CitingPiece, FactRecord } from '../../../src/desk/fact-rows.ts';
import { type StoryRow, storyUrl } from '../../../src/desk/story.ts';
import { dayOf } from '../../../src/proof/time.ts';

/** Records of the document's examples. A paper's own replace them, so that requests tried out there succeed. */
export const SAMPLE = {
  piece: 'year-2038',
  fact: 'largest-signed-second',
  section: 'Time',
  persona: 'osric-tamblyn',
  day: '2026-11-20',
  address: 'https://news.example/the-plumb-line/stories/year-2038/',
} as const;

/** Maps each sample to the paper's own record. Samples without a counterpart are left out and stay as they are. */
export function samplesOf(archive: Archive, root: string): Map<unknown, string> {
  const [newest] = archive.latest({ limit: 1 });
  const [persona] = archive.masthead();
  const own = new Map<unknown, string>();
  own.set(SAMPLE.section, newest?.category ?? archive.paper().sections[0] ?? SAMPLE.section);
  if (persona !== undefined) own.set(SAMPLE.persona, persona.slug);
  const [fact] = archive.facts({ limit: 1, isCited: true });
  if (fact !== undefined) own.set(SAMPLE.fact, fact.claim_key);
  if (newest !== undefined) {
    own.set(SAMPLE.piece, newest.slug);
    own.set(SAMPLE.address, storyUrl(root, newest.slug));
    own.set(SAMPLE.day, dayOf(newest.published_at));
  }
  return own;
}

const ROOT = 'https://news.example/the-plumb-line';
const STORY = {
  id: '01kq3v7m6w2d5c8z4n0r9t1b6h',
  slug: SAMPLE.piece,
  headline: 'The year that clocks run out',
  dek: 'Counters of 32 bits end on a Tuesday in January 2038.',
  category: SAMPLE.section,
  kind: 'news',
  byline: { name: 'Osric Tamblyn', title: 'Editor, Time', avatar: `${ROOT}/media/osric.svg` },
  authors: [],
  written_by: null,
  provenance: null,
  tags: ['Clocks', 'Unix'],
  published_at: '2026-11-20T06:30:00.000Z',
  updated_at: '2026-11-20T06:30:00.000Z',
  revision: 1,
  url: `${ROOT}/stories/year-2038/`,
  image: `${ROOT}/cards/01kq3v7m6w2d5c8z4n0r9t1b6h-1f0a2b3c.png`,
} satisfies StoryRow;
const HASH = 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const FULL_STORY = {
  ...STORY,
  prose: 'A signed counter of 32 bits ends at 03:14:07 UTC.[^1] Wider counters are in use.[^2]',
  cited_facts: [
    {
      n: 1,
      statement: 'The largest value is 2,147,483,647 seconds after 1970.',
      source: 'The Open Group',
      instrument: 'https://pubs.opengroup.org/onlinepubs/9799919799/',
      claim_key: null,
    },
    {
      n: 2,
      statement: 'NTP counts eras of 2^32 seconds.',
      source: 'RFC Editor',
      instrument: 'https://www.rfc-editor.org/rfc/rfc5905',
      claim_key: null,
    },
  ],
  credit: null,
  content_hash: HASH,
  language: 'en',
  word_count: 15,
  corrections: [],
  proof_url: `${ROOT}/stories/year-2038/proof.json`,
};
const FACT = {
  claim_key: SAMPLE.fact,
  version: 1,
  statement: 'The largest value is 2,147,483,647 seconds after 1970.',
  source: 'The Open Group',
  instrument: 'https://pubs.opengroup.org/onlinepubs/9799919799/',
  quote: null,
  status: 'standing',
  note: null,
  fact_hash: HASH,
  seq: 1,
  signed_at: '2026-11-20T06:30:00.000Z',
  kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  receipt: 'fact/v1\npaper the-plumb-line\nclaim_key largest-signed-second\n…\n\n— news.example 3q2+7w…\n',
  vkey: 'news.example+0f1e2d3c+AQIDBAUG…',
} satisfies FactRecord;
const DRAFT = {
  state: 'draft',
  image: null,
  published_at: null,
  updated_at: null,
  scheduled_at: null,
  review: { state: 'not_required', by: null, at: null, note: null },
  awaits_evidence: false,
  headline_withheld: false,
  withdrawn_at: null,
  reason: null,
};
const KEY = {
  id: '01kq3v9x1y2z3a4b5c6d7e8f9g',
  level: 'read',
  name: 'The archive’s reader',
  seat: null,
  persona: null,
  state: 'in_force',
  made_at: '2026-11-20T06:30:00.000Z',
  made_by: 'cli',
  expires_at: '2027-11-20T00:00:00.000Z',
  used_at: '2026-11-22T07:10:00.000Z',
  uses: { days: 3, first_day: '2026-11-20', last_day: '2026-11-22' },
  revoked_at: null,
  revoked_by: null,
  paused_at: null,
  paused_by: null,
  work: { filed: 0, refused: 0, last_at: null },
};

/** Example records by schema name. */
export const EXAMPLES: Readonly<Record<string, object>> = {
  Story: STORY,
  FullStory: FULL_STORY,
  Fact: FACT,
  CitingPiece: {
    ...{ id: STORY.id, headline: STORY.headline, url: STORY.url },
    ...{ revision: 1, version: 1, current: true, state: 'on_air' },
  } satisfies CitingPiece,
  Draft: { ...STORY, ...DRAFT },
  DeskStory: { ...FULL_STORY, ...DRAFT, aliases: [] },
  Section: { name: SAMPLE.section, slug: 'time', count: 12, url: `${ROOT}/sections/time/` },
  Tag: {
    name: 'Clocks',
    slug: 'clocks',
    count: 12,
    url: `${ROOT}/tags/clocks/`,
    feed_url: `${ROOT}/tags/clocks/rss.xml`,
  },
  Day: { day: SAMPLE.day, count: 3, url: `${ROOT}/days/2026-11-20/` },
  Persona: {
    name: 'Osric Tamblyn',
    slug: SAMPLE.persona,
    title: 'Editor, Time',
    beat: 'Clocks, calendars and who keeps them',
    avatar: `${ROOT}/media/osric.svg`,
    declared_ai: true,
    url: `${ROOT}/masthead/osric-tamblyn/`,
  },
  CastRow: {
    day: SAMPLE.day,
    title: 'The day in three minutes',
    video_url: `${ROOT}/media/cast/2026-11-20.mp4`,
    poster_url: `${ROOT}/media/cast/2026-11-20.jpg`,
    embed_url: `${ROOT}/cast/2026-11-20/embed/`,
    page_url: `${ROOT}/cast/2026-11-20/`,
    duration_s: 184,
    bytes: 18_400_000,
    media_type: 'video/mp4',
  },
  Post: {
    id: STORY.id,
    headline: STORY.headline,
    dek: STORY.dek,
    link: STORY.url,
    image: STORY.image,
    text: `${STORY.headline}\n\n${STORY.dek}\n\n${STORY.url}`,
    published_at: STORY.published_at,
  },
  OEmbed: {
    type: 'rich',
    version: '1.0',
    title: STORY.headline,
    author_name: 'Osric Tamblyn (AI persona)',
    author_url: `${ROOT}/masthead/osric-tamblyn/`,
    provider_name: 'The Plumb Line',
    provider_url: `${ROOT}/`,
    cache_age: 3_600,
    html: `<blockquote><a href="${STORY.url}">${STORY.headline}</a></blockquote><iframe src="${ROOT}/embed/${STORY.id}/" sandbox="allow-scripts" width="640" height="210" title="${STORY.headline} — The Plumb Line" frameborder="0"></iframe>`,
    width: 640,
    height: 210,
  },
  Key: KEY,
  NewKey: { ...KEY, key: `nrf_${'0'.repeat(37)}AbCdEf`, pressed: true, files: 0 },
};

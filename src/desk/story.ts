import * as z from 'zod';
import { isoOrNull, isoTime } from '../proof/time.ts';
import { type DeskRow, type Row, STATES, type Story } from './archive.ts';
import { KINDS } from './door/piece.ts';
import { EvidenceRow, evidenceRow } from './evidence.ts';
import { factUrl } from './fact.ts';
import { ReviewRow, reviewRow } from './review.ts';
import { shownToDesk } from './withdrawal.ts';

/** Absolute addresses of the links in a row. */
export interface Links {
  /** The paper's root, without a trailing slash. */
  root: string;
  /** The persona's own picture, else its drawn portrait. */
  avatar(persona: string): string;
  /** The piece's own art, else its share card. */
  image(row: Row): string;
  /** Whether rows say who approved a piece, and who did. */
  showsReview: boolean;
  /** Whether the paper republishes the source texts that its desk read. */
  republishes: boolean;
  /** The piece's own art if it is a PNG or a JPEG, else its share card, which is a PNG. */
  raster(row: Row): string;
}

/** One of the people who wrote a piece (protocol 4.1). */
const AuthorRow = z
  .object({ name: z.string(), url: z.url().optional() })
  .meta({ id: 'Author', description: 'One of the people who wrote a piece.' });

const time = (description: string) => z.iso.datetime().meta({ description });

export const Byline = z.object({ name: z.string(), title: z.string(), avatar: z.url().nullable() }).meta({
  id: 'Byline',
  description: 'The declared AI persona that signs. Where a byline is shown, this is shown too.',
});

/** A story as lists carry it. */
export const StoryRow = z
  .object({
    id: z.string(),
    slug: z.string(),
    headline: z.string(),
    dek: z.string(),
    category: z.string().meta({ description: 'The section’s name.' }),
    kind: z.enum(KINDS),
    byline: Byline,
    authors: z.array(AuthorRow).meta({
      description:
        'The people who wrote it; the persona of the byline then only filed it. Empty when the persona wrote it.',
    }),
    written_by: z.string().nullable().meta({
      description: 'The names of `authors` in one line, to be shown; null without any.',
    }),
    provenance: z.enum(['archive']).nullable().meta({
      description:
        '`archive`: first published elsewhere, imported from an archive, and not checked by this desk’s rules; say so where you show the piece. Otherwise null.',
    }),
    tags: z.array(z.string()).meta({ description: 'What it is about, by name.' }),
    published_at: time('First time on air.'),
    updated_at: time('Of the newest revision made since.'),
    revision: z.int().min(1),
    url: z.url().meta({ description: 'The story’s page.' }),
    image: z.url().meta({ description: 'The story’s own art, or its share card.' }),
    reviewed_by: z
      .object({ name: z.string(), role: z.string(), at: time('When it was approved.') })
      .nullable()
      .optional()
      .meta({
        description:
          'The person who approved this revision before it went on air, where the paper shows that; null when nobody did.',
      }),
  })
  .meta({ id: 'Story', description: 'A story as lists carry it.' });
export type StoryRow = z.infer<typeof StoryRow>;

const CitedFactRow = z
  .object({
    n: z.int().min(1),
    statement: z.string(),
    source: z.string().meta({ description: 'The publisher.' }),
    instrument: z.string().meta({ description: 'The document that says it.' }),
    claim_key: z.string().nullable().meta({ description: 'The key of a fact in the paper’s record.' }),
    quote: z.string().optional().meta({ description: 'The words of the document that support the statement.' }),
    evidence: EvidenceRow.optional().meta({
      description: 'What the desk found when it read the source; absent until it has.',
    }),
    fact_url: z.url().optional().meta({ description: 'The page of the fact, where the record has it.' }),
    fact_status: z.enum(['corrected', 'retracted']).optional().meta({
      description: 'What happened to the fact since the piece was filed; the piece still says what it said.',
    }),
  })
  .meta({ id: 'CitedFact', description: 'What a [^N] marker in the prose points at.' });

/** One story in full. */
export const FullStory = StoryRow.extend({
  prose: z.string().meta({ description: 'As published, with [^N] markers: footnotes, never to be stripped.' }),
  cited_facts: z.array(CitedFactRow),
  credit: z.string().nullable().meta({ description: 'Whose work this is based on, and under which licence.' }),
  content_hash: z.string(),
  language: z.string().meta({ description: 'BCP 47.' }),
  word_count: z.int().min(0),
  corrections: z.array(z.object({ at: time('When it was made.'), revision: z.int(), note: z.string() })),
  proof_url: z.url(),
}).meta({ id: 'FullStory', description: 'One story in full.' });
export type FullStory = z.infer<typeof FullStory>;

/** A piece's state as its own desk sees it. */
const StateMembers = {
  state: z.enum(STATES),
  image: z
    .url()
    .nullable()
    .meta({ description: 'The piece’s own art, or its share card, which it has once it was on air.' }),
  published_at: time('First time on air; null if it never was.').nullable(),
  updated_at: time('Of the newest revision made since; null before it was on air.').nullable(),
  scheduled_at: time('When it goes on air.').nullable(),
  withdrawn_at: time('When it left the air.').nullable(),
  reason: z.string().nullable().meta({ description: 'Why it was withdrawn.' }),
  review: ReviewRow,
  awaits_evidence: z.boolean().meta({
    description:
      'Whether it stays off the air, even past `scheduled_at`, until its sources were read and its quotes found in them.',
  }),
  headline_withheld: z.boolean().meta({
    description: 'Whether its headline is withheld: then neither the headline nor the text of the piece is shown here.',
  }),
};

/** A row of `GET /api/v1/drafts`. */
export const DraftRow = StoryRow.extend(StateMembers).meta({ id: 'Draft', description: 'A piece that is not on air.' });
export type DraftRow = z.infer<typeof DraftRow>;

/** A piece in full as its own desk sees it. */
export const DeskStory = FullStory.extend({
  ...StateMembers,
  aliases: z.array(z.string()).meta({ description: 'Earlier addresses, which lead to the piece.' }),
}).meta({
  id: 'DeskStory',
  description: 'One piece in full, on air or not, as its own desk sees it.',
});
export type DeskStory = z.infer<typeof DeskStory>;

/** The address of a story's page. */
export function storyUrl(root: string, slug: string): string {
  return `${root}/stories/${slug}/`;
}

/** A row in wire format. */
export function storyRow(row: Row, links: Links): StoryRow {
  return {
    id: row.id,
    slug: row.slug,
    headline: row.headline,
    dek: row.dek,
    category: row.category,
    kind: row.kind,
    byline: { ...row.byline, avatar: links.avatar(row.persona) },
    authors: row.writers,
    written_by: row.writer,
    provenance: row.provenance,
    tags: row.tags,
    published_at: isoTime(row.published_at),
    updated_at: isoTime(row.updated_at),
    revision: row.revision,
    url: storyUrl(links.root, row.slug),
    image: links.image(row),
    ...(links.showsReview ? { reviewed_by: reviewerOf(row) } : {}),
  };
}

/** Who approved a piece, in wire format. Events queued by older versions lack it. */
function reviewerOf({ reviewed_by = null }: { reviewed_by?: Row['reviewed_by'] }): StoryRow['reviewed_by'] {
  return reviewed_by && { ...reviewed_by, at: isoTime(reviewed_by.at) };
}

export type CitedFactRow = z.infer<typeof CitedFactRow>;

/** The facts that a story cites in wire format, with what became of each since. */
export function citedFactRows(
  { cited_facts, citations, evidence }: Pick<Story, 'cited_facts' | 'citations' | 'evidence'>,
  { root, republishes }: Pick<Links, 'root' | 'republishes'>,
): CitedFactRow[] {
  const known = new Map(citations.map((one) => [one.claim_key, one]));
  const read = new Map(evidence.map((one) => [one.n, evidenceRow(one, republishes, root)]));
  return cited_facts.map((cited) => {
    const found = read.get(cited.n);
    const fact = found === undefined ? cited : { ...cited, evidence: found };
    const citation = fact.claim_key === null ? undefined : known.get(fact.claim_key);
    if (citation === undefined) return fact;
    const { claim_key, since } = citation;
    return { ...fact, fact_url: factUrl(root, claim_key), ...(since === null ? {} : { fact_status: since }) };
  });
}

/** A story in full in wire format; `proofUrl` is the address of its proof. */
export function fullStory(story: Story, links: Links, proofUrl: string): FullStory {
  return {
    ...storyRow(story, links),
    prose: story.prose,
    cited_facts: citedFactRows(story, links),
    credit: story.credit,
    content_hash: story.content_hash,
    language: story.language,
    word_count: story.word_count,
    corrections: story.corrections.map(({ at, revision, note }) => ({ at: isoTime(at), revision, note })),
    proof_url: proofUrl,
  };
}

export function draftRow(story: DeskRow, links: Links): DraftRow {
  const shown = shownToDesk(story);
  return { ...storyRow(shown, links), ...stateMembers(shown, links) };
}

export function deskStory(story: Story, links: Links, proofUrl: string): DeskStory {
  const shown = shownToDesk(story);
  return { ...fullStory(shown, links, proofUrl), ...stateMembers(shown, links), aliases: shown.aliases };
}

function stateMembers(story: DeskRow, links: Links) {
  const hasImage = !story.headline_withheld && (story.published_at !== 0 || story.image !== null);
  return {
    ...stateRow(story),
    review: reviewRow(story),
    awaits_evidence: story.awaits_evidence,
    image: hasImage ? links.image(story) : null,
  };
}

/** A piece's state in wire format, with times in ISO 8601. */
export function stateRow(story: DeskRow) {
  // The store uses 0 for never.
  const wasOnAir = story.published_at !== 0;
  return {
    state: story.state,
    published_at: wasOnAir ? isoTime(story.published_at) : null,
    updated_at: wasOnAir ? isoTime(story.updated_at) : null,
    scheduled_at: isoOrNull(story.scheduled_at),
    withdrawn_at: isoOrNull(story.withdrawn_at),
    reason: story.reason,
    headline_withheld: story.headline_withheld,
  };
}

/** Languages written without spaces, which need a dictionary to separate words. */
const UNSPACED = /^(?:ja|zh|th|km|lo|my)\b/i;

/** Footnote markers, names of notes, link targets and the line of the subscribe form, which do not count as words. */
const MARK_UP = /^ {0,3}::subscribe[ \t]*$|\[\^[^\s[\]\\]{1,64}\]|\]\([^)\s]*(\)?)/gm;
const MARKER = /\[\^[^\s[\]\\]{1,64}\]/g;

/** The number of words in a prose, by the rules of its language. */
export function wordCount(prose: string, language: string): number {
  // Matches unterminated targets too: searching again inside one would take quadratic time.
  const text = prose.replace(MARK_UP, (found, end: string | undefined) =>
    end === '' ? found.replace(MARKER, ' ') : ' ',
  );
  if (!UNSPACED.test(language)) return text.split(/\s+/).filter((part) => /[\p{L}\p{N}]/u.test(part)).length;
  let words = 0;
  for (const part of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    if (part.isWordLike) words++;
  }
  return words;
}

import { CARD_HEIGHT, CARD_WIDTH } from '../../../media/card/card.ts';
import { motifOf } from '../../../media/motif.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import type { CitedFact } from '../../../proof/basis.ts';
import type { Generation } from '../../../proof/chain.ts';
import { correctionsIn, trueIso } from '../../../proof/clock-note.ts';
import { proofOf } from '../../../proof/proof.ts';
import { dayOf, isoOrNull, isoTime } from '../../../proof/time.ts';
import type { Row, Story } from '../../archive.ts';
import { statementOf } from '../../clock-correction.ts';
import { dependencies } from '../../dependencies.ts';
import { tagSlug } from '../../door/tag.ts';
import { type CitedEvidence, evidenceRow, quoteUrl, republishes } from '../../evidence.ts';
import { factUrl } from '../../fact.ts';
import { castFile } from '../../papers/cast.ts';
import { reviewerShown, showsReview } from '../../review.ts';
import { noticeOf, withdrawnAnswer } from '../../withdrawal.ts';
import { type Edition, logUrl } from '../edition.ts';
import { channelOf, type FeedItem } from '../feeds/channel.ts';
import { storyMarkdown } from '../feeds/markdown.ts';
import { type Output, ofEachPiece, type Render, type RenderedFile } from '../output.ts';
import { contentsOf, pageProse } from '../page-prose.ts';
import { markerIds, type ProseHtml, proseHtml, SUBSCRIBE_BOX } from '../prose-html.ts';
import type { ProsePicture } from '../prose-pictures.ts';
import { storyJsonLd } from '../structured-data.ts';
import type { EmbedView, FactView, ShareImage, StoryView, WithdrawnView } from '../views.ts';
import { avatarPath, cardOf, frameOf, instrumentHref, linkCards, pictureView, prosePicture, rowView } from './frame.ts';
import { logoOf } from './icons.ts';

/** Minimum width in pixels for share previews. The card replaces narrower art. */
const SHARE_WIDTH_MIN = 600;
/** Minimum length of a prose's HTML for each source whose name is to fit beside it; a marker alone has some 130. */
const SOURCE_LENGTH = 260;

/** A piece's page, Markdown, and embed card by id and slug. A withdrawn piece's page and card are notices. */
export const story: Output = {
  kind: 'story',
  stage: 'story',
  paths: /^(?:stories\/([^/]+?)(?:\.md|\/(?!proof\.json$).*)|embed\/([^/]+)\/.*)$/,
  keyNamed: (edition, id) => edition.piece(id)?.slug,
  ...ofEachPiece(),
  async print(edition, slug, { render }) {
    const found = edition.story(slug);
    if (found !== null && withdrawnAnswer(found, 'page') === 'notice')
      return [await withdrawnPage(edition, found, render), ...(await cards(edition, found, render))];
    if (found?.state !== 'on_air') return null;
    const folder = `stories/${slug}`;
    const { prose: text, cited_facts: facts, language } = found;
    const insets = { cardOf: linkCards(edition), hasBox: true };
    const prose = await pageProse(text, facts, language, (path) => prosePicture(edition, path), insets);
    const view = storyView(edition, found, prose, edition.generations(found.id).at(-1) ?? null);
    return [
      { path: `${folder}/index.html`, body: await render('/paper/story', view) },
      { path: `${folder}.md`, body: storyMarkdown(channelOf(edition), found) },
      ...(await cards(edition, found, render)),
    ];
  },
};

/** The share card of a piece. Its path depends on its content, so an existing card is never drawn again. */
export const card: Output = {
  kind: 'card',
  stage: 'card',
  paths: /^cards\/([0-9a-z]{26})-/,
  keyNamed: (edition, id) => edition.piece(id)?.slug,
  ...ofEachPiece(dependencies.card),
  print(edition, slug) {
    const found = edition.story(slug);
    if (found?.state !== 'on_air') return null;
    const { card: shown, path } = cardOf(edition, found);
    return [{ path, draw: async () => (await import('../../../media/card/share-card.ts')).drawCard(shown) }];
  },
};

/** The proof of a piece on air. It is a separate output, because a head that gets its quorum changes nothing else. */
export const proof: Output = {
  kind: 'proof',
  stage: 'proof',
  paths: /^stories\/([^/]+)\/proof\.json$/,
  ...ofEachPiece(dependencies.proof),
  print(edition, slug) {
    const found = edition.story(slug);
    if (found?.state !== 'on_air') return null;
    const generations = edition.generations(found.id);
    // The writing desk shows unsigned pieces.
    if (generations.some(({ receipt }) => receipt === '')) return null;
    const sources = {
      generations,
      keys: edition.keys(),
      keysUrl: `${edition.site.root}/.well-known/newsdesk-keys.json`,
      log: edition.logProof(found.id),
      clock: edition.clockNotes(),
      reviews: showsReview(edition.paper()) ? edition.reviewNotes(found.id) : [],
      evidence: found.evidence,
    };
    return [{ path: `stories/${slug}/proof.json`, body: `${JSON.stringify(proofOf(found, sources), null, 2)}\n` }];
  },
};

/** The preview picture of a piece: its own art when that is a large photograph, else its card. */
export function shareImage(edition: Edition, row: Row): ShareImage {
  const { root } = edition.site;
  const media = row.image === null ? null : edition.media(row.image.src);
  const isPhoto = /^image\/(?:jpeg|png|webp)$/.test(media?.media_type ?? '');
  if (row.image !== null && isPhoto && (media?.width ?? 0) >= SHARE_WIDTH_MIN) {
    const { width = null, height = null } = media ?? {};
    return { absolute: `${root}/${row.image.src}`, alt: row.image.alt, width, height };
  }
  const absolute = `${root}/${cardOf(edition, row).path}`;
  return { absolute, alt: row.headline, width: CARD_WIDTH, height: CARD_HEIGHT };
}

export function feedItems(edition: Edition, rows: Row[]): FeedItem[] {
  const { root } = edition.site;
  const stories = rows.map((row) => ({ row, story: edition.story(row.slug) }));
  return stories.flatMap(({ row, story }) => {
    if (story === null) return [];
    const image = shareImage(edition, row);
    const path = image.absolute.slice(root.length + 1);
    const media = edition.media(path);
    // Looked up for each feed, because each depends on these pictures.
    const details = {
      image_url: image.absolute,
      image_type: media?.media_type ?? 'image/png',
      image_bytes: media === null || media.missing ? null : media.bytes,
      avatar_url: `${root}/${avatarPath(edition, row.persona)}`,
    };
    const html = () => proseHtml(story.prose, story.cited_facts, (path) => `${root}/${path}`).html;
    const item = itemsOf.get(story) ?? { ...story, html: html(), ...details };
    itemsOf.set(story, item);
    return item;
  });
}

/** The items of pieces as one press read them: many feeds have the same piece, and its HTML is made once. */
const itemsOf = new WeakMap<Story, FeedItem>();

/** The pictures in a piece's prose by path, for rendering it elsewhere. */
export function prosePictures(edition: Edition, paths: Iterable<string>): Map<string, ProsePicture> {
  return new Map([...paths].map((path) => [path, prosePicture(edition, path)]));
}

/** The page of an unpublished piece, without what only published ones have: card, proof, Markdown version. */
export function previewView(edition: Edition, found: Story, prose: ProseHtml): StoryView {
  const view = storyView(edition, found, prose, null);
  // The address of a preview serves only the preview's own pictures.
  const earlier = view.earlier.map((row) => ({ ...row, image: null }));
  return {
    ...view,
    earlier,
    cast: view.cast && { ...view.cast, file_url: null },
    is_preview: true,
    frame: { ...view.frame, noindex: true, share_image: null, json_ld: null },
  };
}

/** `last` is the newest generation; null for a piece that was never filed. */
function storyView(edition: Edition, found: Story, prose: ProseHtml, last: Generation | null): StoryView {
  const { root, base } = edition.site;
  const path = `stories/${found.slug}/`;
  const page = `${root}/${path}`;
  const oembed = `${root}/oembed?url=${encodeURIComponent(page)}`;
  const share = shareImage(edition, found);
  const [html = '', rest] = prose.html.split(SUBSCRIBE_BOX);
  const box = rest === undefined ? (edition.paper().subscribe_box ?? null) : { rest };
  return {
    ...found,
    ...rowView(edition, found),
    frame: frameOf(edition, {
      path,
      title: found.headline,
      description: found.dek || found.headline,
      language: found.language,
      share,
      json_ld: storyJsonLd(channelOf(edition), found, {
        image: found.image === null ? share.absolute : `${root}/${found.image.src}`,
        avatar: `${root}/${avatarPath(edition, found.persona)}`,
        word_count: found.word_count,
        logo: logoOf(edition),
      }),
    }),
    is_preview: false,
    html,
    box,
    has_insets: box !== null || prose.html.includes('<div class="link-card">'),
    contents: contentsOf(prose, found.word_count),
    is_crowded: found.cited_facts.length * SOURCE_LENGTH > prose.html.length,
    facts: found.cited_facts.map((fact) => ({
      ...fact,
      evidence: evidenceView(edition, fact, found.evidence),
      record: recordOf(found, fact.claim_key, base),
      href: instrumentHref(fact.instrument),
      marker_ids: markerIds(prose, fact.n),
    })),
    authors: found.writers,
    reviewed: reviewerShown(edition.paper(), found),
    updated_at: isoTime(found.updated_at),
    corrections: found.corrections.map((correction) => ({ ...correction, at: isoTime(correction.at) })),
    word_count: found.word_count,
    tags: found.tags.map((name) => ({ name, url: `${base}/tags/${tagSlug(name)}/` })),
    tags_url: `${base}/tags/`,
    cast: castOf(edition, found),
    earlier: edition.earlier(found).map((row) => rowView(edition, row)),
    markdown_url: `${base}/stories/${found.slug}.md`,
    proof_url: `${base}/${path}proof.json`,
    standards_url: `${base}/standards/`,
    log_url: logUrl(edition.paper(), edition.site),
    texts_url: republishes(edition.paper()) ? `${base}/evidence/` : null,
    receipt:
      last === null || last.receipt === ''
        ? null
        : { seq: last.seq, filed_at: last.filed_at, true_at: trueAt(edition, last), kid: last.kid, note: last.receipt },
    oembed_json_absolute: oembed,
    oembed_xml_absolute: `${oembed}&format=xml`,
  };
}

/** The edition of the day on which a piece went on air. */
function castOf(edition: Edition, { published_at }: Row): StoryView['cast'] {
  const found = edition.cast(dayOf(published_at));
  const file = found === null ? null : edition.media(castFile(found));
  if (found === null || file?.missing) return null;
  const { base } = edition.site;
  const { title, day, duration_s, media_type } = found;
  const is_audio = found.audio !== undefined;
  return {
    ...{ title, is_audio, duration_s, media_type },
    url: `${base}/cast/${day}/`,
    file_url: `${base}/${castFile(found)}`,
  };
}

/** The address of a cited fact's record, and what became of the fact since. Only facts cited on air have a page. */
function recordOf({ citations, state }: Story, key: string | null, base: string): FactView['record'] {
  const citation = state === 'on_air' ? citations.find(({ claim_key }) => claim_key === key) : undefined;
  return citation === undefined ? null : { url: factUrl(base, citation.claim_key), since: citation.since };
}

/** The true time of a receipt, if a correction of the clock says that it differs from `filed_at`; else null. */
function trueAt(edition: Edition, { filed_at, seq }: Generation): string | null {
  const time = trueIso(filed_at, seq, correctionsIn(edition.clockNotes().map(statementOf)));
  return time === filed_at ? null : time;
}

async function withdrawnPage(edition: Edition, found: Story, render: Render): Promise<RenderedFile> {
  const path = `stories/${found.slug}/`;
  const t = phrasesOf(edition.paper().language).withdrawn;
  const view: WithdrawnView = {
    frame: frameOf(edition, { path, title: t.title, description: t.description, noindex: true }),
    headline: noticeOf(found)?.headline ?? null,
    reason: found.reason ?? '',
    published_at: isoTime(found.published_at),
    withdrawn_at: isoTime(found.withdrawn_at ?? 0),
    language: found.language,
  };
  return { path: `${path}index.html`, body: await render('/paper/withdrawn', view) };
}

async function cards(edition: Edition, found: Story, render: Render): Promise<RenderedFile[]> {
  const path = `embed/${found.slug}/index.html`;
  return [
    { path, body: await render('/paper/embed', embedView(edition, found)) },
    { path: `embed/${found.id}/index.html`, same: path },
  ];
}

/** The card of a published piece, or the notice that replaces a withdrawn one. */
export function embedView(edition: Edition, found: Story): EmbedView {
  const paper = edition.paper();
  const { root } = edition.site;
  const headline = noticeOf(found)?.headline ?? null;
  const image = found.image === null || found.withdrawn_at !== null ? null : pictureView(edition, found.image, root);
  return {
    withdrawn_at: isoOrNull(found.withdrawn_at),
    language: found.language,
    hue: paper.hue,
    nameplate: paper.nameplate,
    root_absolute: `${root}/`,
    story_absolute: `${root}/stories/${found.slug}/`,
    headline,
    dek: headline === null ? '' : found.dek,
    category: found.category,
    byline: found.byline,
    writer: found.writer,
    provenance: found.provenance,
    published_at: isoTime(found.published_at),
    image,
    motif: image === null && found.withdrawn_at === null ? motifOf(found.category) : null,
  };
}

/** What the desk found in the source of a fact. */
function evidenceView(edition: Edition, { n, instrument, quote }: CitedFact, evidence: readonly CitedEvidence[]) {
  const found = evidence.find((one) => one.n === n);
  if (found === undefined) return null;
  const row = evidenceRow(found, republishes(edition.paper()), edition.site.root);
  const { status: state, read_at, archived_url, observation } = row;
  // The quote is in the text of the observation, not in the page at its address.
  const isInPage = state === 'found' && quote !== undefined && observation === null;
  return { state, read_at, href: isInPage ? quoteUrl(instrument, quote) : instrument, archived_url, observation };
}

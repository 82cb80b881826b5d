import { type Card, cardDigest } from '../../../media/card/card.ts';
import { PORTRAIT_SIDE } from '../../../media/portrait.ts';
import { variantsOf } from '../../../media/variants.ts';
import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { dayOf, isoTime } from '../../../proof/time.ts';
import type { Row } from '../../archive.ts';
import type { Image } from '../../door/piece.ts';
import { writerLine } from '../../door/writers.ts';
import { republishes } from '../../evidence.ts';
import { hasAudio } from '../../papers/cast.ts';
import { type Persona, portraitPath } from '../../papers/masthead.ts';
import { contactMail, contactUrl, imprintPage, type PaperRecord, sectionSlug } from '../../papers/paper.ts';
import { DEFAULT_THEME } from '../../papers/themes.ts';
import { DEFAULT_TYPEFACES } from '../../papers/typefaces.ts';
import { showsReview } from '../../review.ts';
import type { Links } from '../../story.ts';
import type { Edition } from '../edition.ts';
import type { LinkCard } from '../prose-cards.ts';
import type { ProsePicture } from '../prose-pictures.ts';
import type { BylineView, Frame, MiniatureView, PictureView, RowView, ShareImage } from '../views.ts';
import { iconViews } from './icons.ts';

interface FrameOf {
  /** Path under the root, such as `sections/time/`; empty for the front. */
  path: string;
  /** The page's own title; the nameplate is added. Null for the front. */
  title: string | null;
  description: string;
  language?: string;
  noindex?: boolean;
  share?: ShareImage;
  json_ld?: string;
}

export function frameOf(edition: Edition, page: FrameOf): Frame {
  const paper = edition.paper();
  const { root, base } = edition.site;
  return {
    root_absolute: root,
    base,
    canonical_absolute: `${root}/${page.path}`,
    title: page.title === null ? paper.nameplate : `${page.title} · ${paper.nameplate}`,
    description: page.description || paper.description,
    noindex: page.noindex ?? false,
    // The addresses of pages that are not indexed may be secret: previews, and links in mails.
    analytics: page.noindex ? null : (paper.analytics ?? null),
    paper: paperOf(edition),
    language: page.language ?? paper.language,
    share_image: page.share ?? null,
    json_ld: page.json_ld ?? null,
  };
}

function paperOf(edition: Edition): Frame['paper'] {
  const paper = edition.paper();
  const { base } = edition.site;
  const { nameplate, motto, description, hue, language } = paper;
  return {
    ...{ nameplate, motto, description, hue, language },
    sections: paper.sections.map((name) => ({
      name,
      slug: sectionSlug(name),
      url: `${base}/sections/${sectionSlug(name)}/`,
    })),
    typefaces: paper.typefaces ?? DEFAULT_TYPEFACES,
    theme: paper.theme ?? DEFAULT_THEME,
    has_style: paper.style !== undefined,
    logo: logoOf(edition),
    icons: iconViews(edition),
    contact: contactOf(paper),
    imprint: imprintOf(edition),
    casts: castsOf(edition),
    has_archived: edition.hasArchived(),
    has_facts: edition.hasFacts(),
    pages: edition.menuPages().map(({ slug, title, nav, language = paper.language }) => ({
      title,
      language,
      url: `${base}/${slug}/`,
      nav: nav === 'sections' ? 'sections' : 'footer',
    })),
  };
}

function castsOf(edition: Edition): Frame['paper']['casts'] {
  const casts = edition.casts();
  return casts.length === 0 ? null : hasAudio(casts) ? 'audio' : 'video';
}

/** The paper's logo. Its dimensions are required, because otherwise the page would shift while it loads. */
function logoOf(edition: Edition): Frame['paper']['logo'] {
  const { logo, nameplate } = edition.paper();
  if (logo === undefined) return null;
  const { light, dark = null } = typeof logo === 'string' ? { light: logo } : logo;
  // If the logo is missing, the nameplate in type replaces it.
  if ([light, dark].some((path) => path !== null && edition.media(path)?.missing)) return null;
  return {
    picture: pictureView(edition, { src: light, alt: nameplate, credit: null }),
    dark_url: dark === null ? null : `${edition.site.base}/${dark}`,
  };
}

/** The paper's contact. A mail address is shown as text; the address of a page is shown as a link with a phrase. */
function contactOf(paper: PaperRecord): Frame['paper']['contact'] {
  const url = contactUrl(paper);
  return url === undefined ? null : { url, text: contactMail(paper) ?? null };
}

/** The imprint in every page's footer. A page that does not exist is not linked. */
function imprintOf(edition: Edition): Frame['paper']['imprint'] {
  const paper = edition.paper();
  const { imprint } = paper;
  if (imprint === undefined) return null;
  const slug = imprintPage(paper);
  if (slug === null) return imprint.split('\n');
  const page = edition.menuPage(slug);
  if (page === null) return null;
  return { url: `${edition.site.base}/${slug}/`, title: page.title, language: page.language ?? paper.language };
}

/** The share card of a piece: its content, and its path in the tree. */
export function cardOf(edition: Edition, row: Row): { card: Card; path: string } {
  const { nameplate, hue } = edition.paper();
  const { headline, category, writer, language } = row;
  const day = dayOf(row.published_at);
  const card: Card = { nameplate, headline, category, byline: row.byline.name, writer, day, hue, language };
  return { card, path: `cards/${row.id}-${cardDigest(card)}.png` };
}

/** Absolute addresses for the wire formats. */
export function linksOf(edition: Edition): Links {
  const { root } = edition.site;
  const card = (row: Row) => `${root}/${cardOf(edition, row).path}`;
  const own = (row: Row) => (row.image === null ? null : `${root}/${row.image.src}`);
  const isRaster = ({ src }: Image) => /^image\/(?:png|jpeg)$/.test(edition.media(src)?.media_type ?? '');
  return {
    root,
    showsReview: showsReview(edition.paper()),
    republishes: republishes(edition.paper()),
    avatar: (slug) => `${root}/${avatarPath(edition, slug)}`,
    image: (row) => own(row) ?? card(row),
    raster: (row) => (row.image !== null && isRaster(row.image) ? own(row) : null) ?? card(row),
  };
}

/** A picture from the paper's media, with its size, to prevent layout shifts. `base` is the prefix of its addresses. */
export function pictureView(edition: Edition, image: Image, base = edition.site.base): PictureView {
  const media = edition.media(image.src);
  const variants = media === null ? [] : variantsOf(media);
  return {
    url: `${base}/${image.src}`,
    alt: image.alt,
    credit: image.credit,
    width: media?.width ?? null,
    height: media?.height ?? null,
    variants: variants.map(({ path, width, format }) => ({ url: `${base}/${path}`, type: `image/${format}`, width })),
    color: media?.color ?? null,
  };
}

/** The address of a piece's own art in the size for lists, if it has such a variant; null without art. */
export function thumbnailOf(edition: Edition, { image }: Pick<Row, 'image'>): string | null {
  if (image === null) return null;
  const { url, variants } = pictureView(edition, image, edition.site.root);
  const still = variants.filter(({ type }) => type === 'image/webp');
  return (still.find(({ width }) => width >= THUMBNAIL) ?? still.at(-1))?.url ?? url;
}

/** Width in pixels. */
const THUMBNAIL = 400;

/** The address of a document; null if the instrument is only a name. */
export function instrumentHref(instrument: string): string | null {
  return /^https?:\/\//i.test(instrument) ? instrument : null;
}

/** A picture in the prose of a piece or a page. */
export function prosePicture(edition: Edition, src: string): ProsePicture {
  return pictureView(edition, { src, alt: '', credit: null });
}

/** The cards of a piece's links, if the paper shows link cards. A page that was not read yet has no card. */
export function linkCards(edition: Edition): ((url: string) => LinkCard | undefined) | undefined {
  if (edition.paper().link_cards !== true) return undefined;
  const { base } = edition.site;
  return (url) => {
    const found = edition.linkCard(url);
    if (found === null) return undefined;
    const { picture, ...text } = found;
    return { ...text, picture: picture === null ? null : { ...picture, url: `${base}/${picture.path}` } };
  };
}

/** Path of a persona's portrait under the root: its own picture, else the drawn one. */
export function avatarPath(edition: Edition, slug: string): string {
  return edition.persona(slug)?.avatar ?? portraitPath(slug);
}

/** A persona's portrait. A drawn one has no `alt` text, because the name is beside it. */
export function portraitView(
  edition: Edition,
  { slug, name, avatar }: Pick<Persona, 'slug' | 'name' | 'avatar'>,
): PictureView {
  if (avatar !== null) {
    const alt = fill(phrasesOf(edition.paper().language).masthead.portrait, { name });
    return pictureView(edition, { src: avatar, alt, credit: null });
  }
  const url = `${edition.site.base}/${portraitPath(slug)}`;
  return { url, alt: '', credit: null, width: PORTRAIT_SIDE, height: PORTRAIT_SIDE, variants: [], color: null };
}

/** The byline of a piece: the name and title as of the filing day, with the current portrait. */
export function bylineView(edition: Edition, persona: string, byline: { name: string; title: string }): BylineView {
  const { name, title } = byline;
  const avatar = edition.persona(persona)?.avatar ?? null;
  return {
    name,
    title,
    avatar: portraitView(edition, { slug: persona, name, avatar }),
    url: `${edition.site.base}/masthead/${persona}/`,
  };
}

/** The piece that represents a list in miniature: the first with a picture, else the first; null without a piece. */
export function miniatureView(edition: Edition, rows: readonly Row[]): MiniatureView | null {
  const row = rows.find(({ image }) => image !== null) ?? rows[0];
  if (row === undefined) return null;
  const { id, headline, language, image } = row;
  return { id, headline, language, image: image === null ? null : pictureView(edition, image) };
}

export function rowView(edition: Edition, row: Row): RowView {
  const { base } = edition.site;
  return {
    ...row,
    url: `${base}/stories/${row.slug}/`,
    category_url: `${base}/sections/${sectionSlug(row.category)}/`,
    byline: bylineView(edition, row.persona, row.byline),
    writer: writerLine(row.writers, edition.paper().language),
    published_at: isoTime(row.published_at),
    day_url: `${base}/days/${dayOf(row.published_at)}/`,
    image: row.image === null ? null : pictureView(edition, row.image),
  };
}

import { type Card, cardDigest } from '../../../media/card/card.ts';
import { PORTRAIT_SIDE } from '../../../media/portrait.ts';
import { variantsOf } from '../../../media/variants.ts';
import { fill } from '../../../phrases/fill.ts';
import { phrasesOf } from '../../../phrases/tables.ts';
import { dayOf, isoTime } from '../../../proof/time.ts';
import type { Row } from '../../archive.ts';
import type { Image } from '../../door/piece.ts';
import { writerLine } from '../../door/writers.ts';
import { type Persona, portraitPath } from '../../papers/masthead.ts';
import { sectionSlug } from '../../papers/paper.ts';
import type { Links } from '../../story.ts';
import type { Edition } from '../edition.ts';
import type { ProsePicture } from '../prose-pictures.ts';
import type { BylineView, PictureView, RowView } from '../views.ts';

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
    avatar: (slug) => `${root}/${avatarPath(edition, slug)}`,
    image: (row) => own(row) ?? card(row),
    raster: (row) => (row.image !== null && isRaster(row.image) ? own(row) : null) ?? card(row),
  };
}

/** A picture from the paper's media. Its size prevents layout shifts while it loads. `base` begins its addresses. */
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

/** A picture in the prose of a piece or a page. */
export function prosePicture(edition: Edition, src: string): ProsePicture {
  return pictureView(edition, { src, alt: '', credit: null });
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

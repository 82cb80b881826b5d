import { contactMail, contactUrl, imprintPage, type PaperRecord, sectionSlug } from '../../papers/paper.ts';
import { DEFAULT_TYPEFACES } from '../../papers/typefaces.ts';
import type { Edition } from '../edition.ts';
import type { Frame, ShareImage } from '../views.ts';
import { iconViews } from './icons.ts';
import { pictureView } from './row-view.ts';

export interface FrameOf {
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
    // Addresses of pages that are not indexed may be secret: previews, and links of mails.
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
    has_style: paper.style !== undefined,
    logo: logoOf(edition),
    icons: iconViews(edition),
    contact: contactOf(paper),
    imprint: imprintOf(edition),
    has_cast: edition.casts().length > 0,
    pages: edition.menuPages().map(({ slug, title, nav, language = paper.language }) => ({
      title,
      language,
      url: `${base}/${slug}/`,
      nav: nav === 'sections' ? 'sections' : 'footer',
    })),
  };
}

/** Without dimensions a logo would move the page while it loads. */
function logoOf(edition: Edition): Frame['paper']['logo'] {
  const { logo, nameplate } = edition.paper();
  if (logo === undefined) return null;
  const { light, dark = null } = typeof logo === 'string' ? { light: logo } : logo;
  // The name in type stands in for a logo that is missing.
  if ([light, dark].some((path) => path !== null && edition.media(path)?.missing)) return null;
  return {
    picture: pictureView(edition, { src: light, alt: nameplate, credit: null }),
    dark_url: dark === null ? null : `${edition.site.base}/${dark}`,
  };
}

/** A mail address is shown as it is; a page's address is a link with a word of its own. */
function contactOf(paper: PaperRecord): Frame['paper']['contact'] {
  const url = contactUrl(paper);
  return url === undefined ? null : { url, text: contactMail(paper) ?? null };
}

/** The imprint of every page's footer. A page that the paper does not have is not linked to. */
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

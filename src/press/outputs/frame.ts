import { sectionSlug } from '../../desk/paper.ts';
import { DEFAULT_TYPEFACES } from '../../desk/typefaces.ts';
import type { Edition } from '../edition.ts';
import type { Frame, ShareImage } from '../views.ts';

/** The metadata of a page. */
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

/** The frame of a page: the paper's header and footer, and the document head. */
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
    paper: {
      nameplate: paper.nameplate,
      motto: paper.motto,
      description: paper.description,
      hue: paper.hue,
      language: paper.language,
      sections: paper.sections.map((name) => ({
        name,
        slug: sectionSlug(name),
        url: `${base}/sections/${sectionSlug(name)}/`,
      })),
      typefaces: paper.typefaces ?? DEFAULT_TYPEFACES,
      has_cast: edition.casts().length > 0,
      pages: edition.menuPages().map(({ slug, title, nav, language = paper.language }) => ({
        title,
        language,
        url: `${base}/${slug}/`,
        nav: nav === 'sections' ? 'sections' : 'footer',
      })),
    },
    language: page.language ?? paper.language,
    share_image: page.share ?? null,
    json_ld: page.json_ld ?? null,
  };
}

import type { AppContext } from '../../src/app/context.ts';
import type { Paper } from '../../src/desk/paper.ts';
import { paperRoot } from '../../src/desk/paper.ts';
import type { NewsstandView } from '../../src/press/views.ts';
import { isoTime } from '../../src/time.ts';

/** How many headlines of a paper the stand shows. */
const HEADLINES = 3;

/** The papers that everybody may know of. */
export function publicPapers({ store }: AppContext): Paper[] {
  return store
    .paperSlugs()
    .flatMap((slug) => store.paper(slug) ?? [])
    .filter((paper) => paper.paper_public);
}

/** What the newsstand shows; `origin` is the address of the shared host. */
export function standOf(app: AppContext, origin: string): NewsstandView {
  const papers = publicPapers(app).map((paper) => {
    const { slug, nameplate, motto, description, hue, language, sections } = paper;
    const root = paperRoot(paper, origin);
    const latest = app.store
      .archive(slug)
      .latest({ limit: HEADLINES })
      .map((row) => ({
        headline: row.headline,
        url: `${root}/stories/${row.slug}/`,
        published_at: isoTime(row.published_at),
      }));
    return { slug, nameplate, motto, description, hue, language, sections, url: `${root}/`, latest };
  });
  return { papers };
}

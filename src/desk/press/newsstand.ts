import { isoTime } from '../../proof/time.ts';
import type { Archive } from '../archive.ts';
import { type Paper, paperRoot } from '../papers/paper.ts';
import { element, textElement, XML_DECLARATION } from './feeds/xml.ts';
import type { NewsstandView } from './views.ts';

const HEADLINES = 3;

interface Papers {
  paperSlugs(): string[];
  paper(slug: string): Paper | null;
}

export function publicPapers(store: Papers): Paper[] {
  return store
    .paperSlugs()
    .flatMap((slug) => store.paper(slug) ?? [])
    .filter((paper) => paper.paper_public);
}

/**
 * The view of the page that lists every public paper; `origin` is the address of the shared host. On a machine of one's
 * own the list stays there: the domain of a paper may serve something else, or nothing yet.
 */
export function newsstandView(store: Papers & { archive(paper: string): Archive }, origin: string): NewsstandView {
  const papers = publicPapers(store).map((paper) => {
    const { slug, nameplate, motto, description, hue, language, sections } = paper;
    const root = paperRoot(isLocal(origin) ? { slug } : paper, origin);
    const latest = store
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

/** Whether an origin is this machine's or an address without a name, and so not one that readers are given. */
function isLocal(origin: string): boolean {
  const { hostname } = new URL(origin);
  return `.${hostname}`.endsWith('.localhost') || hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
}

/** The papers of the newsstand and their feeds, for feed readers to import (OPML 2.0, opml.org/spec2.opml). */
export function opml(origin: string, papers: NewsstandView['papers']): string {
  const outlines = papers.map(({ nameplate, description, language, url }) =>
    element('outline', {
      type: 'rss',
      version: 'RSS2',
      text: nameplate,
      title: nameplate,
      description: description || null,
      language,
      xmlUrl: `${url}rss.xml`,
      htmlUrl: url,
    }),
  );
  const head = [
    textElement('title', 'Newsstand'),
    textElement('docs', 'http://opml.org/spec2.opml'),
    textElement('ownerId', `${origin}/`),
  ];
  return `${XML_DECLARATION}
<opml version="2.0">
<head>${head.join('')}</head>
<body>
${outlines.join('\n')}
</body>
</opml>
`;
}

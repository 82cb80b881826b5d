import { motifOf } from '../../media/motif.ts';
import { phrasesOf } from '../../phrases/tables.ts';
import { needsScriptFonts } from '../../shared/script-letters.ts';
import type { Archive, Row } from '../archive.ts';
import { type Paper, paperRoot } from '../papers/paper.ts';
import { Edition } from './edition.ts';
import { element, textElement, XML_DECLARATION } from './feeds/xml.ts';
import { rowView } from './outputs/frame.ts';
import { topOf } from './outputs/front.ts';
import type { NewsstandView } from './views.ts';

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

/** All public papers with their addresses, with a trailing slash. */
function addressed(store: Papers, origin: string) {
  return publicPapers(store).map((paper) => ({ paper, url: `${addressOf(paper, origin)}/` }));
}

/**
 * A paper's address on the newsstand. On a local machine it stays on this machine: the paper's domain may serve
 * something else, or nothing yet.
 */
function addressOf(paper: Paper, origin: string): string {
  return paperRoot(isLocal(origin) ? { slug: paper.slug } : paper, origin);
}

/** The names of public papers and their addresses on the host with `origin`, with a trailing slash. */
export function paperAddresses(store: Papers, origin: string): { nameplate: string; url: string }[] {
  return addressed(store, origin).map(({ paper: { nameplate }, url }) => ({ nameplate, url }));
}

/**
 * The view of the page that lists every public paper with the top of its front. `origin` is the address of the shared
 * host. Pictures come from there, because the page may not load any from elsewhere.
 */
export function newsstandView(store: Papers & { archive(paper: string): Archive }, origin: string): NewsstandView {
  const papers = addressed(store, origin).map(({ paper, url }) => {
    const { slug, nameplate, motto, description, hue, language } = paper;
    const archive = store.archive(slug);
    const edition = new Edition(archive, { root: url.slice(0, -1), base: `/${slug}`, isShared: true });
    const viewOf = (row: Row) => ({ ...rowView(edition, row), url: `${url}stories/${row.slug}/` });
    const { lead, seconds } = topOf(edition);
    return {
      ...{ slug, nameplate, motto, description, hue, language, url },
      pieces: archive.months().reduce((sum, { count }) => sum + count, 0),
      lead: lead === null ? null : viewOf(lead),
      motif: lead === null || lead.image !== null ? null : motifOf(lead.category),
      others: seconds.map(viewOf),
    };
  });
  // Checks the phrases too, because dates are written in a paper's language, whatever language its texts are in.
  const needsFonts = (paper: (typeof papers)[number]) =>
    needsScriptFonts(JSON.stringify([paper, phrasesOf(paper.language)]));
  return { papers, fonts: papers.filter(needsFonts).map(({ slug }) => `/${slug}/fonts.css`) };
}

/** Whether an origin is on this machine or has an address without a name, so that readers would not be given it. */
function isLocal(origin: string): boolean {
  const { hostname } = new URL(origin);
  return `.${hostname}`.endsWith('.localhost') || hostname.startsWith('[') || /^[\d.]+$/.test(hostname);
}

/** The papers of the newsstand and their feeds, for feed readers to import (OPML 2.0, opml.org/spec2.opml). */
export function opml(store: Papers, origin: string): string {
  const outlines = addressed(store, origin).map(({ paper: { nameplate, description, language }, url }) =>
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

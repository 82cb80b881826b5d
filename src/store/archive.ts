import type { Archive, Row } from '../desk/archive.ts';
import { inReadingOrder } from '../desk/page.ts';
import { UNPLACED } from '../desk/placement.ts';
import { Fault } from '../fault.ts';
import type { missingMediaTable } from './desk.ts';
import type { LedgerTables } from './ledger-entries.ts';
import type { PaperTable } from './papers.ts';
import type { PieceTagTable } from './piece-tags.ts';
import { rowsOf } from './piece-tags.ts';
import type { PieceTable } from './pieces.ts';
import type { SearchTables } from './search.ts';

interface ArchiveTables {
  papers: PaperTable;
  pieces: PieceTable;
  pieceTags: PieceTagTable;
  entries: LedgerTables;
  search: Pick<SearchTables, 'search'>;
  missingMedia: ReturnType<typeof missingMediaTable>;
  logProof: Archive['logProof'];
  isLogCosigned: Archive['isLogCosigned'];
}

/** One paper's archive. */
export function archiveOf(
  paper: string,
  { papers, pieces, pieceTags, entries, search, missingMedia, logProof, isLogCosigned }: ArchiveTables,
): Archive {
  const rows = (ids: readonly string[]): Row[] => rowsOf(ids, (id) => pieces.row(paper, id));
  return {
    paper() {
      const record = papers.paper(paper);
      if (record === null) throw new Fault('not_found', `there is no paper ${paper}`);
      return record;
    },
    masthead: () => papers.personas(paper).filter(({ active }) => active),
    persona: (slug) => papers.persona(paper, slug),
    personaSlugs: () => papers.personas(paper).map(({ slug }) => slug),
    mediaPaths: () => papers.allMedia(paper).map(({ path }) => path),
    casts: () => papers.casts(paper),
    cast: (day) => papers.cast(paper, day),
    placement: () => papers.placement(paper) ?? UNPLACED,
    media(path) {
      const found = papers.media(paper, path);
      return found === null || !missingMedia.has(found.digest) ? found : { ...found, missing: true };
    },
    pages: () => inReadingOrder(papers.pages(paper)),
    page: (slug) => papers.page(paper, slug),
    keys: () => entries.verifyingKeys('desk'),
    clockNotes: () => entries.clockNotes('desk', paper),
    storyById: (id) => pieces.storyById(paper, id),
    storyBySlug: (slug) => pieces.storyBySlug(paper, slug),
    hasSlug: (slug) => pieces.hasSlug(paper, slug),
    piece: (id) => pieces.piece(paper, id),
    revisions: (id) => pieces.revisions(paper, id),
    generations: (id) => pieces.generations(paper, id),
    receiptsOnAir: () => pieces.receiptsOnAir(paper),
    logProof,
    isLogCosigned,
    slugs: () => pieces.slugs(paper),
    latest(query) {
      if (query.tag === undefined) return pieces.latest(paper, query);
      return rows(pieceTags.tagged(paper, query.tag, query));
    },
    search: (terms, limit) => search.search(paper, terms, limit),
    row: (id) => pieces.row(paper, id),
    sectionPage: (section, page, size) => pieces.sectionPage(paper, section, page, size),
    sectionCount: (section) => pieces.sectionCount(paper, section),
    tag: (slug) => pieceTags.tag(paper, slug),
    tags: (page) => pieceTags.tags(paper, page),
    tagPage: (tag, page, size) => rows(pieceTags.tagPage(paper, tag, page, size)),
    tagRank: (tag, at) => pieceTags.tagRank(paper, tag, at),
    newerTagged: (tag, at, cap) => pieceTags.newerTagged(paper, tag, at, cap),
    scheduled: () => pieces.allScheduled(paper),
    sectionRank: (section, at) => pieces.sectionRank(paper, section, at),
    newer: (at, cap, section) => pieces.newer(paper, at, cap, section),
    earlier: (row, limit) => pieces.earlier(paper, row, limit),
    laterIds: (section, at, limit) => pieces.laterIds(paper, section, at, limit),
    days: (range) => pieces.days(paper, range),
    day: (day) => pieces.day(paper, day),
    months: () => pieces.months(paper),
    month: (month) => pieces.month(paper, month),
    corrections: (limit) => pieces.corrections(paper, limit),
    hasCorrections: (id) => pieces.hasCorrections(paper, id),
  };
}

import type { Cast } from '../desk/cast.ts';
import type { Persona } from '../desk/masthead.ts';
import type { Media } from '../desk/media.ts';
import type { Page, PageBody } from '../desk/page.ts';
import type { Paper, PaperBody } from '../desk/paper.ts';
import type { Placement } from '../desk/placement.ts';
import { type Db, integer, json, orNull, sql, text } from './sql.ts';

/** Papers, and the newest record of each persona, cast, media file and page. */
export interface PaperTable {
  paper(slug: string): Paper | null;
  hasPaper(slug: string): boolean;
  paperSlugs(): string[];
  /** The papers that were removed, as they were. */
  removedPapers(): RemovedPaper[];
  removedPaper(slug: string): RemovedPaper | null;
  /** Grows with every visible change of any paper and of its hosts, so one cheap read detects any change. */
  papersVersion(): number;
  /** The papers that changed after a version, also those that were removed, in no order. Before the first one is -1. */
  changedPapers(since: number): (Paper | RemovedPaper)[];
  /** Adds a paper, or changes it. A removed paper is back. */
  setPaper(slug: string, body: PaperBody, at: number): void;
  removePaper(slug: string, at: number): void;
  /** Counts changes that readers can see, the last of them at `at`. */
  bumpEdition(slug: string, at: number): void;
  /** Lowers the time of the last change, if it is later than this. */
  capChangedAt(slug: string, time: number): void;
  nextSeq(slug: string): number;
  /** Assigns `taken` as the paper's last number. Throws unless `last` was, by default the one before it. */
  takeSeq(slug: string, taken: number): void;
  /** The newest record of a kind and name, as applied; null when there is none, or it was removed. */
  record(paper: string, kind: string, name: string): unknown;
  persona(paper: string, slug: string): Persona | null;
  personas(paper: string): Persona[];
  cast(paper: string, day: string): Cast | null;
  /** Newest first. */
  casts(paper: string): Cast[];
  /** Null for a paper whose front was never edited. */
  placement(paper: string): Placement | null;
  /** When the next placement of any paper ends, in ms; null when none does. */
  nextPlaceExpiry(): number | null;
  media(paper: string, path: string): Media | null;
  allMedia(paper: string): Media[];
  /** The content of every media file that a record after `n` names, in order. */
  mediaAfter(n: number): { n: number; digest: string }[];
  page(paper: string, slug: string): Page | null;
  pages(paper: string): Page[];
}

/** A paper that was removed: its last record. `removed_at` in ms. */
export interface RemovedPaper extends Paper {
  removed_at: number;
}

const PAPER = { body: json<PaperBody>(), slug: text, edition: integer, changed_at: integer };
const REMOVED = { ...PAPER, removed_at: integer };
const spread = <Row extends { body: PaperBody }>({ body, ...rest }: Row) => ({ ...body, ...rest });

export function paperTables(db: Db): PaperTable {
  const { run, one, all } = sql(db);
  const hasPaper = one('SELECT 1 FROM papers WHERE slug = ? AND removed_at IS NULL', integer);
  const version = one('SELECT max(version) FROM papers', orNull(integer));
  const changed = all(
    'SELECT body, slug, edition, changed_at, removed_at FROM papers WHERE version > ?',
    { ...PAPER, removed_at: orNull(integer) },
    ({ removed_at, ...paper }) => (removed_at === null ? spread(paper) : { ...spread(paper), removed_at }),
  );
  const NEXT = '(SELECT coalesce(max(version), 0) + 1 FROM papers)';
  const set = run(
    `INSERT INTO papers (slug, body, edition, changed_at, seq, version) VALUES (?, ?, 0, ?, 0, ${NEXT})
     ON CONFLICT DO UPDATE SET body = excluded.body, removed_at = NULL, version = excluded.version`,
  );
  const remove = run(`UPDATE papers SET removed_at = ?, version = ${NEXT} WHERE slug = ?`);
  const bump = run(
    `UPDATE papers SET edition = edition + 1, changed_at = max(changed_at, ?), version = ${NEXT} WHERE slug = ?`,
  );
  const cap = run(`UPDATE papers SET changed_at = ?2, version = ${NEXT} WHERE slug = ?1 AND changed_at > ?2`);
  const seq = one('SELECT seq FROM papers WHERE slug = ?', integer);
  const takeSeq = run('UPDATE papers SET seq = ? WHERE slug = ? AND seq = ?');
  const RECORD = 'SELECT body FROM records WHERE paper = ? AND kind = ? AND name = ? ORDER BY n DESC LIMIT 1';
  const NEWEST_OF = `FROM records r WHERE paper = ? AND kind = ?
       AND n = (SELECT max(n) FROM records WHERE paper = r.paper AND kind = r.kind AND name = r.name)
     ORDER BY name`;
  const [NEWEST, PAGES] = [`SELECT body ${NEWEST_OF}`, `SELECT name, body ${NEWEST_OF}`];
  const [persona, personas] = [one(RECORD, json<Persona>()), all(NEWEST, json<Persona>())];
  const [cast, casts] = [one(RECORD, json<Cast>()), all(NEWEST, json<Cast>())];
  // A page that was removed has a record whose body is null.
  const [page, pages] = [
    one(RECORD, json<PageBody | null>()),
    all(PAGES, { name: text, body: json<PageBody | null>() }),
  ];
  const placement = one(RECORD, json<Placement>());
  const placements = all(
    `SELECT p.slug, r.body FROM papers p LEFT JOIN records r
       ON p.removed_at IS NULL
       AND r.n = (SELECT max(n) FROM records WHERE paper = p.slug AND kind = 'front' AND name = '')
     WHERE p.version > ?`,
    { slug: text, body: orNull(json<Placement>()) },
  );
  /** When the first placement of each paper ends that has one, in ms, as of a version that was committed. */
  const ends = new Map<string, number>();
  let endsVersion = -1;
  // A file that was removed has a record whose body is null.
  const [media, allMedia] = [one(RECORD, json<Media | null>()), all(NEWEST, json<Media | null>())];

  return {
    paper: one(
      'SELECT body, slug, edition, changed_at FROM papers WHERE slug = ? AND removed_at IS NULL',
      PAPER,
      spread,
    ),
    hasPaper: (slug) => hasPaper(slug) !== null,
    paperSlugs: all('SELECT slug FROM papers WHERE removed_at IS NULL ORDER BY slug', text),
    removedPapers: all(
      'SELECT body, slug, edition, changed_at, removed_at FROM papers WHERE removed_at IS NOT NULL ORDER BY slug',
      REMOVED,
      spread,
    ),
    removedPaper: one(
      'SELECT body, slug, edition, changed_at, removed_at FROM papers WHERE slug = ? AND removed_at IS NOT NULL',
      REMOVED,
      spread,
    ),
    papersVersion: () => version() ?? 0,
    changedPapers: changed,
    setPaper(slug, body, at) {
      set(slug, JSON.stringify(body), at);
    },
    removePaper(slug, at) {
      remove(at, slug);
    },
    bumpEdition: (slug, at) => void bump(at, slug),
    capChangedAt: (slug, time) => void cap(slug, time),
    nextSeq: (slug) => (seq(slug) ?? 0) + 1,
    takeSeq(slug, taken) {
      if (takeSeq(taken, slug, taken - 1) !== 1) {
        throw new Error(`seq ${taken} of ${slug} does not follow the last one`);
      }
    },
    record: one(RECORD, json<unknown>()),
    persona: (paper, slug) => persona(paper, 'persona', slug),
    personas: (paper) => personas(paper, 'persona'),
    cast: (paper, day) => cast(paper, 'cast', day),
    casts: (paper) => casts(paper, 'cast').reverse(),
    placement: (paper) => placement(paper, 'front', ''),
    nextPlaceExpiry() {
      // What is read in a transaction may be rolled back, and its version given to another change.
      if (db.inTransaction) return earliest(placements(-1).map(({ body }) => endOf(body)));
      const newest = version() ?? 0;
      if (newest !== endsVersion) {
        for (const { slug, body } of placements(endsVersion)) {
          const end = endOf(body);
          if (end === null) ends.delete(slug);
          else ends.set(slug, end);
        }
        endsVersion = newest;
      }
      return earliest(ends.values());
    },
    media: (paper, path) => media(paper, 'media', path),
    allMedia: (paper) => allMedia(paper, 'media').filter((body) => body !== null),
    mediaAfter: all(
      `SELECT n, json_extract(body, '$.digest') AS digest FROM records
       WHERE n > ? AND kind = 'media' AND json_extract(body, '$.digest') IS NOT NULL ORDER BY n`,
      { n: integer, digest: text },
    ),
    page(paper, slug) {
      const body = page(paper, 'page', slug);
      return body === null ? null : { ...body, slug };
    },
    pages: (paper) =>
      pages(paper, 'page').flatMap(({ name, body }) => (body === null ? [] : [{ ...body, slug: name }])),
  };
}

/** When the first place of a front ends, in ms; null when none does. */
function endOf(placement: Placement | null): number | null {
  return placement === null ? null : earliest([placement.lead, ...placement.pins].map((place) => place?.until ?? null));
}

function earliest(times: Iterable<number | null>): number | null {
  let first: number | null = null;
  for (const time of times) if (time !== null && (first === null || time < first)) first = time;
  return first;
}

import type { Cast } from '../../desk/papers/cast.ts';
import type { Persona } from '../../desk/papers/masthead.ts';
import type { Media } from '../../desk/papers/media.ts';
import type { Page, PageBody } from '../../desk/papers/page.ts';
import type { PaperBody } from '../../desk/papers/paper.ts';
import type { Placement } from '../../desk/placement.ts';
import { type Db, integer, isInTransaction, json, orNull, sql, text } from '../../shared/sql/sql.ts';

const PAPER = { body: json<PaperBody>(), slug: text, edition: integer, changed_at: integer };
const REMOVED = { ...PAPER, removed_at: integer };
const spread = <Row extends { body: PaperBody }>({ body, ...rest }: Row) => ({ ...body, ...rest });

export type PaperTable = ReturnType<typeof paperTables>;

/** Papers, and the newest record of each persona, cast, media file and page. */
export function paperTables(db: Db) {
  const { run, changed, one, has, number, all } = sql(db);
  const PAPERS = 'SELECT body, slug, edition, changed_at FROM papers';
  const REMOVED_PAPERS = 'SELECT body, slug, edition, changed_at, removed_at FROM papers';
  const version = number('SELECT max(version) FROM papers');
  const NEXT = '(SELECT coalesce(max(version), 0) + 1 FROM papers)';
  const set = run(
    `INSERT INTO papers (slug, body, edition, changed_at, seq, version) VALUES (?, ?, 0, ?, 0, ${NEXT})
     ON CONFLICT DO UPDATE SET body = excluded.body, removed_at = NULL, version = excluded.version`,
  );
  const seq = number('SELECT seq FROM papers WHERE slug = ?');
  const takeSeq = changed('UPDATE papers SET seq = ? WHERE slug = ? AND seq = ?');
  const RECORD = 'SELECT body FROM records WHERE paper = ? AND kind = ? AND name = ? ORDER BY n DESC LIMIT 1';
  // A removal is a record whose body is null.
  const newest = <T>() => ({
    one: one(RECORD, json<T | null>()),
    all: all(
      `SELECT name, body FROM records r WHERE paper = ? AND kind = ?
         AND n = (SELECT max(n) FROM records WHERE paper = r.paper AND kind = r.kind AND name = r.name)
       ORDER BY name`,
      { name: text, body: json<T | null>() },
    ),
  });
  const [personas, casts, pages, media] = [newest<Persona>(), newest<Cast>(), newest<PageBody>(), newest<Media>()];
  const placement = one(RECORD, json<Placement>());
  const placements = all(
    `SELECT p.slug, r.body FROM papers p LEFT JOIN records r
       ON p.removed_at IS NULL
       AND r.n = (SELECT max(n) FROM records WHERE paper = p.slug AND kind = 'front' AND name = '')
     WHERE p.version > ?`,
    { slug: text, body: orNull(json<Placement>()) },
  );
  /** When each paper's first placement ends, in ms, for papers that have one; valid for a committed version. */
  const ends = new Map<string, number>();
  let endsVersion = -1;
  const bodies = <T>(rows: { body: T | null }[]): T[] => rows.map(({ body }) => body).filter((body) => body !== null);

  return {
    paper: one(`${PAPERS} WHERE slug = ? AND removed_at IS NULL`, PAPER, spread),
    hasPaper: has('SELECT 1 FROM papers WHERE slug = ? AND removed_at IS NULL'),
    paperSlugs: all('SELECT slug FROM papers WHERE removed_at IS NULL ORDER BY slug', text),
    /** Removed papers as they were before removal. */
    removedPapers: all(`${REMOVED_PAPERS} WHERE removed_at IS NOT NULL ORDER BY slug`, REMOVED, spread),
    removedPaper: one(`${REMOVED_PAPERS} WHERE slug = ? AND removed_at IS NOT NULL`, REMOVED, spread),
    /** Increases with every visible change of any paper or its hosts, so that one cheap read detects changes. */
    papersVersion: version,
    /** The papers changed after a version, including removed ones, unordered. Pass -1 for all. */
    changedPapers: all(
      `${REMOVED_PAPERS} WHERE version > ?`,
      { ...PAPER, removed_at: orNull(integer) },
      ({ removed_at, ...paper }) => (removed_at === null ? spread(paper) : { ...spread(paper), removed_at }),
    ),
    /** Adds or changes a paper. A removed paper is restored. */
    setPaper: (slug: string, body: PaperBody, at: number): void => void set(slug, JSON.stringify(body), at),
    removePaper: run(`UPDATE papers SET removed_at = ?2, version = ${NEXT} WHERE slug = ?1`),
    /** Counts changes that readers can see; `at` is the time of the last one. */
    bumpEdition: run(
      `UPDATE papers SET edition = edition + 1, changed_at = max(changed_at, ?2), version = ${NEXT} WHERE slug = ?1`,
    ),
    /** Lowers the time of the last change if it is later than this. */
    capChangedAt: run(`UPDATE papers SET changed_at = ?2, version = ${NEXT} WHERE slug = ?1 AND changed_at > ?2`),
    nextSeq: (slug: string): number => seq(slug) + 1,
    /** Assigns the paper's next number. Throws unless the last one was the one before it. */
    takeSeq(slug: string, taken: number): void {
      if (!takeSeq(taken, slug, taken - 1)) throw new Error(`seq ${taken} of ${slug} does not follow the last one`);
    },
    /** The newest record of a paper with this kind and name, as applied; null if there is none or it was removed. */
    record: one(RECORD, json<unknown>()),
    persona: (paper: string, slug: string): Persona | null => personas.one(paper, 'persona', slug),
    personas: (paper: string): Persona[] => bodies(personas.all(paper, 'persona')),
    cast: (paper: string, day: string): Cast | null => casts.one(paper, 'cast', day),
    /** Newest first. */
    casts: (paper: string): Cast[] => bodies(casts.all(paper, 'cast')).reverse(),
    /** Null for a paper whose front was never edited. */
    placement: (paper: string): Placement | null => placement(paper, 'front', ''),
    /** When the next placement of any paper ends, in ms; null when none does. */
    nextPlaceExpiry(): number | null {
      // A transaction may be rolled back, and its version then given to another change, so nothing read in it is
      // cached.
      if (isInTransaction(db)) return earliest(placements(-1).map(({ body }) => endOf(body)));
      const newest = version();
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
    media: (paper: string, path: string): Media | null => media.one(paper, 'media', path),
    allMedia: (paper: string): Media[] => bodies(media.all(paper, 'media')),
    /** The content of the media files in records above a number, in order. */
    mediaAfter: all(
      `SELECT n, json_extract(body, '$.digest') AS digest FROM records
       WHERE n > ? AND kind = 'media' AND json_extract(body, '$.digest') IS NOT NULL ORDER BY n`,
      { n: integer, digest: text },
    ),
    page(paper: string, slug: string): Page | null {
      const body = pages.one(paper, 'page', slug);
      return body && { ...body, slug };
    },
    pages: (paper: string): Page[] =>
      pages.all(paper, 'page').flatMap(({ name, body }) => (body === null ? [] : [{ ...body, slug: name }])),
  };
}

/** When the first place of a front ends, in ms; null when none does. */
function endOf(placement: Placement | null): number | null {
  return placement === null ? null : earliest([placement.lead, ...placement.pins].map((place) => place?.until ?? null));
}

function earliest(times: Iterable<number | null>): number | null {
  const first = Math.min(...[...times].filter((time) => time !== null));
  return first === Number.POSITIVE_INFINITY ? null : first;
}

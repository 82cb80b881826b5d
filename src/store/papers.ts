import type { Cast } from '../desk/cast.ts';
import type { Persona } from '../desk/masthead.ts';
import type { Media } from '../desk/media.ts';
import type { Paper, PaperBody } from '../desk/paper.ts';
import type { Db } from './open.ts';

/** Papers, and the newest record of each of their personas, video editions and media. */
export function paperTables(db: Db) {
  const get = db.prepare('SELECT slug, body, edition, changed_at FROM papers WHERE slug = ?');
  const slugs = db.prepare('SELECT slug FROM papers ORDER BY slug');
  const editions = db.prepare('SELECT coalesce(sum(edition), 0) AS sum, count(*) AS n FROM papers');
  const set = db.prepare(
    `INSERT INTO papers (slug, body, edition, changed_at, seq) VALUES (?, ?, 0, ?, 0)
     ON CONFLICT DO UPDATE SET body = excluded.body`,
  );
  const bump = db.prepare('UPDATE papers SET edition = edition + 1, changed_at = max(changed_at, ?) WHERE slug = ?');
  const seq = db.prepare('SELECT seq FROM papers WHERE slug = ?');
  const takeSeq = db.prepare('UPDATE papers SET seq = ? WHERE slug = ? AND seq = ? - 1');
  const record = db.prepare(
    'SELECT body FROM records WHERE paper = ? AND kind = ? AND name = ? ORDER BY n DESC LIMIT 1',
  );
  const newest = db.prepare(
    `SELECT name, body FROM records r WHERE paper = ? AND kind = ?
       AND n = (SELECT max(n) FROM records WHERE paper = r.paper AND kind = r.kind AND name = r.name)
     ORDER BY name`,
  );

  const one = <T>(paper: string, kind: string, name: string): T | null => {
    const row = record.get(paper, kind, name) as { body: string } | undefined;
    return row === undefined ? null : (JSON.parse(row.body) as T);
  };
  const every = <T>(paper: string, kind: string): T[] =>
    (newest.all(paper, kind) as { body: string }[]).map(({ body }) => JSON.parse(body) as T);

  return {
    paper(slug: string): Paper | null {
      const row = get.get(slug) as { slug: string; body: string; edition: number; changed_at: number } | undefined;
      if (row === undefined) return null;
      const { body, edition, changed_at } = row;
      return { ...(JSON.parse(body) as PaperBody), slug, edition, changed_at };
    },
    paperSlugs: (): string[] => (slugs.all() as { slug: string }[]).map(({ slug }) => slug),
    /** Grows with every change that a reader of any paper can see: one cheap look tells that nothing changed. */
    editions(): number {
      const { sum, n } = editions.get() as { sum: number; n: number };
      return sum + n;
    },
    setPaper(slug: string, body: PaperBody, at: number): void {
      set.run(slug, JSON.stringify(body), at);
    },
    bumpEdition(slug: string, at: number): void {
      bump.run(at, slug);
    },
    nextSeq: (slug: string): number => ((seq.get(slug) as { seq: number } | undefined)?.seq ?? 0) + 1,
    takeSeq(slug: string, taken: number): void {
      if (takeSeq.run(taken, slug, taken).changes !== 1) {
        throw new Error(`seq ${taken} of ${slug} does not follow the last one`);
      }
    },
    /** The newest record of a kind and a name as it was applied, or null. */
    record: (paper: string, kind: string, name: string) => one<unknown>(paper, kind, name),
    persona: (paper: string, slug: string) => one<Persona>(paper, 'persona', slug),
    personas: (paper: string) => every<Persona>(paper, 'persona'),
    cast: (paper: string, day: string) => one<Cast>(paper, 'cast', day),
    casts: (paper: string) => every<Cast>(paper, 'cast').reverse(),
    media: (paper: string, path: string) => one<Media>(paper, 'media', path),
    allMedia: (paper: string) => every<Media>(paper, 'media'),
  };
}

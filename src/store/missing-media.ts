import { integer, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import { sql } from './sql.ts';

/** A media file that the ledger names and DATA_DIR does not hold whole. */
export interface MissingMedia {
  digest: string;
  /** Distinguishes the damaged file from its replacement; null when there is no file. */
  damaged: string | null;
  /** When it was noticed, in ms. */
  at: number;
}

/** The media for which presses show stand-ins. All other readers of media use this too, so that they agree. */
export interface MissingMediaTable {
  all(): MissingMedia[];
  has(digest: string): boolean;
  note(missing: MissingMedia): void;
  clear(digest: string): void;
}

export function missingMediaTable(db: Db): MissingMediaTable {
  const { run, one, all } = sql(db);
  const known = one('SELECT 1 FROM missing_media WHERE digest = ?', integer);
  const note = run(
    `INSERT INTO missing_media (digest, damaged, at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET damaged = excluded.damaged`,
  );
  const clear = run('DELETE FROM missing_media WHERE digest = ?');
  return {
    all: all('SELECT digest, damaged, at FROM missing_media ORDER BY digest', {
      digest: text,
      damaged: orNull(text),
      at: integer,
    }),
    has: (digest) => known(digest) !== null,
    note: ({ digest, damaged, at }) => void note(digest, damaged, at),
    clear: (digest) => void clear(digest),
  };
}

import type { GenerationEntry, LedgerEntry } from '../desk/ledger-entry.ts';
import type { VerifyingKey } from '../ledger/keyring.ts';
import type { Piece } from '../ledger/piece.ts';
import type { Db } from './open.ts';

/** A generation's columns as a piece reads them. */
export interface PieceRow {
  piece: string;
  revision: number;
  slug: string;
  headline: string;
  dek: string;
  category: string;
  kind: Piece['kind'];
  persona: string;
  byline_name: string;
  byline_title: string;
  language: string;
  image: string | null;
  credit: string | null;
  correction: string | null;
  revised_at: number | null;
  prose: string;
  cited_facts: string;
}

interface GenerationRow extends PieceRow {
  at: number;
  paper: string;
  seq: number;
  content_hash: string;
  receipt: string;
  receipt_hash: string;
  filed_by: string;
  kid: string;
}

/** The filed content in a generation's row. */
export function pieceFromRow(row: PieceRow): Piece {
  return {
    id: row.piece,
    revision: row.revision,
    slug: row.slug,
    headline: row.headline,
    dek: row.dek,
    prose: row.prose,
    cited_facts: JSON.parse(row.cited_facts) as Piece['cited_facts'],
    category: row.category,
    kind: row.kind,
    persona: row.persona,
    byline: { name: row.byline_name, title: row.byline_title },
    language: row.language,
    image: row.image === null ? null : (JSON.parse(row.image) as Piece['image']),
    credit: row.credit,
    correction: row.correction,
    revised_at: row.revised_at,
  };
}

/** The append-only tables: written in order, read in order. */
export function ledgerTables(db: Db) {
  const spine = db.prepare('INSERT INTO entries (kind, at) VALUES (?, ?)');
  const key = db.prepare('INSERT INTO door_keys (n, kid, name, public_key) VALUES (?, ?, ?, ?)');
  const retirement = db.prepare('INSERT INTO retirements (n, kid) VALUES (?, ?)');
  const record = db.prepare('INSERT INTO records (n, paper, kind, name, body) VALUES (?, ?, ?, ?, ?)');
  const generation = db.prepare(
    `INSERT INTO generations (n, paper, piece, revision, seq, slug, headline, dek, category, kind, persona,
       byline_name, byline_title, language, image, credit, correction, revised_at, prose, cited_facts,
       content_hash, receipt, receipt_hash, filed_by, kid)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const airing = db.prepare('INSERT INTO airings (n, paper, piece, on_air_at, made_by) VALUES (?, ?, ?, ?, ?)');
  const withdrawal = db.prepare('INSERT INTO withdrawals (n, paper, piece, reason, made_by) VALUES (?, ?, ?, ?, ?)');
  const allKeys = db.prepare(
    `SELECT k.kid, k.name, k.public_key, e.at AS nbf, r.at AS retired_at
     FROM door_keys k JOIN entries e ON e.n = k.n
     LEFT JOIN (SELECT t.kid, x.at FROM retirements t JOIN entries x ON x.n = t.n) r ON r.kid = k.kid
     ORDER BY k.n`,
  );
  const lastFiled = db.prepare(
    `SELECT e.at FROM generations g JOIN entries e ON e.n = g.n WHERE g.paper = ? ORDER BY g.seq DESC LIMIT 1`,
  );
  const batch = db.prepare('SELECT n, kind, at FROM entries WHERE n > ? ORDER BY n LIMIT 500');
  const readers: Record<string, ReturnType<Db['prepare']>> = {
    key: db.prepare('SELECT kid, name, public_key FROM door_keys WHERE n = ?'),
    retirement: db.prepare('SELECT kid FROM retirements WHERE n = ?'),
    record: db.prepare('SELECT paper, kind, name, body FROM records WHERE n = ?'),
    generation: db.prepare('SELECT * FROM generations WHERE n = ?'),
    airing: db.prepare('SELECT paper, piece, on_air_at, made_by FROM airings WHERE n = ?'),
    withdrawal: db.prepare('SELECT paper, piece, reason, made_by FROM withdrawals WHERE n = ?'),
  };

  const insertGeneration = (n: number, entry: GenerationEntry): void => {
    const { piece } = entry;
    generation.run(
      n,
      entry.paper,
      piece.id,
      piece.revision,
      entry.seq,
      piece.slug,
      piece.headline,
      piece.dek,
      piece.category,
      piece.kind,
      piece.persona,
      piece.byline.name,
      piece.byline.title,
      piece.language,
      piece.image === null ? null : JSON.stringify(piece.image),
      piece.credit,
      piece.correction,
      piece.revised_at,
      piece.prose,
      JSON.stringify(piece.cited_facts),
      entry.content_hash,
      entry.receipt,
      entry.receipt_hash,
      entry.filed_by,
      entry.kid,
    );
  };

  return {
    append(entry: LedgerEntry): void {
      const n = Number(spine.run(entry.type, entry.at).lastInsertRowid);
      switch (entry.type) {
        case 'key':
          key.run(n, entry.kid, entry.name, entry.public_key);
          break;
        case 'retirement':
          retirement.run(n, entry.kid);
          break;
        case 'record':
          record.run(n, entry.paper, entry.kind, entry.name, JSON.stringify(entry.body));
          break;
        case 'generation':
          insertGeneration(n, entry);
          break;
        case 'airing':
          airing.run(n, entry.paper, entry.piece, entry.on_air_at, entry.made_by);
          break;
        case 'withdrawal':
          withdrawal.run(n, entry.paper, entry.piece, entry.reason, entry.made_by);
          break;
      }
    },

    /** When the newest generation of a paper was filed, in ms; 0 before the first. */
    lastFiledAt: (paper: string): number => (lastFiled.all(paper) as { at: number }[])[0]?.at ?? 0,

    /** Every entry, oldest first, read in batches so that memory stays flat. */
    *entries(): Iterable<LedgerEntry> {
      let last = 0;
      for (;;) {
        const rows = batch.all(last) as { n: number; kind: LedgerEntry['type']; at: number }[];
        if (rows.length === 0) return;
        for (const { n, kind, at } of rows) {
          const row = readers[kind]?.get(n) as object | undefined;
          if (row === undefined) throw new Error(`entry ${n} has no ${kind}`);
          yield entryFromRow(kind, at, row);
          last = n;
        }
      }
    },

    /** Every key the door ever had, oldest first. */
    doorKeys(): VerifyingKey[] {
      const rows = allKeys.all() as {
        kid: string;
        name: string;
        public_key: string;
        nbf: number;
        retired_at: number | null;
      }[];
      return rows.map(({ public_key, ...rest }) => ({
        ...rest,
        publicKey: new Uint8Array(Buffer.from(public_key, 'base64')),
      }));
    },
  };
}

function entryFromRow(kind: LedgerEntry['type'], at: number, found: object): LedgerEntry {
  // libsql puts its own timing into a row that is read by itself.
  const { _metadata, ...row } = found as { _metadata?: unknown };
  if (kind === 'generation') {
    const g = row as unknown as GenerationRow;
    return {
      type: kind,
      at,
      paper: g.paper,
      seq: g.seq,
      piece: pieceFromRow(g),
      content_hash: g.content_hash,
      receipt: g.receipt,
      receipt_hash: g.receipt_hash,
      filed_by: g.filed_by,
      kid: g.kid,
    };
  }
  if (kind === 'record') {
    const { body, ...rest } = row as { paper: string; kind: 'paper'; name: string; body: string };
    return { type: kind, at, ...rest, body: JSON.parse(body) as unknown };
  }
  return { type: kind, at, ...row } as LedgerEntry;
}

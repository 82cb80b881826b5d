import { type ClockBody, statementOf } from '../../desk/clock-correction.ts';
import { KINDS, type Piece } from '../../desk/door/piece.ts';
import type { LedgerEntry } from '../../desk/ledger-entry.ts';
import { keysUnderNames, type SigningName } from '../../desk/papers/signing-names.ts';
import type { ReviewBody } from '../../desk/review.ts';
import { correctionsIn, type Numbered, type TimeCorrection, trueTime } from '../../proof/clock-note.ts';
import type { VerifyingKey } from '../../proof/keyring.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { type Db, flag, inBatches, integer, json, oneOf, orNull, type Read, sql, text } from '../../shared/sql/sql.ts';

/** The columns of a generation from which its piece is built. */
export const PIECE = {
  piece: text,
  revision: integer,
  slug: text,
  headline: text,
  dek: text,
  prose: text,
  cited_facts: json<Piece['cited_facts']>(),
  category: text,
  kind: oneOf(...KINDS),
  persona: text,
  byline_name: text,
  byline_title: text,
  language: text,
  image: orNull(json<NonNullable<Piece['image']>>()),
  credit: orNull(text),
  authors: json<Piece['authors']>(),
  written_by: orNull(text),
  provenance: orNull(oneOf('archive')),
  tags: json<Piece['tags']>(),
  aliases: json<Piece['aliases']>(),
  correction: orNull(text),
  revised_at: orNull(integer),
};

/** The filed content of a generation. */
export function pieceOf(row: Read<typeof PIECE>): Piece {
  const { piece: id, revision, slug, headline, dek, prose, cited_facts, category, kind, persona, ...rest } = row;
  const { byline_name: name, byline_title: title, ...more } = rest;
  // The order in which ledger exports have always had these members.
  const first = { id, revision, slug, headline, dek, prose, cited_facts, category, kind, persona };
  return { ...first, byline: { name, title }, ...more };
}

/** The columns of a generation that do not belong to its piece. */
const GENERATION = {
  paper: text,
  seq: integer,
  content_hash: text,
  receipt: text,
  receipt_hash: text,
  filed_by: text,
  kid: text,
  needs_review: flag,
  awaits_evidence: flag,
};
const KEY = { kid: text, name: text, public_key: text };
const RETIREMENT = { kid: text };
const AIRING = { paper: text, piece: text, on_air_at: integer, awaits_evidence: flag, made_by: text };
const WITHDRAWAL = { paper: text, piece: text, reason: text, withhold_headline: flag, made_by: text };
const RECORD_KINDS = [
  ...(['paper', 'persona', 'cast', 'media', 'page', 'front', 'signing-name', 'clock', 'review', 'fact'] as const),
  'evidence',
] as const;

export type LedgerTables = ReturnType<typeof ledgerTables>;

/** The append-only tables of the ledger. */
export function ledgerTables(db: Db) {
  const { run, insert, one, number, all } = sql(db);
  const spine = one('INSERT INTO entries (kind, at) VALUES (?, ?) RETURNING n', integer);
  const add = {
    key: insert('door_keys', { n: integer, ...KEY }),
    retirement: insert('retirements', { n: integer, ...RETIREMENT }),
    record: run('INSERT INTO records (n, paper, kind, name, body) VALUES (?, ?, ?, ?, ?)'),
    generation: insert('generations', { n: integer, ...PIECE, ...GENERATION }),
    airing: insert('airings', { n: integer, ...AIRING }),
    withdrawal: insert('withdrawals', { n: integer, ...WITHDRAWAL }),
  };
  const enteredKeys = all(
    `SELECT k.n, k.kid, k.name, k.public_key, e.at AS nbf, r.at AS retired_at
     FROM door_keys k JOIN entries e ON e.n = k.n
     LEFT JOIN (SELECT t.kid, x.at FROM retirements t JOIN entries x ON x.n = t.n) r ON r.kid = k.kid
     ORDER BY k.n`,
    { n: integer, kid: text, name: text, public_key: text, nbf: integer, retired_at: orNull(integer) },
    ({ public_key, ...rest }) => ({ ...rest, publicKey: new Uint8Array(Buffer.from(public_key, 'base64')) }),
  );
  const signingNames = all(
    `SELECT name AS service, body FROM records WHERE paper = '' AND kind = 'signing-name' AND name = ? ORDER BY n`,
    { service: oneOf('desk', 'records'), body: json<Omit<SigningName, 'service'>>() },
    ({ service, body }) => ({ service, ...body }),
  );
  const lastFiled = one(
    `SELECT e.at, g.seq FROM generations g JOIN entries e ON e.n = g.n WHERE g.paper = ? ORDER BY g.seq DESC LIMIT 1`,
    { at: integer, seq: integer },
  );
  const founded = one(
    `SELECT e.at FROM records r JOIN entries e ON e.n = r.n WHERE r.paper = ? AND r.kind = 'paper' ORDER BY r.n LIMIT 1`,
    integer,
  );
  const clockNotes = all(
    `SELECT body FROM records WHERE paper = ?1 AND kind = 'clock' AND name = ?2 ORDER BY n`,
    json<ClockBody>(),
    ({ note }) => note,
  );
  const reviewNotes = all(
    "SELECT body FROM records WHERE paper = ? AND kind = 'review' AND name = ? ORDER BY n",
    json<ReviewBody>(),
    ({ note }) => note,
  );
  const corrections = (service: LogService, paper: string, of?: Numbered): TimeCorrection[] =>
    correctionsIn(clockNotes(paper, service).map(statementOf), of);
  const correctedAt = all("SELECT e.n, e.at FROM records r JOIN entries e ON e.n = r.n WHERE r.kind = 'clock'", {
    n: integer,
    at: integer,
  });
  // A key made while the clock ran ahead is valid from the corrected time.
  const signingKeys = (): VerifyingKey[] => {
    const times = correctedAt();
    return enteredKeys().map(({ n, ...key }) => ({
      ...key,
      nbf: Math.min(key.nbf, ...times.flatMap((one) => (one.n > n ? [one.at] : []))),
    }));
  };
  const batch = all('SELECT n, kind, at FROM entries WHERE n > ? ORDER BY n LIMIT 500', {
    n: integer,
    kind: oneOf('key', 'retirement', 'record', 'generation', 'airing', 'withdrawal'),
    at: integer,
  });
  const read = {
    key: one('SELECT * FROM door_keys WHERE n = ?', KEY),
    retirement: one('SELECT kid FROM retirements WHERE n = ?', RETIREMENT),
    record: one('SELECT paper, kind, name, body FROM records WHERE n = ?', {
      paper: text,
      kind: oneOf(...RECORD_KINDS),
      name: text,
      body: json<unknown>(),
    }),
    generation: one(
      'SELECT * FROM generations WHERE n = ?',
      { ...PIECE, ...GENERATION },
      ({ paper, seq, content_hash, receipt, receipt_hash, filed_by, kid, needs_review, awaits_evidence, ...row }) => {
        const piece = pieceOf(row);
        const waits = { ...(needs_review ? { needs_review } : {}), ...(awaits_evidence ? { awaits_evidence } : {}) };
        return { paper, seq, piece, content_hash, receipt, receipt_hash, filed_by, kid, ...waits };
      },
    ),
    airing: one('SELECT * FROM airings WHERE n = ?', AIRING, ({ awaits_evidence, made_by, ...rest }) => ({
      ...rest,
      ...(awaits_evidence ? { awaits_evidence: true as const } : {}),
      made_by,
    })),
    withdrawal: one('SELECT * FROM withdrawals WHERE n = ?', WITHDRAWAL, ({ withhold_headline, ...rest }) =>
      withhold_headline ? { ...rest, withhold_headline: true as const } : rest,
    ),
  };

  const entryAt = (n: number, kind: LedgerEntry['type'], at: number): LedgerEntry => {
    const row = read[kind](n);
    if (row === null) throw new Error(`entry ${n} has no ${kind}`);
    return { type: kind, at, ...row } as LedgerEntry;
  };

  return {
    append(entry: LedgerEntry): void {
      const n = spine(entry.type, entry.at) ?? 0;
      switch (entry.type) {
        case 'key':
          return void add.key({ n, ...entry });
        case 'retirement':
          return void add.retirement({ n, ...entry });
        case 'record':
          return void add.record(n, entry.paper, entry.kind, entry.name, JSON.stringify(entry.body));
        case 'generation': {
          const { piece } = entry;
          const [byline_name, byline_title] = [piece.byline.name, piece.byline.title];
          const of = { piece: piece.id, byline_name, byline_title };
          return void add.generation({ n, needs_review: false, awaits_evidence: false, ...piece, ...entry, ...of });
        }
        case 'airing':
          return void add.airing({ n, awaits_evidence: false, ...entry });
        case 'withdrawal':
          return void add.withdrawal({ n, withhold_headline: false, ...entry });
      }
    },
    foundedAt: (paper: string): number => founded(paper) ?? 0,
    /** When the newest generation of a paper was filed, in ms, after corrections of the clock; 0 before the first. */
    lastFiledAt(paper: string): number {
      const last = lastFiled(paper);
      return last === null ? 0 : trueTime(last.at, last.seq, corrections('desk', paper));
    },
    /** Every entry, oldest first, read in batches to bound memory. */
    *entries(): Iterable<LedgerEntry> {
      for (const { n, kind, at } of inBatches(batch, [0], ({ n }) => [n])) yield entryAt(n, kind, at);
    },
    /** Every signing key of the filing door, current and retired, oldest first, under the name in its entry. */
    signingKeys,
    /** Like `signingKeys`, with the times in their log leaves, before corrections of the clock. */
    keysAsEntered: (): VerifyingKey[] => enteredKeys().map(({ n: _n, ...key }) => key),
    /** The same keys, once for each name under which they sign for a service. */
    verifyingKeys: (service: LogService): VerifyingKey[] => keysUnderNames(signingKeys(), signingNames(service)),
    /** Names under which keys signed later, oldest first. */
    signingNames: (service: LogService): SigningName[] => signingNames(service),
    /** The corrections of the clock for a paper, or for the domain records (`''`), oldest first: signed notes. */
    clockNotes: (service: LogService, paper: string): string[] => clockNotes(paper, service),
    /** The reviews of a piece of a paper, oldest first: signed notes. */
    reviewNotes,
    reviewCount: number("SELECT count(*) FROM records WHERE paper = ? AND kind = 'review'"),
    corrections,
    /** The newest receipt of each paper. */
    signedLast: all('SELECT g.receipt FROM papers p JOIN generations g ON g.paper = p.slug AND g.seq = p.seq', text),
  };
}

import { append } from '../desk/append.ts';
import type { Piece } from '../desk/door/piece.ts';
import type { FileProblem } from '../desk/ingest/source-file.ts';
import type { GenerationEntry } from '../desk/ledger-entry.ts';
import { DRAFT } from '../desk/ledger-store.ts';
import type { Place } from '../desk/placement.ts';
import { basisOf, contentHash, sha256 } from '../proof/basis.ts';
import { IN_MEMORY } from '../shared/sql/open.ts';
import { openStore, type Store } from '../store/store.ts';
import { type DeskPiece, savedAt } from './piece.ts';

/** A piece's row in the store and what it was made from, so that an unchanged piece keeps its row. */
interface Stored {
  id: string;
  piece: DeskPiece;
  content: string;
}

/** The writing desk's store, in memory: every piece is on air in it, unsigned. */
export function deskStore(now: () => number) {
  let store = openStore({ file: IN_MEMORY });
  let known = new Map<string, Stored>();
  let made = 0;

  /** Puts a piece on air in the store, unsigned. Returns its id, which is valid only for this run of the desk. */
  const put = (
    paper: string,
    { slug, filings, files, air }: DeskPiece,
    bylines: ReadonlyMap<string, { name: string; title: string }>,
  ): string => {
    const id = sha256(`${paper}/${slug} ${made++}`).slice('sha256:'.length, 'sha256:'.length + 26);
    for (const [index, filing] of filings.entries()) {
      const { name, title } = bylines.get(filing.persona) ?? { name: filing.persona, title: '' };
      const piece: Piece = { ...filing, id, revision: index + 1, byline: { name, title } };
      const at = files[index]?.savedAt ?? 0;
      const unsigned = { receipt: '', receipt_hash: '', filed_by: 'desk', kid: '' };
      const seq = store.desk.nextSeq(paper);
      const content_hash = contentHash(basisOf(piece));
      const entry: GenerationEntry = { type: 'generation', at, paper, seq, piece, content_hash, ...unsigned };
      store.desk.append(entry);
      store.desk.setGeneration(entry);
    }
    const published_at = typeof air === 'number' ? air : (files[0]?.savedAt ?? 0);
    const newest = filings.at(-1)?.revised_at ?? files.at(-1)?.savedAt ?? 0;
    const updated_at = filings.length > 1 ? Math.max(published_at, newest) : published_at;
    store.desk.setPieceState(id, { ...DRAFT, state: 'on_air', published_at, updated_at });
    return id;
  };

  return {
    /** The current store; `clear` replaces it. */
    store: (): Store => store,
    clear(): void {
      store.database.close();
      store = openStore({ file: IN_MEMORY });
      known = new Map();
    },
    close: (): void => store.database.close(),
    /** Makes the store show exactly these pieces of a paper. */
    show(slug: string, pieces: ReadonlyMap<string, DeskPiece>): void {
      const masthead = store.desk.archive(slug).masthead();
      const bylines = new Map(masthead.map((persona) => [persona.slug, persona]));
      const next: { key: string; content: string; piece: DeskPiece }[] = [];
      for (const piece of pieces.values()) {
        const key = `${slug}/${piece.slug}`;
        const stored = known.get(key);
        // The same object means no change, not even of its byline: after a change of a record, all pieces are read
        // again.
        if (stored?.piece === piece) continue;
        const { name, title } = bylines.get(piece.filings.at(-1)?.persona ?? '') ?? {};
        const saved = piece.files.map(({ savedAt }) => savedAt);
        const content = sha256(JSON.stringify([piece.filings, piece.air, saved, name, title]));
        if (stored?.content === content) stored.piece = piece;
        else next.push({ key, content, piece });
      }
      const replaced = next.flatMap(({ key }) => known.get(key) ?? []);
      const kept = new Set([...pieces.keys()].map((name) => `${slug}/${name}`));
      for (const [key, stored] of known) {
        if (!key.startsWith(`${slug}/`) || kept.has(key)) continue;
        replaced.push(stored);
        known.delete(key);
      }
      // A transaction of its own: the search index drops pieces in the transaction that takes them off the air.
      store.database.transact(() => {
        for (const { id } of replaced) store.desk.setPieceState(id, DRAFT);
      });
      store.database.transact(() => {
        for (const { id } of replaced) store.desk.pieces.remove(id);
        for (const { key, content, piece } of next) {
          known.set(key, { id: put(slug, piece, bylines), piece, content });
        }
        store.desk.bumpEdition(slug, now());
        const letters = store.desk.scripts.scan(slug, () => store.desk.archive(slug).paper().language);
        while (letters.step());
        letters.save();
      });
    },
    /** Places the pieces on the front where their files ask for it. */
    place(paper: string, { lead, pins }: AskedPlaces): void {
      const before = store.desk.archive(paper).placement();
      const place = ({ slug }: DeskPiece): Place => {
        return { piece: known.get(`${paper}/${slug}`)?.id ?? '', until: null, made_by: 'cli' };
      };
      const asked = {
        lead: lead === null ? null : place(lead),
        pins: pins.map(({ pin, piece }) => ({ ...place(piece), pin })).sort((a, b) => a.pin - b.pin),
      };
      if (JSON.stringify({ ...asked, revision: before.revision }) === JSON.stringify(before)) return;
      const body = { ...asked, revision: before.revision + 1 };
      store.database.transact(() =>
        append(store.desk, { type: 'record', at: now(), paper, kind: 'front', name: '', body }),
      );
    },
  };
}

/** The places on the front that files ask for, and a problem for each file that asks for a taken place. */
export interface AskedPlaces {
  lead: DeskPiece | null;
  pins: { pin: number; piece: DeskPiece }[];
  problems: FileProblem[];
}

/** The file that was saved last gets a place. Drafts get none, and a place ends at its `until`. */
export function askedPlaces(pieces: Iterable<DeskPiece>, now: number): AskedPlaces {
  const places: AskedPlaces = { lead: null, pins: [], problems: [] };
  const holders = new Map<number, DeskPiece>();
  for (const piece of [...pieces].sort((a, b) => savedAt(b) - savedAt(a))) {
    const { placement, air, files } = piece;
    if (placement === null || air === false) continue;
    if (placement.until !== undefined && Date.parse(placement.until) <= now) continue;
    const pin = placement.pin ?? 0;
    const holder = holders.get(pin)?.files.at(-1)?.file;
    if (holder === undefined) {
      holders.set(pin, piece);
      if (pin === 0) places.lead = piece;
      else places.pins.push({ pin, piece });
      continue;
    }
    const what = pin === 0 ? 'leads the front too' : `has place ${pin} too`;
    const message = `${holder} ${what}; take placement out of one of the two files, or give the other an until that is over`;
    const file = files.at(-1)?.file ?? '';
    places.problems.push({ file, line: 1, field: 'placement', rule: 'place_taken', message });
  }
  return places;
}

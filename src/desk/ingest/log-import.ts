import { sameBytes } from '../../proof/bytes.ts';
import { EMPTY_EDGE, edgeRoot, growEdge, type TreeEdge } from '../../proof/log/append.ts';
import { parseCheckpoint } from '../../proof/log/checkpoint.ts';
import { type Leaf, parseLeaf } from '../../proof/log/leaf.ts';
import { LogFault } from '../../proof/log/log-fault.ts';
import { loggedEntries } from '../../proof/log/logged-entries.ts';
import { leafHash } from '../../proof/merkle.ts';
import type { LogTables } from '../../shared/transparency/log-tables.ts';
import { addNodes } from '../../shared/transparency/log-tree.ts';
import type { EvidenceBody } from '../evidence.ts';
import { factOf } from '../fact.ts';
import type { LedgerEntry } from '../ledger-entry.ts';
import { keyLeaf, retirementLeaf } from '../log-leaves.ts';
import type { ReviewBody } from '../review.ts';
import type { Intake } from './intake.ts';
import { type CosignatureLine, type HeadLine, type LogLine, readLogLine } from './ledger-lines.ts';

/**
 * Imports the lines of the desk's log, which follow those of the ledger, and checks them against it: every leaf
 * describes something in the ledger, and every receipt has a leaf; every head has the root of these leaves; the file
 * contains the cosignatures that each cosigned head names. `checkLogSignatures` verifies the signatures. Methods throw
 * a LogFault.
 */
export class LogImport {
  readonly #store: Intake['store'];
  readonly #tables: LogTables;
  /** The leaves of the ledger's keys and their retirements. */
  #keys: Set<string> | null = null;
  /** How many leaves are whole notes of receipts, facts or evidence. */
  #notes = 0;
  #hashes = 0;
  /** The tree of the newest head. */
  #edge: TreeEdge = EMPTY_EDGE;
  #head: HeadLine | null = null;
  /** Lines of the newest head's cosigned text whose cosignatures were not read yet. */
  #missing = new Set<string>();

  constructor(store: Intake['store']) {
    this.#store = store;
    this.#tables = store.log;
  }

  take(given: LogLine): void {
    const line = readLogLine(given);
    if (line.type === 'cosignature') return this.#takeCosignature(line);
    this.#requireCosignatures();
    if (line.type === 'head') this.#takeHead(line);
    if (line.type === 'leaf') this.#takeLeaf(line.entry);
  }

  /** Checks that require the whole log. Call it after the last line. */
  end(): void {
    this.#requireCosignatures();
    const size = this.#tables.size('desk');
    if (size === 0) return;
    let [notes, hashes] = [0, 0];
    const count = (text: string, what: string): void => {
      const [note, hash] = loggedEntries(text).map((leaf) => this.#indexOf(leaf) !== null);
      if (!note && !hash) throw new LogFault(`${what} has no leaf in the log`);
      if (note) notes++;
      if (hash) hashes++;
    };
    for (const entry of this.#store.entries()) {
      if (entry.type === 'record' && entry.kind === 'review') {
        const [, leaf] = loggedEntries((entry.body as ReviewBody).note);
        if (this.#indexOf(leaf) === null) throw new LogFault(`a review of ${entry.paper} has no leaf in the log`);
        hashes++;
      }
      if (entry.type === 'record' && entry.kind === 'fact') {
        const { claim_key, version, receipt } = factOf(entry);
        count(receipt, `version ${version} of ${claim_key} of ${entry.paper}`);
      }
      if (entry.type === 'record' && entry.kind === 'evidence') {
        count((entry.body as EvidenceBody).note, `the evidence for ${entry.name} of ${entry.paper}`);
      }
      if (entry.type === 'generation') count(entry.receipt, `receipt ${entry.seq} of ${entry.paper}`);
    }
    if (hashes !== this.#hashes) {
      throw new LogFault(`${this.#hashes - hashes} leaves are hashes of receipts that the ledger does not have`);
    }
    if (notes !== this.#notes) {
      throw new LogFault(`${this.#notes - notes} leaves are receipts, facts or evidence that the ledger does not have`);
    }
    while (!addNodes(this.#tables, 'desk', size));
    this.#tables.setFilled('desk', true);
  }

  #takeLeaf(entry: string): void {
    if (this.#head !== null) throw new LogFault('a leaf follows a head');
    const leaf = parseLeaf(entry);
    if (this.#indexOf(entry) !== null) throw new LogFault('the log has this leaf already');
    this.#requireKnown(leaf, entry);
    this.#tables.fill('desk', entry);
  }

  /**
   * Throws if the leaf describes nothing in the ledger. Hashes of receipts are counted here and looked up at the end.
   */
  #requireKnown(leaf: Leaf, entry: string): void {
    if (leaf.kind === 'receipt-hash') this.#hashes++;
    if (leaf.kind === 'receipt' || leaf.kind === 'fact' || leaf.kind === 'evidence') this.#notes++;
    if ((leaf.kind === 'key' || leaf.kind === 'key-retired') && !this.#keyLeaves().has(entry)) {
      throw new LogFault(`this leaf contradicts the ledger about key ${leaf.kid}`);
    }
    if (leaf.kind === 'withdrawal') {
      const { paper, piece } = leaf;
      if (this.#store.archive(paper).storyById(piece) === null) {
        throw new LogFault(`the leaf is of piece ${piece} of ${paper}, which the ledger does not have`);
      }
    }
  }

  #keyLeaves(): Set<string> {
    this.#keys ??= new Set([...this.#store.entries()].flatMap(leavesOfKey));
    return this.#keys;
  }

  #takeHead(line: HeadLine): void {
    const { origin, size, signed_at, checkpoint, cosigned } = line;
    const tables = this.#tables;
    const leaves = tables.size('desk');
    const signed = parseCheckpoint(checkpoint);
    if (signed.origin !== origin || signed.size !== size) {
      throw new LogFault(
        `it says ${origin} and size ${size}, but its checkpoint says ${signed.origin}, ${signed.size}`,
      );
    }
    if (size > leaves) throw new LogFault(`the head covers ${size} leaves, but there are ${leaves}`);
    if (size < this.#edge.size) throw new LogFault(`the head covers ${size} leaves, but the previous head covers more`);
    this.#grow(size);
    if (!sameBytes(edgeRoot(this.#edge), signed.root)) {
      throw new LogFault(`the root of the head of ${size} leaves is not that of the leaves`);
    }
    if (tables.newestHead('desk', origin)?.size === size) throw new LogFault(`${origin} has a head of ${size} already`);
    tables.addHead('desk', { origin, size, signed_at, checkpoint });
    this.#head = line;
    if (cosigned === null) return;
    if (!cosigned.startsWith(checkpoint)) throw new LogFault('what was cosigned is not this checkpoint');
    parseCheckpoint(cosigned);
    this.#missing = new Set(cosigned.slice(checkpoint.length).split('\n').slice(0, -1));
    tables.setCosigned('desk', origin, size, cosigned);
  }

  #takeCosignature({ origin, size, vkey, time, line }: CosignatureLine): void {
    if (this.#head?.origin !== origin || this.#head.size !== size) {
      throw new LogFault('a cosignature does not follow its head');
    }
    this.#tables.addCosignature('desk', { origin, size, vkey, time, line });
    this.#missing.delete(line);
  }

  #requireCosignatures(): void {
    if (this.#missing.size > 0) {
      throw new LogFault(`the head of ${this.#head?.size} leaves holds a cosignature that is not in the file`);
    }
  }

  #grow(size: number): void {
    for (let start = this.#edge.size; start < size; start += GROW) {
      const hashes = this.#tables.leafHashes('desk', start, Math.min(size, start + GROW));
      this.#edge = growEdge(this.#edge, hashes).edge;
    }
  }

  #indexOf(entry: string): number | null {
    return this.#tables.indexOf('desk', leafHash(entry));
  }
}

const GROW = 4_096;

function leavesOfKey(entry: LedgerEntry): string[] {
  if (entry.type === 'key') return [keyLeaf('desk', entry)];
  return entry.type === 'retirement' ? [retirementLeaf('desk', entry)] : [];
}

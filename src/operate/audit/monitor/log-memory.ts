import * as z from 'zod';
import { verifyNode } from '../../../proof/ed25519.ts';
import { signingPeriodFaults } from '../../../proof/key-text.ts';
import { isSignedBy, type VerifyingKey } from '../../../proof/keyring.ts';
import type { Leaf, LogService } from '../../../proof/log/leaf.ts';
import { shown } from '../../../proof/log/log-fault.ts';
import { parseNote } from '../../../proof/note.ts';
import type { Receipt } from '../../../proof/receipt.ts';
import { isoTime } from '../../../proof/time.ts';
import { Fault } from '../../../shared/fault.ts';
import { keyLeafFault, publicKeyIn } from '../log/leaf.ts';
import type { LeafIndex } from './leaf-index.ts';

/** A problem that a monitor found. */
export const Finding = z.strictObject({
  kind: z.enum([
    /** The log has another history than it had. */
    'fork',
    /** The log has fewer leaves than it had. */
    'shrunken',
    /** Two receipts claim the same revision, or the same number. */
    'two-receipts',
    /** A receipt is not signed by a key that the log announces for its time, or a key is announced wrongly. */
    'key',
    /** An entry is not a well-formed leaf. */
    'leaf',
    /** A page shows a receipt that the log does not have. */
    'unlogged',
    /** A page does not show the signed text. */
    'altered',
    /** A page has gone or shows another piece, and no leaf says that it was withdrawn. */
    'gone',
  ]),
  /** The log's origin with the leaf, or the page. */
  where: z.string(),
  /** What was found, and what it means, each one line. */
  what: z.string(),
  means: z.string(),
});
export type Finding = z.infer<typeof Finding>;

/** A finding in one line for people. */
export function findingLine({ kind, where, what, means }: Finding): string {
  return `${where}: ${kind}: ${what}; ${means}`;
}

const KEYS_MAX = 10_000;
/** Lines of a receipt's note that are verified; a desk signs with one key. */
const SIGNATURES_MAX = 4;

/** A key that the log has announced. Times in ms. */
export const LoggedKey = z.strictObject({
  service: z.string(),
  kid: z.string(),
  /** Base64url. */
  x: z.string(),
  nbf: z.number(),
  retired_at: z.number().nullable(),
  /** The latest time of a logged receipt by this key; null before the first. */
  latest: z.number().nullable(),
});
type LoggedKey = z.infer<typeof LoggedKey>;

/** A finding without `where`. */
type Found = Omit<Finding, 'where'>;

/** What a monitor remembers of the leaves, and the rules for the next leaf. It reads each leaf once, in order. */
export class LogMemory {
  readonly names: LeafIndex;
  /** Corrections of the clock among the leaves that were read, in words. */
  readonly corrections: string[] = [];
  readonly #keys: Map<string, LoggedKey>;

  constructor(names: LeafIndex, keys: LoggedKey[]) {
    this.names = names;
    this.#keys = new Map(keys.map((key) => [nameOf(key.service, key.kid), key]));
  }

  keys(): LoggedKey[] {
    return [...this.#keys.values()];
  }

  /** Those of the given keys that the log announces for the desk, with the times in the log. */
  announced(keys: VerifyingKey[]): VerifyingKey[] {
    return keys.flatMap((key) => {
      const logged = this.#keys.get(nameOf('desk', key.kid));
      return logged === undefined ? [] : [{ ...key, nbf: logged.nbf, retired_at: logged.retired_at }];
    });
  }

  /** The leaf of the receipt for a revision of a piece; null when there is none. */
  leafOf({ paper, piece, revision }: Pick<Receipt, 'paper' | 'piece' | 'revision'>): number | null {
    return this.names.get(revisionName(paper, piece, revision));
  }

  /** The newest leaf that withdraws a piece; null when there is none. */
  withdrawalOf(paper: string, piece: string): number | null {
    return this.names.get(withdrawalName(paper, piece));
  }

  /** Reads the next leaf. Returns the findings about it. */
  take(index: number, leaf: Leaf): Found[] {
    switch (leaf.kind) {
      case 'receipt':
        return [...this.#takeSignature(leaf), ...this.#takeNames(index, leaf.receipt)];
      case 'withdrawal':
        this.names.set(withdrawalName(leaf.paper, leaf.piece), index);
        return [];
      case 'key':
        return this.#takeKey(leaf);
      case 'key-retired':
        return this.#retire(leaf);
      case 'clock':
        return this.#takeClock(index, leaf);
      case 'archive':
        return this.#takeArchive(index, leaf);
      case 'dump':
        return this.#takeDump(index, leaf);
      case 'fact':
        return this.#takeFact(index, leaf);
      case 'evidence':
        return this.#takeEvidence(index, leaf);
      case 'receipt-hash':
        return [];
    }
  }

  #takeNames(index: number, { paper, piece, revision, seq }: Receipt): Found[] {
    return [
      ...this.#claim(index, revisionName(paper, piece, revision), `revision ${revision} of piece ${piece} in ${paper}`),
      ...this.#claim(index, `seq\n${paper}\n${seq}`, `no. ${seq} of ${paper}`),
    ];
  }

  /** Claims a name for a leaf. An earlier leaf with the same name is a finding. */
  #claim(index: number, name: string, what: string): Found[] {
    const earlier = this.names.get(name);
    if (earlier === null) {
      this.names.set(name, index);
      return [];
    }
    const means = 'readers can be shown either of them, so the paper has said two things where it may say one';
    return [{ kind: 'two-receipts', what: `leaf ${earlier} is another receipt for ${what}`, means }];
  }

  #takeFact(index: number, { note, fact }: Extract<Leaf, { kind: 'fact' }>): Found[] {
    const { paper, claim_key, version, seq, kid, signed_at } = fact;
    const what = `version ${version} of the fact ${claim_key} in ${paper}`;
    return [
      ...this.#takeSigned(note, { kid, what, verb: 'signed', time: signed_at }),
      ...this.#claim(index, `fact\n${paper}\n${claim_key}\n${version}`, what),
      ...this.#claim(index, `fact-seq\n${paper}\n${seq}`, `no. ${seq} of the facts of ${paper}`),
    ];
  }

  #takeEvidence(index: number, { note, evidence }: Extract<Leaf, { kind: 'evidence' }>): Found[] {
    const { paper, seq, kid, read_at } = evidence;
    const what = `no. ${seq} of the readings of ${paper}`;
    return [
      ...this.#takeSigned(note, { kid, what, verb: 'made', time: read_at }),
      ...this.#claim(index, `evidence-seq\n${paper}\n${seq}`, what),
    ];
  }

  #takeArchive(index: number, { note, archive }: Extract<Leaf, { kind: 'archive' }>): Found[] {
    const { generation, kid, signed_at } = archive;
    const what = `manifest ${generation} of the archive`;
    return [
      ...this.#takeSigned(note, { kid, what, verb: 'signed', time: signed_at }, 'records'),
      ...this.#claim(index, `archive\n${generation}`, what),
    ];
  }

  #takeDump(index: number, { note, dump }: Extract<Leaf, { kind: 'dump' }>): Found[] {
    const { day, generation, kid, signed_at } = dump;
    const what = `dump ${generation} of ${day}`;
    return [
      ...this.#takeSigned(note, { kid, what, verb: 'signed', time: signed_at }, 'records'),
      ...this.#claim(index, `dump\n${day}\n${generation}`, what),
    ];
  }

  #takeSignature({ note, receipt }: Extract<Leaf, { kind: 'receipt' }>): Found[] {
    const { paper, piece, revision, kid, filed_at } = receipt;
    const what = `the receipt for revision ${revision} of piece ${piece} in ${paper}`;
    return this.#takeSigned(note, { kid, what, verb: 'filed', time: filed_at });
  }

  #takeSigned(
    note: string,
    { kid, what, verb, time }: Record<'kid' | 'what' | 'verb' | 'time', string>,
    service: LogService = 'desk',
  ): Found[] {
    const key = this.#keys.get(nameOf(service, kid));
    if (key === undefined) {
      const means = 'somebody signs with a key that the paper has not announced';
      return [{ kind: 'key', what: `${what} names key ${shown(kid)}, which no earlier leaf announces`, means }];
    }
    if (!isSigned(note, key)) {
      const means = 'it proves nothing, and a paper does not log what it has not signed';
      return [{ kind: 'key', what: `${what} is not signed by the key that it names, ${key.kid}`, means }];
    }
    const signed = Date.parse(time);
    const faults = signingPeriodFaults(`${what} was ${verb}`, time, key);
    key.latest = Math.max(key.latest ?? signed, signed);
    const means = 'it was back-dated or postdated, or somebody signs with a retired key';
    return faults.map((fault) => ({ kind: 'key', what: fault, means }));
  }

  /**
   * A correction of the clock: no key of the service began, and none signed, later than the true time that it states.
   */
  #takeClock(index: number, { note, clock }: Extract<Leaf, { kind: 'clock' }>): Found[] {
    const own = [...this.#keys.values()].filter(({ service }) => service === clock.service);
    const key = own.find(({ kid }) => kid === clock.kid);
    if (key === undefined || !isSigned(note, key)) {
      const what = `the correction of the clock is not signed by a key that an earlier leaf announces`;
      return [{ kind: 'key', what, means: 'it excuses nothing, and a paper does not log what it has not signed' }];
    }
    const time = Date.parse(clock.true_time);
    for (const one of own) {
      one.nbf = Math.min(one.nbf, time);
      if (one.latest !== null) one.latest = Math.min(one.latest, time);
    }
    const { paper, of: counted, seqs } = clock;
    const of = `${paper ?? clock.service}: ${seqs === null ? 'keys' : `${counted === 'facts' ? 'versions of facts' : 'receipts'} ${seqs.first} to ${seqs.last}`}`;
    this.corrections.push(
      `leaf ${index} corrects the clock, which ran ahead: ${of} are of ${clock.true_time} at the latest, whatever later time they say`,
    );
    return [];
  }

  #takeKey(leaf: Extract<Leaf, { kind: 'key' }>): Found[] {
    const fault = keyLeafFault(leaf);
    if (fault !== null) return [{ kind: 'key', what: fault, means: 'nobody can tell which key was announced' }];
    const name = nameOf(leaf.service, leaf.kid);
    if (this.#keys.has(name)) {
      const means = 'a key has one beginning, and a second one lets it sign for another time';
      return [{ kind: 'key', what: `it announces key ${leaf.kid} a second time`, means }];
    }
    if (this.#keys.size === KEYS_MAX) {
      throw new Fault('too_large', `the log announces more than ${KEYS_MAX} keys, the most that a monitor remembers`);
    }
    const { service, kid, x, nbf } = leaf;
    this.#keys.set(name, { service, kid, x, nbf: Date.parse(nbf), retired_at: null, latest: null });
    return [];
  }

  #retire({ service, kid, retired_at }: Extract<Leaf, { kind: 'key-retired' }>): Found[] {
    const key = this.#keys.get(nameOf(service, kid));
    if (key === undefined) {
      const means = 'it may have signed what the log does not show';
      return [{ kind: 'key', what: `it retires key ${kid}, which no leaf announces`, means }];
    }
    if (key.retired_at !== null) {
      const means = 'a later end lets it sign for a time in which it was retired';
      return [{ kind: 'key', what: `it retires key ${kid} a second time`, means }];
    }
    key.retired_at = Date.parse(retired_at);
    if (key.latest === null || key.latest < key.retired_at) return [];
    const what = `it retires key ${kid} from ${retired_at}, but a receipt by it is of ${isoTime(key.latest)}`;
    return [{ kind: 'key', what, means: 'the retirement was back-dated, or that receipt postdated' }];
  }
}

function isSigned(note: string, key: LoggedKey): boolean {
  const read = parseNote(note);
  const publicKey = publicKeyIn(key);
  const lines = read?.signatures.slice(0, SIGNATURES_MAX) ?? [];
  return read !== null && lines.some(({ name }) => isSignedBy(read, { name, publicKey }, verifyNode));
}

function nameOf(service: string, kid: string): string {
  return `${service} ${kid}`;
}

function revisionName(paper: string, piece: string, revision: number): string {
  return `revision\n${paper}\n${piece}\n${revision}`;
}

function withdrawalName(paper: string, piece: string): string {
  return `withdrawal\n${paper}\n${piece}`;
}

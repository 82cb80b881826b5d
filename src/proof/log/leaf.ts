import { ARCHIVE_HEADER, type ArchiveStatement, archiveIn } from '../archive-note.ts';
import { fromBase64, toBase64url } from '../bytes.ts';
import { CLOCK_HEADER, type ClockStatement, clockIn } from '../clock-note.ts';
import { DUMP_HEADER, type DumpStatement, dumpIn } from '../dump-note.ts';
import { EVIDENCE_HEADER, type Evidence, evidenceIn } from '../evidence-note.ts';
import { FACT_HEADER, type FactNote, factIn } from '../fact-note.ts';
import { parseNote } from '../note.ts';
import { parseReceipt, type Receipt } from '../receipt.ts';
import { isIsoTime } from '../time.ts';
import { LogFault, shown } from './log-fault.ts';
import { ENTRY_MAX } from './tile.ts';

/** The leaves of the log (protocol 7.1): each is a text, and its UTF-8 bytes are the entry. */

const RECEIPT = 'newsdesk-receipt/v1';
const RECEIPT_HASH = 'receipt-hash/v1';

/** The lines of the other statements after their header, which is the kind and `/v1`. */
const LINES = {
  withdrawal: ['paper', 'piece', 'at', 'reason'],
  key: ['service', 'kid', 'x', 'nbf'],
  'key-retired': ['service', 'kid', 'retired_at'],
} as const;

type LineName = (typeof LINES)[keyof typeof LINES][number];

/** The service that signs with a key. */
export type LogService = 'desk' | 'records';

/**
 * All kinds of leaves except signed notes. Those are: the receipt of a piece that is publicly on air, the version of a
 * fact that such a piece cites, the evidence for its facts, the correction of a clock, the manifest of an archive, and
 * a public dump.
 */
type StatementLeaf =
  /** For a signed note that is not public. Its signature makes the hash unguessable without the note. */
  | { kind: 'receipt-hash' /** `sha256:<hex>` of the whole note. */; hash: string }
  | {
      kind: 'withdrawal';
      paper: string;
      piece: string;
      at: string /** `sha256:<hex>` of the reason. */;
      reason: string;
    }
  | { kind: 'key'; service: LogService; kid: string /** The public key in base64url. */; x: string; nbf: string }
  | { kind: 'key-retired'; service: LogService; kid: string; retired_at: string };

export type Leaf =
  | { kind: 'receipt' /** The whole note. */; note: string; receipt: Receipt }
  | { kind: 'fact' /** The whole note. */; note: string; fact: FactNote }
  | { kind: 'evidence' /** The whole note. */; note: string; evidence: Evidence }
  | { kind: 'clock' /** The whole note. */; note: string; clock: ClockStatement }
  | { kind: 'archive' /** The whole note. */; note: string; archive: ArchiveStatement }
  | { kind: 'dump' /** The whole note. */; note: string; dump: DumpStatement }
  | StatementLeaf;

/**
 * The text of a leaf that the service creates; the leaf of a public receipt is its note, verbatim. Throws a TypeError
 * for a malformed value, so that every logged leaf is readable.
 */
export function leafText(leaf: StatementLeaf): string {
  const text = statementText(leaf);
  try {
    parseLeaf(text);
  } catch (fault) {
    throw fault instanceof LogFault ? new TypeError(fault.message) : fault;
  }
  return text;
}

/**
 * The leaf for a signed note that is not public, by the note's `sha256:<hex>`. Not parsed again as a check: verifiers
 * also call this, and need no parser of leaves in their bundles.
 */
export function receiptHashText(hash: string): string {
  return `${RECEIPT_HASH}\n${hash}\n`;
}

function statementText(leaf: StatementLeaf): string {
  if (leaf.kind === 'receipt-hash') return receiptHashText(leaf.hash);
  const values: Partial<Record<LineName, string>> = leaf;
  return `${leaf.kind}/v1\n${LINES[leaf.kind].map((name) => `${name} ${values[name]}\n`).join('')}`;
}

/** Parses an entry in its canonical form. Neither verifies signatures nor hashes. Throws a LogFault. */
export function parseLeaf(entry: string): Leaf {
  // UTF-8 has at least one byte per character.
  if (entry.length > ENTRY_MAX) throw new LogFault(`an entry has at most ${ENTRY_MAX} bytes`);
  const header = entry.slice(0, Math.max(0, entry.indexOf('\n')));
  switch (header) {
    case RECEIPT:
      return receiptLeaf(entry);
    case CLOCK_HEADER: {
      const clock = clockIn(entry);
      if (clock === null) throw notOfForm(header, 'it is not a signed correction');
      return { kind: 'clock', note: entry, clock };
    }
    case ARCHIVE_HEADER: {
      const archive = archiveIn(entry);
      if (archive === null) throw notOfForm(header, 'it is not the signed note of a manifest');
      return { kind: 'archive', note: entry, archive };
    }
    case DUMP_HEADER: {
      const dump = dumpIn(entry);
      if (dump === null) throw notOfForm(header, 'it is not the signed note of a dump');
      return { kind: 'dump', note: entry, dump };
    }
    case FACT_HEADER: {
      const fact = factIn(entry);
      if (fact === null) throw notOfForm(header, 'it is not a signed version of a fact');
      return { kind: 'fact', note: entry, fact };
    }
    case EVIDENCE_HEADER: {
      const evidence = evidenceIn(entry);
      if (evidence === null) throw notOfForm(header, 'it is not signed evidence');
      return { kind: 'evidence', note: entry, evidence };
    }
    case RECEIPT_HASH: {
      const hash = entry.slice(RECEIPT_HASH.length + 1, -1);
      if (!entry.endsWith('\n') || !HASH.test(hash)) throw notOfForm(header, 'its second line is sha256:<hex>');
      return { kind: 'receipt-hash', hash };
    }
    case 'withdrawal/v1':
    case 'key/v1':
    case 'key-retired/v1': {
      const kind = header.slice(0, -'/v1'.length) as keyof typeof LINES;
      return { kind, ...values(entry, header, LINES[kind]) } as StatementLeaf;
    }
    default:
      throw new LogFault(`the entry begins with ${shown(header)}, which is no kind of leaf`);
  }
}

const HASH = /^sha256:[0-9a-f]{64}$/;

const isWord = (text: string): boolean => /^[a-z0-9][a-z0-9-]*$/.test(text);
const TIME = { isOfForm: isIsoTime, fault: ' is not a time' };
const BASE64URL = { isOfForm: is32Bytes, fault: ' is not the base64url of 32 bytes' };

/** The format of each line's value, and how a fault message continues for another format. */
const RULES: Record<LineName, { isOfForm(text: string): boolean; fault: string }> = {
  paper: { isOfForm: isWord, fault: '' },
  piece: { isOfForm: isWord, fault: '' },
  at: TIME,
  reason: { isOfForm: (text) => HASH.test(text), fault: ' is not sha256:<hex>' },
  service: { isOfForm: (text) => text === 'desk' || text === 'records', fault: ' is not desk or records' },
  kid: BASE64URL,
  x: BASE64URL,
  nbf: TIME,
  retired_at: TIME,
};

function receiptLeaf(entry: string): Leaf {
  const note = parseNote(entry);
  const receipt = note === null ? null : parseReceipt(note.text);
  if (receipt === null) throw notOfForm(RECEIPT, 'it is not a signed receipt');
  return { kind: 'receipt', note: entry, receipt };
}

/** The values of the `name value` lines after the header. The names must be exactly these, in this order. */
function values(entry: string, header: string, names: readonly LineName[]): Record<string, string> {
  const lines = entry.split('\n');
  if (lines.length !== names.length + 2 || lines.at(-1) !== '') {
    throw notOfForm(header, `it has the lines ${names.join(', ')}, each once`);
  }
  const pairs = names.map((name, at): [LineName, string] => {
    const line = lines[at + 1] ?? '';
    if (!line.startsWith(`${name} `)) throw notOfForm(header, `${shown(line)} stands in place of its line ${name}`);
    return [name, line.slice(name.length + 1)];
  });
  for (const [name, value] of pairs) {
    const { isOfForm, fault } = RULES[name];
    if (!isOfForm(value)) throw notOfForm(header, `${name} ${shown(value)}${fault}`);
  }
  return Object.fromEntries(pairs);
}

/** Whether a text is the canonical unpadded base64url of 32 bytes. */
function is32Bytes(text: string): boolean {
  if (!/^[\w-]{43}$/.test(text)) return false;
  const bytes = fromBase64(`${text.replaceAll('-', '+').replaceAll('_', '/')}=`);
  return bytes !== null && toBase64url(bytes) === text;
}

function notOfForm(header: string, why: string): LogFault {
  return new LogFault(`a ${header} leaf has not its form: ${why}`);
}

import { fromBase64, toBase64url } from '../bytes.ts';
import { CLOCK_HEADER, type ClockStatement, clockIn } from '../clock-note.ts';
import { parseNote } from '../note.ts';
import { parseReceipt, type Receipt } from '../receipt.ts';
import { isIsoTime } from '../time.ts';
import { LogFault, shown } from './log-fault.ts';
import { ENTRY_MAX } from './tile.ts';

/** The leaves of the log (protocol 7.1): each is a text, and its UTF-8 bytes are the entry. */

const RECEIPT = 'newsdesk-receipt/v1';
const RECEIPT_HASH = 'receipt-hash/v1';
const WITHDRAWAL = 'withdrawal/v1';
const KEY = 'key/v1';
const KEY_RETIRED = 'key-retired/v1';

/** The service that signs with a key. */
export type LogService = 'desk' | 'records';

/** Every kind but signed notes: the receipt of a piece that is publicly on air, and the correction of a clock. */
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
  | { kind: 'clock' /** The whole note. */; note: string; clock: ClockStatement }
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

function statementText(leaf: StatementLeaf): string {
  switch (leaf.kind) {
    case 'receipt-hash':
      return `${RECEIPT_HASH}\n${leaf.hash}\n`;
    case 'withdrawal':
      return `${WITHDRAWAL}\npaper ${leaf.paper}\npiece ${leaf.piece}\nat ${leaf.at}\nreason ${leaf.reason}\n`;
    case 'key':
      return `${KEY}\nservice ${leaf.service}\nkid ${leaf.kid}\nx ${leaf.x}\nnbf ${leaf.nbf}\n`;
    case 'key-retired':
      return `${KEY_RETIRED}\nservice ${leaf.service}\nkid ${leaf.kid}\nretired_at ${leaf.retired_at}\n`;
  }
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
    case RECEIPT_HASH: {
      const hash = entry.slice(RECEIPT_HASH.length + 1, -1);
      if (!entry.endsWith('\n') || !HASH.test(hash)) throw notOfForm(header, 'its second line is sha256:<hex>');
      return { kind: 'receipt-hash', hash };
    }
    case WITHDRAWAL: {
      const [paper, piece, at, reason] = values(entry, header, ['paper', 'piece', 'at', 'reason']);
      if (!WORD.test(paper)) throw notOfForm(header, `paper ${shown(paper)}`);
      if (!WORD.test(piece)) throw notOfForm(header, `piece ${shown(piece)}`);
      if (!isIsoTime(at)) throw notOfForm(header, `at ${shown(at)} is not a time`);
      if (!HASH.test(reason)) throw notOfForm(header, `reason ${shown(reason)} is not sha256:<hex>`);
      return { kind: 'withdrawal', paper, piece, at, reason };
    }
    case KEY: {
      const [service, kid, x, nbf] = values(entry, header, ['service', 'kid', 'x', 'nbf']);
      if (!is32Bytes(x)) throw notOfForm(header, `x ${shown(x)} is not the base64url of 32 bytes`);
      if (!isIsoTime(nbf)) throw notOfForm(header, `nbf ${shown(nbf)} is not a time`);
      return { kind: 'key', service: serviceOf(service, header), kid: kidOf(kid, header), x, nbf };
    }
    case KEY_RETIRED: {
      const [service, kid, at] = values(entry, header, ['service', 'kid', 'retired_at']);
      if (!isIsoTime(at)) throw notOfForm(header, `retired_at ${shown(at)} is not a time`);
      return { kind: 'key-retired', service: serviceOf(service, header), kid: kidOf(kid, header), retired_at: at };
    }
    default:
      throw new LogFault(`the entry begins with ${shown(header)}, which is no kind of leaf`);
  }
}

const HASH = /^sha256:[0-9a-f]{64}$/;
const WORD = /^[a-z0-9][a-z0-9-]*$/;

function receiptLeaf(entry: string): Leaf {
  const note = parseNote(entry);
  const receipt = note === null ? null : parseReceipt(note.text);
  if (receipt === null) throw notOfForm(RECEIPT, 'it is not a signed receipt');
  return { kind: 'receipt', note: entry, receipt };
}

/** The values of the `name value` lines after the header, which must be exactly these, in this order. */
function values<const Names extends readonly string[]>(
  entry: string,
  header: string,
  names: Names,
): { [Index in keyof Names]: string } {
  const lines = entry.split('\n');
  if (lines.length !== names.length + 2 || lines.at(-1) !== '') {
    throw notOfForm(header, `it has the lines ${names.join(', ')}, each once`);
  }
  return names.map((name, at) => {
    const line = lines[at + 1] ?? '';
    if (!line.startsWith(`${name} `)) throw notOfForm(header, `${shown(line)} stands in place of its line ${name}`);
    return line.slice(name.length + 1);
  }) as { [Index in keyof Names]: string };
}

function serviceOf(text: string, header: string): LogService {
  if (text !== 'desk' && text !== 'records') throw notOfForm(header, `service ${shown(text)} is not desk or records`);
  return text;
}

function kidOf(text: string, header: string): string {
  if (!is32Bytes(text)) throw notOfForm(header, `kid ${shown(text)} is not the base64url of 32 bytes`);
  return text;
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

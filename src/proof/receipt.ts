import { HASH, linesParser, NUMBER, PREVIOUS, TIME, WORD } from './signed-lines.ts';

/** The first line of every filing receipt. */
const RECEIPT_HEADER = 'newsdesk-receipt/v1';

/** The content of a receipt. Its signature proves who filed the piece and that the piece has not changed. */
export interface Receipt {
  paper: string;
  piece: string;
  revision: number;
  content_hash: string;
  /** Hash of the signed text of the piece's previous generation; null for the first. */
  prev: string | null;
  /** Per paper, from 1, without gaps. */
  seq: number;
  /** ISO 8601, UTC, milliseconds. */
  filed_at: string;
  /** `key:<id>` or `cli`. */
  filed_by: string;
  /** RFC 7638 thumbprint of the signing key. */
  kid: string;
}

/** The signed text, byte for byte (protocol 4.3). Throws when a value contains a newline. */
export function receiptText(receipt: Receipt): string {
  const lines: [string, string][] = [
    ['paper', receipt.paper],
    ['piece', receipt.piece],
    ['revision', String(receipt.revision)],
    ['content_hash', receipt.content_hash],
    ['prev', receipt.prev ?? 'none'],
    ['seq', String(receipt.seq)],
    ['filed_at', receipt.filed_at],
    ['filed_by', receipt.filed_by],
    ['kid', receipt.kid],
  ];
  for (const [name, value] of lines) {
    if (/[\r\n]/.test(value)) throw new TypeError(`${name} in a receipt holds a newline`);
  }
  return `${[RECEIPT_HEADER, ...lines.map(([name, value]) => `${name} ${value}`)].join('\n')}\n`;
}

const linesIn = linesParser(RECEIPT_HEADER, {
  paper: WORD,
  piece: WORD,
  revision: NUMBER,
  content_hash: HASH,
  prev: PREVIOUS,
  seq: NUMBER,
  filed_at: TIME,
  filed_by: WORD,
  kid: WORD,
});

/** Parses a receipt's signed text; null unless it has exactly the form of protocol 4.3. */
export function parseReceipt(text: string): Receipt | null {
  const lines = linesIn(text);
  if (lines === null) return null;
  const { revision, prev, seq } = lines;
  return { ...lines, revision: Number(revision), prev: prev === 'none' ? null : prev, seq: Number(seq) };
}

/** The data of the page on which people read a log. Times are ISO 8601. */

/** The routes of the pages about a log. Those of the domain records have the frame of that service around them. */
export interface LogPages {
  '/log': LogView;
}

export interface LogView {
  /** Absolute address of the log, with its trailing slash. */
  url_absolute: string;
  /** The service whose receipts are in the log. */
  service: 'desk' | 'records';
  /** The newest signed head; null while nothing is logged. */
  head: HeadView | null;
  /** The newest head that met the policy's quorum; null before the first. */
  cosigned: { size: number; signed_at: string } | null;
  /** Whether this copy has stopped signing, because it contradicts what was published or witnessed. */
  is_fenced: boolean;
  /** Who watches the log; null when no witness is named. */
  policy: PolicyView | null;
  /** The newest public leaves, newest first. */
  leaves: LeafView[];
  /** The newest leaves among which the public ones were looked for: how many, and how many of them are hashes. */
  window: { size: number; hashes: number };
}

export interface HeadView {
  origin: string;
  size: number;
  /** The root hash in base64, as in the checkpoint. */
  root: string;
  signed_at: string;
}

export interface PolicyView {
  /** The rule of the quorum, such as `2 of w1, w2 and w3`. */
  quorum: string;
  witnesses: WitnessView[];
}

export interface WitnessView {
  /** The policy's name for the witness, and the name that it signs under. */
  name: string;
  key_name: string;
  /** The largest head that it cosigned, and when that was accepted here; null before the first. */
  last: { size: number; at: string } | null;
  /** Since when the witness has not answered as it should; null when it did. */
  failing_since: string | null;
}

/** A public leaf. */
export interface LeafView {
  index: number;
  kind: 'receipt' | 'withdrawal' | 'key' | 'key-retired' | 'clock';
  /** The time that the leaf states. */
  at: string;
  /** The slug of the paper, for receipts and withdrawals. */
  paper: string | null;
  /** The id of the piece, or of the key. */
  subject: string;
  revision: number | null;
  /** The piece, while it is on air in a public paper. */
  piece: PieceView | null;
}

export interface PieceView {
  headline: string;
  url: string;
  language: string;
}

import { toBase64 } from '../../proof/bytes.ts';
import { vkeyText } from '../../proof/key-text.ts';
import { parseCheckpoint } from '../../proof/log/checkpoint.ts';
import { type Leaf, type LogService, parseLeaf } from '../../proof/log/leaf.ts';
import type { Policy } from '../../proof/log/policy.ts';
import type { Receipt } from '../../proof/receipt.ts';
import { isoOrNull, isoTime } from '../../proof/time.ts';
import type { LogHead, LogTables } from './log-tables.ts';

/** The routes of the pages about a log. Those of the domain records have the frame of that service around them. */
export interface LogPages {
  '/log': LogView;
}

/** The data of the page on which people read a log. Times are ISO 8601. */
export type LogView = ReturnType<typeof logView>;

/** A public leaf. */
export interface LeafView {
  index: number;
  kind: Exclude<Leaf['kind'], 'receipt-hash'>;
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

/** Public leaves on the page. */
const SHOWN_LEAVES = 20;
/** The number of newest leaves that are searched for public ones. */
const WINDOW = 500;

/** The most points of the curve of growth. */
const POINTS = 49;

type ViewTables = Pick<LogTables, 'lastHead' | 'headAt' | 'newestCosigned' | 'entries' | 'fence' | 'witness'>;

/** What the page shows besides the tables. */
export interface LogViewContext {
  log: LogService;
  url_absolute: string;
  /** The policy in force; null without witnesses. */
  policy: Policy | null;
  /** The piece of a receipt; null unless it is on air in a public paper. */
  pieceOf(receipt: Receipt): PieceView | null;
}

/** The view of a log. It shows nothing that is not in the published log, but the state of its witnesses. */
export function logView(tables: ViewTables, { log, url_absolute, policy, pieceOf }: LogViewContext) {
  const last = tables.lastHead(log);
  const head = last === null ? null : headView(last);
  const cosigned = last === null ? null : tables.newestCosigned(log, last.origin);
  const size = last?.size ?? 0;
  // Only leaves under a signed head: the files of later ones are not written yet.
  const start = Math.max(0, size - WINDOW);
  const leaves = tables.entries(log, start, size).map((entry, at) => ({ index: start + at, leaf: parseLeaf(entry) }));
  const isPublic = leaves.filter(({ leaf }) => leaf.kind !== 'receipt-hash');
  return {
    /** The log's address, with its trailing slash. */
    url_absolute,
    service: log,
    /** The newest signed head; null while nothing is logged. */
    head,
    /** The newest head that met the policy's quorum; null before the first. */
    cosigned: cosigned === null ? null : { size: cosigned.size, signed_at: isoTime(cosigned.signed_at) },
    /** How large the log was, oldest first: heads at even distances in time, from the first to the newest. */
    growth: last === null ? [] : growthOf((number) => tables.headAt(log, number), last),
    /** Whether this copy has stopped signing, because it contradicts what was published or witnessed. */
    is_fenced: tables.fence(log) !== null,
    /** Who watches the log; null when no witness is named. */
    policy: policy === null ? null : policyView(tables, { log, origin: last?.origin ?? null, policy }),
    /** The newest public leaves, newest first. */
    leaves: isPublic
      .slice(-SHOWN_LEAVES)
      .reverse()
      .flatMap(({ index, leaf }) => leafView(index, leaf, pieceOf)),
    /** How many of the newest leaves were searched for public ones, and how many of them are hashes. */
    window: { size: leaves.length, hashes: leaves.length - isPublic.length },
  };
}

/** A text that changes whenever the view does, except for its pieces. */
export function logViewState(tables: ViewTables, { log, policy }: Pick<LogViewContext, 'log' | 'policy'>): string {
  const last = tables.lastHead(log);
  const cosigned = last === null ? null : tables.newestCosigned(log, last.origin);
  const witnesses = policy === null ? null : policyView(tables, { log, origin: last?.origin ?? null, policy });
  return JSON.stringify([last?.number, cosigned?.number, tables.fence(log), witnesses]);
}

type SignedSize = Pick<LogHead, 'number' | 'size' | 'signed_at'>;

/** Heads are found by binary search: a log signs one a second, and their times rise with their numbers. */
function growthOf(
  headAt: (number: number) => SignedSize | null,
  last: SignedSize,
): { size: number; signed_at: string }[] {
  const first = headAt(1) ?? last;
  const found = new Map<number, SignedSize>();
  for (let point = 0; point < POINTS; point++) {
    const wanted = first.signed_at + ((last.signed_at - first.signed_at) * point) / (POINTS - 1);
    let [low, high] = [first, last];
    while (high.number - low.number > 1) {
      const middle = headAt(Math.floor((low.number + high.number) / 2));
      if (middle === null) break;
      if (middle.signed_at <= wanted) low = middle;
      else high = middle;
    }
    const head = high.signed_at <= wanted ? high : low;
    found.set(head.number, head);
  }
  return [...found.values()]
    .sort((a, b) => a.number - b.number)
    .map(({ size, signed_at }) => ({ size, signed_at: isoTime(signed_at) }));
}

function headView(head: { origin: string; size: number; signed_at: number; checkpoint: string }) {
  const { origin, size, root } = parseCheckpoint(head.checkpoint);
  return { origin, size, root: toBase64(root), signed_at: isoTime(head.signed_at) };
}

function policyView(
  tables: ViewTables,
  { log, origin, policy }: { log: LogService; origin: string | null; policy: Policy },
) {
  return {
    quorum: quorumInWords(policy),
    witnesses: policy.witnesses.map(({ name, key }) => {
      const state = origin === null ? null : tables.witness(log, origin, vkeyText(key));
      const { cosigned_size: size = null, cosigned_at: at = null } = state ?? {};
      return {
        name,
        key_name: key.name,
        /** The largest head that it cosigned, and when that was accepted here; null before the first. */
        last: size === null || at === null ? null : { size, at: isoTime(at) },
        /** Since when the witness has not answered as it should; null when it did. */
        failing_since: isoOrNull(state?.fault_at ?? null),
      };
    }),
  };
}

/** The quorum of a policy: a witness, a group as `2 of a, b and c`, or that no witness is required. */
export function quorumInWords({ quorum, groups }: Pick<Policy, 'quorum' | 'groups'>): string {
  if (quorum === null) return 'no witness is required';
  const inWords = (name: string): string => {
    const group = groups.find((one) => one.name === name);
    if (group === undefined) return name;
    const members = group.members.map((member) => {
      const words = inWords(member);
      return words === member ? member : `(${words})`;
    });
    const list = new Intl.ListFormat('en', { type: 'conjunction' }).format(members);
    return group.threshold === members.length ? list : `${group.threshold} of ${list}`;
  };
  return inWords(quorum);
}

function leafView(index: number, leaf: Leaf, pieceOf: LogViewContext['pieceOf']): LeafView[] {
  const base = { index, paper: null, revision: null, piece: null };
  switch (leaf.kind) {
    case 'receipt': {
      const { paper, piece, revision, filed_at: at } = leaf.receipt;
      return [{ ...base, kind: leaf.kind, at, paper, subject: piece, revision, piece: pieceOf(leaf.receipt) }];
    }
    case 'fact': {
      const { paper, claim_key, version, signed_at: at } = leaf.fact;
      return [{ ...base, kind: leaf.kind, at, paper, subject: `${claim_key}, version ${version}` }];
    }
    case 'evidence': {
      const { paper, instrument, read_at: at } = leaf.evidence;
      return [{ ...base, kind: leaf.kind, at, paper, subject: instrument }];
    }
    case 'clock': {
      const { true_time: at, paper, of, seqs } = leaf.clock;
      const subject = seqs === null ? 'keys' : `${of === 'facts' ? 'facts ' : ''}no. ${seqs.first} to ${seqs.last}`;
      return [{ ...base, kind: leaf.kind, at, paper, subject }];
    }
    case 'archive': {
      const { generation, through, signed_at: at } = leaf.archive;
      return [{ ...base, kind: leaf.kind, at, subject: `manifest ${generation}, no. 1 to ${through}` }];
    }
    case 'dump': {
      const { day, generation, rows, signed_at: at } = leaf.dump;
      return [{ ...base, kind: leaf.kind, at, subject: `${day}, number ${generation}, ${rows} observations` }];
    }
    case 'withdrawal':
      return [{ ...base, kind: leaf.kind, at: leaf.at, paper: leaf.paper, subject: leaf.piece }];
    case 'key':
      return [{ ...base, kind: leaf.kind, at: leaf.nbf, subject: leaf.kid }];
    case 'key-retired':
      return [{ ...base, kind: leaf.kind, at: leaf.retired_at, subject: leaf.kid }];
    case 'receipt-hash':
      return [];
  }
}

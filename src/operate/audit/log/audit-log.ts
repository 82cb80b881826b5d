import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ClockBody, clockLeaf } from '../../../desk/clock-correction.ts';
import { type EvidenceBody, evidenceOf } from '../../../desk/evidence.ts';
import { factOf } from '../../../desk/fact.ts';
import type { RecordEntry } from '../../../desk/ledger-entry.ts';
import { keyLeaf, receiptLeaf, retirementLeaf, TURNED_PRIVATE } from '../../../desk/log-leaves.ts';
import { PaperBody } from '../../../desk/papers/paper.ts';
import type { ReviewBody } from '../../../desk/review.ts';
import { sha256 } from '../../../proof/basis.ts';
import { toHex } from '../../../proof/bytes.ts';
import { parseCheckpoint } from '../../../proof/log/checkpoint.ts';
import { type LogService, receiptHashText } from '../../../proof/log/leaf.ts';
import { LogFault } from '../../../proof/log/log-fault.ts';
import { TILE_WIDTH, tilePath, tilesBetween } from '../../../proof/log/tile.ts';
import { leafHash } from '../../../proof/merkle.ts';
import { isoTime } from '../../../proof/time.ts';
import type { AppContext } from '../../../server/context.ts';
import { Fault, messageOf } from '../../../shared/fault.ts';
import { bytesIn } from '../../../shared/files/plain-file.ts';
import { plural } from '../../../shared/plural.ts';
import { pushAll } from '../../../shared/push-all.ts';
import { inBatches } from '../../../shared/sql/sql.ts';
import type { Progress } from '../../../shared/terminal/progress.ts';
import type { LogHead, LogTables } from '../../../shared/transparency/log-tables.ts';
import { logFolder, publishedCheckpoint, tileBytes } from '../../../signing/log/log-files.ts';
import { type LogKey, readLogKey } from '../../../signing/log/log-key.ts';
import { publishedPolicy } from '../../../signing/log/log-publication.ts';
import type { Store } from '../../../store/store.ts';
import { cosignatureFaults, headFaults, type StoredLeaves, storedLeaves } from './stored-log.ts';

/**
 * Audits a log: leaves against what was signed, nodes and heads against leaves, cosignatures, and published files.
 * Appends to `faults`. Returns the number of leaves. `archived` has 1 for each leaf of an observation that the archive has;
 * without it they are only counted.
 */
export async function auditLog(
  app: AppContext,
  log: LogService,
  faults: string[],
  progress: Progress['step'],
  archived: Uint8Array | null = null,
): Promise<number> {
  const { store, settings } = app;
  const found: string[] = [];
  const folder = logFolder(settings.logDir, log);
  let key: LogKey | null = null;
  let texts: Record<string, string> = {};
  try {
    key = readLogKey(app, log);
    if (key !== null) texts = { vkey: `${key.vkey}\n`, policy: publishedPolicy(settings, log, key) };
  } catch (error) {
    if (!(error instanceof Fault) && !(error instanceof LogFault)) throw error;
    found.push(error.message);
  }
  // A log that was never published has no folder.
  const isPublished = existsSync(folder);
  // Read before the database, so that the database has the head of the checkpoint.
  const checkpoint = publishedCheckpoint(folder);
  const { leaves, cosignatures } = store.database.read(() => {
    const step = (done: number, total: number) => progress(`audit the log of the ${log}`, done, total, '');
    const stored = storedLeaves(store.database.log, log, found, step);
    // An older database gets the leaves of its past when it is first opened for signing.
    if (store.database.log.isFilled(log)) pushAll(found, ledgerLeafFaults(store, log, stored, archived));
    const cosigned = headFaults(store.database.log, log, key, found);
    if (isPublished) pushAll(found, publicationFaults(store.database.log, log, { folder, texts, checkpoint }));
    return { leaves: stored.kinds.length, cosignatures: cosigned };
  });
  pushAll(found, await cosignatureFaults(cosignatures));
  for (const fault of found) faults.push(`log of the ${log}: ${fault}`);
  return leaves;
}

const CURE = 'start the server, which writes it again';
const OTHER_POLICY = `it names other witnesses than the LOG_POLICY of this command; give the command the LOG_POLICY of the server, or ${CURE}`;

interface Publication {
  folder: string;
  /** The wanted texts of the files other than the tree and the checkpoint, by name. */
  texts: Record<string, string>;
  /** The published checkpoint; null when there is none. */
  checkpoint: string | null;
}

/** The differences between the published files and the database, byte for byte. */
function publicationFaults(tables: LogTables, log: LogService, { folder, texts, checkpoint }: Publication): string[] {
  if (checkpoint === null) return [`${join(folder, 'checkpoint')}: the file is missing; ${CURE}`];
  const head = headOf(tables, log, checkpoint);
  if (typeof head === 'string') return [`${join(folder, 'checkpoint')}: ${head}`];
  const faults: string[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const bytes = bytesIn(join(folder, name));
    const found = bytes?.toString('utf8') ?? '';
    if (withoutAddress(found) === withoutAddress(text)) continue;
    const isOfThisLog = name === 'policy' && logNamedIn(found) === logNamedIn(text);
    faults.push(isOfThisLog ? `${join(folder, name)}: ${OTHER_POLICY}` : fileFault(join(folder, name), bytes));
  }
  for (const tile of tilesBetween(0, head.size)) {
    const wanted = Buffer.from(tileBytes(tables, log, tile));
    // A full tile has replaced a partial one if the log has grown meanwhile.
    const full = tilePath({ ...tile, width: TILE_WIDTH });
    const found = bytesIn(join(folder, tilePath(tile))) ?? bytesIn(join(folder, full));
    if (!found?.subarray(0, wanted.length).equals(wanted)) faults.push(fileFault(join(folder, tilePath(tile)), found));
  }
  return faults;
}

/** Whether a checkpoint is the cosigned text of a head, perhaps followed by later cosignatures. */
function isCosigned(tables: LogTables, log: LogService, { origin, size, cosigned }: LogHead, text: string): boolean {
  if (cosigned === null || !text.startsWith(cosigned)) return false;
  const lines = new Set(tables.cosignatures(log, origin, size).map(({ line }) => line));
  const later = text.slice(cosigned.length).split('\n').slice(0, -1);
  return later.every((line) => lines.has(line));
}

/** A policy without the log's address, which changes when the service moves. */
function withoutAddress(text: string): string {
  const [first = '', ...rest] = text.split('\n');
  return [first.startsWith('log ') ? logNamedIn(first) : first, ...rest].join('\n');
}

/** The log that a policy names on its first line, without its address. */
function logNamedIn(text: string): string {
  return (text.split('\n', 1)[0] ?? '').split(' ', 2).join(' ');
}

/** The head that a published checkpoint shows; else what is wrong with it. */
function headOf(tables: LogTables, log: LogService, text: string): LogHead | string {
  try {
    const { origin, size } = parseCheckpoint(text);
    for (const head of tables.heads(log)) {
      if (head.origin !== origin || head.size !== size) continue;
      if (text === head.checkpoint || isCosigned(tables, log, head, text)) return head;
    }
    return `the database has no such head of ${size} leaves of ${origin}`;
  } catch (error) {
    return messageOf(error);
  }
}

function fileFault(file: string, found: Buffer | null): string {
  return `${file}: the file ${found === null ? 'is missing' : 'was altered'}; ${CURE}`;
}

/** Observations read per batch. */
const BATCH = 10_000;
/** The most faults of one kind that are listed. */
const LISTED_MAX = 100;

/**
 * The disagreements between leaves and signed records: each needs the other, and receipts of public pieces on air must
 * be logged verbatim.
 */
export function ledgerLeafFaults(
  store: Store,
  log: LogService,
  leaves: StoredLeaves,
  archived: Uint8Array | null = null,
): string[] {
  const seen = new Uint8Array(leaves.kinds.length);
  if (archived !== null) seen.set(archived.subarray(0, seen.length));
  const faults: string[] = [];
  /** The index of a leaf, which is marked as seen: a signed record accounts for it. */
  const indexOf = (entry: string): number | null => {
    const index = store.database.log.indexOf(log, leafHash(entry));
    if (index !== null && index < seen.length) seen[index] = 1;
    return index;
  };
  const require = (entry: string, what: string): void => {
    if (indexOf(entry) === null) faults.push(`${what}: the log has no leaf of it`);
  };
  if (log === 'desk') deskFaults(store, leaves, { seen, faults, indexOf, require });
  else {
    for (const note of store.desk.clockNotes('records', ''))
      require(clockLeaf(store.desk, note), 'a correction of the clock');
    for (const { kid, publicKey, nbf, retired_at } of store.desk.keysAsEntered()) {
      const public_key = Buffer.from(publicKey).toString('base64');
      require(keyLeaf('records', { kid, public_key, at: nbf }), `key ${kid}`);
      if (retired_at !== null)
        require(retirementLeaf('records', { kid, at: retired_at }), `the retirement of key ${kid}`);
    }
    observationFaults(store, require);
    for (const { generation, note } of store.records.archive.notes())
      require(note, `manifest ${generation} of the archive`);
    for (const { day, generation, note } of store.records.dumps.notes()) require(note, `dump ${generation} of ${day}`);
  }
  let strays = [...leaves.kinds.entries()].filter(([index]) => seen[index] === 0);
  if (log === 'records' && archived === null) {
    const away = store.records.archive.awayCount();
    const others = strays.filter(([, kind]) => kind !== 'receipt-hash');
    // Only the archive can tell which leaves belong to the observations in it.
    if (strays.length - others.length === away) strays = others;
    else if (away > 0)
      faults.push(
        `${plural(away, 'observation')} left for the archive, and ${strays.length - others.length} leaves of receipts are without one`,
      );
  }
  for (const [index, kind] of strays.slice(0, LISTED_MAX)) {
    faults.push(`leaf ${index} (${kind}): it has no signed record`);
  }
  if (strays.length > LISTED_MAX)
    faults.push(`${plural(strays.length - LISTED_MAX, 'more leaf', 'more leaves')} likewise`);
  return faults;
}

interface Comparison {
  /** By the index of a leaf: 1 if a signed record accounts for it. */
  seen: Uint8Array;
  faults: string[];
  indexOf(entry: string): number | null;
  require(entry: string, what: string): void;
}

function deskFaults(store: Store, leaves: StoredLeaves, { seen, faults, indexOf, require }: Comparison): void {
  const withdrawals = new Set<string>();
  const clocks: RecordEntry[] = [];
  const publicPapers = new Set<string>();
  for (const entry of store.desk.entries()) {
    switch (entry.type) {
      case 'key':
        require(keyLeaf('desk', entry), `key ${entry.kid}`);
        break;
      case 'retirement':
        require(retirementLeaf('desk', entry), `the retirement of key ${entry.kid}`);
        break;
      case 'withdrawal':
        withdrawals.add(nameOf(entry.paper, entry.piece, isoTime(entry.at), sha256(entry.reason)));
        break;
      case 'record':
        if (entry.kind === 'clock' && entry.name === 'desk') clocks.push(entry);
        if (entry.kind === 'review')
          require(receiptLeaf((entry.body as ReviewBody).note, false), `a review of ${entry.paper}/${entry.name}`);
        if (entry.kind !== 'paper') break;
        // The pieces on air in a removed paper were withdrawn one by one before.
        if (entry.body === null) publicPapers.delete(entry.paper);
        else if (PaperBody.parse(entry.body).paper_public) publicPapers.add(entry.paper);
        else if (publicPapers.delete(entry.paper))
          withdrawals.add(nameOf(entry.paper, '', isoTime(entry.at), sha256(TURNED_PRIVATE)));
        break;
    }
  }
  for (const { index, paper, piece, at, reason } of leaves.withdrawals) {
    if (withdrawals.has(nameOf(paper, piece, at, reason)) || withdrawals.has(nameOf(paper, '', at, reason)))
      seen[index] = 1;
  }
  for (const { paper, body } of clocks) {
    // If the paper was private at that time, the log has only the hash.
    const { note } = body as ClockBody;
    const logged = [true, false].map((isPublic) => indexOf(receiptLeaf(note, isPublic)));
    if (logged.every((index) => index === null))
      faults.push(`a correction of the clock for ${paper || 'keys'}: the log has no leaf of it`);
  }
  const newest = new Map(leaves.withdrawals.map(({ index, piece }) => [piece, index]));
  for (const entry of store.desk.entries()) {
    if (entry.type === 'record' && entry.kind === 'fact') {
      const { claim_key, version, receipt } = factOf(entry);
      const [verbatim, hashed] = [indexOf(receiptLeaf(receipt, true)), indexOf(receiptLeaf(receipt, false))];
      const isShown =
        publicPapers.has(entry.paper) && (store.desk.archive(entry.paper).fact(claim_key)?.cited ?? 0) > 0;
      const what = `version ${version} of ${entry.paper}/${claim_key}`;
      if (verbatim === null && hashed === null) faults.push(`${what}: the log has no leaf of its receipt`);
      else if (verbatim === null && isShown)
        faults.push(`${what}: a piece on air cites it, and the log has only the hash of its receipt`);
    }
    if (entry.type === 'record' && entry.kind === 'evidence') {
      const { note } = entry.body as EvidenceBody;
      const { subject, seq } = evidenceOf(entry);
      const [verbatim, hashed] = [indexOf(receiptLeaf(note, true)), indexOf(receiptLeaf(note, false))];
      const archive = store.desk.archive(entry.paper);
      const isShown =
        'claim_key' in subject
          ? (archive.fact(subject.claim_key)?.cited ?? 0) > 0
          : store.desk.pieceState(subject.piece)?.state === 'on_air' &&
            archive.evidenceNotesOf(subject.piece).includes(note);
      const what = `reading ${seq} of ${entry.paper}`;
      if (verbatim === null && hashed === null) faults.push(`${what}: the log has no leaf of it`);
      else if (verbatim === null && isShown && publicPapers.has(entry.paper))
        faults.push(`${what}: a piece on air cites it, and the log has only its hash`);
    }
    if (entry.type !== 'generation') continue;
    const { paper, piece, receipt } = entry;
    const what = `${paper}/${piece.slug} revision ${piece.revision}`;
    const [verbatim, hashed] = [indexOf(receiptLeaf(receipt, true)), indexOf(receiptLeaf(receipt, false))];
    const isOnAir = publicPapers.has(paper) && store.desk.pieceState(piece.id)?.state === 'on_air';
    if (verbatim === null && hashed === null) faults.push(`${what}: the log has no leaf of its receipt`);
    else if (verbatim === null && isOnAir)
      faults.push(`${what}: it is on air, and the log has only the hash of its receipt`);
    else if (verbatim !== null && !isOnAir && (newest.get(piece.id) ?? -1) < verbatim) {
      faults.push(`${what}: the log has its receipt, but it is not on air, and no later leaf withdraws it`);
    }
  }
}

function observationFaults({ records }: Store, require: Comparison['require']): void {
  const { receiptsAfter, erased } = records.archive;
  for (const { seq, receipt } of inBatches(receiptsAfter, [0, BATCH], ({ seq }) => [seq, BATCH])) {
    require(receiptLeaf(receipt, false), `observation ${seq}`);
  }
  for (const { seq, hash } of inBatches(erased, [0, BATCH], ({ seq }) => [seq, BATCH])) {
    require(receiptHashText(`sha256:${toHex(hash)}`), `the erased observation ${seq}`);
  }
}

function nameOf(...parts: string[]): string {
  return parts.join('\n');
}

import { verifyNode } from '../../../proof/ed25519.ts';
import { parseIJson } from '../../../proof/i-json.ts';
import type { Checkpoint } from '../../../proof/log/checkpoint.ts';
import { TILE_WIDTH } from '../../../proof/log/tile.ts';
import { isIncluded, leafHash } from '../../../proof/merkle.ts';
import { parseNote } from '../../../proof/note.ts';
import { isProof, keysFromVkeys, type Proof, proofFaults } from '../../../proof/proof.ts';
import { parseReceipt, type Receipt } from '../../../proof/receipt.ts';
import { HOUR, isoTime } from '../../../proof/time.ts';
import { Fault, messageOf } from '../../../shared/fault.ts';
import { plural } from '../../../shared/plural.ts';
import { bundleAt, type LogSource, type ServedTree } from '../log/served-log.ts';
import { fetched } from '../verify-sources.ts';
import type { Finding, LogMemory } from './log-memory.ts';
import type { WatchedPage } from './monitor-state.ts';
import { pageTextFaults } from './page-text.ts';

/** The largest page or proof that is read, in bytes: a story has at most some hundred kilobytes. */
const LONGEST = 10_000_000;
const PATIENCE = { silence: 10_000, whole: 20_000, bytes: LONGEST };
/** The most verifier keys of one proof that are looked up; a piece has one for each key that signed a revision. */
const VKEYS_MAX = 100;
const GENERATIONS_MAX = 1_000;
/** How long the log may take to show a receipt, in ms: the witnesses may be down for a while. */
const GRACE = HOUR;

/** The content of a story's address. Pages are read before the log, so that the log has all of their receipts. */
export interface SeenPage {
  page: WatchedPage;
  /** Null when the page is gone. */
  shown: { proof: Proof; faults: string[] } | null;
}

/** Reads a story's page and its proof. Throws a Fault when the site does not answer, or with no such document. */
export async function readPage(page: WatchedPage): Promise<SeenPage> {
  const source = `${page.address}proof.json`;
  let text: string;
  try {
    text = await fetched(source, "a story's address", PATIENCE);
  } catch (error) {
    if (!saysGone(error)) throw error;
    // A page whose proof never existed cannot be classified.
    if (page.piece === null && (await isThere(page.address))) {
      throw new Fault('unavailable', `${page.address} is there, and its proof.json is not`);
    }
    return { page, shown: null };
  }
  const proof = documentIn(source, text);
  const html = await fetched(page.address, "a story's address", { ...PATIENCE, accept: 'text/html' });
  const faults = pageTextFaults(html, proof.basis);
  const older = proof.generations.slice(0, -1).map(({ content_hash }) => content_hash);
  if (faults.length > 0 && !html.includes(proof.content_hash) && older.some((hash) => html.includes(hash))) {
    throw new Fault('unavailable', `${page.address} shows an older revision than its proof.json; a cache may be late`);
  }
  return { page, shown: { proof, faults } };
}

async function isThere(address: string): Promise<boolean> {
  try {
    await fetched(address, "a story's address", { ...PATIENCE, accept: 'text/html' });
    return true;
  } catch (error) {
    if (saysGone(error)) return false;
    throw error;
  }
}

function saysGone(error: unknown): boolean {
  return error instanceof Fault && [404, 410].includes(Number(error.details.status));
}

function documentIn(source: string, text: string): Proof {
  let document: unknown;
  try {
    document = parseIJson(text);
  } catch (error) {
    throw new Fault('invalid_request', `${source} ${messageOf(error)}`);
  }
  if (!isProof(document)) {
    const [fault] = proofFaults(document, verifyNode, []);
    throw new Fault('invalid_request', `${source}: ${fault}`);
  }
  return document;
}

/** The log as this run has read it. */
export interface ReadLog {
  source: LogSource;
  head: Checkpoint;
  tree: ServedTree;
  memory: LogMemory;
  /** The size of the log at the last run. */
  old_size: number;
}

/** Compares a page with the log. Returns `page` as it is to be watched from now on; null if it need not be watched. */
export async function checkPage({ page, shown }: SeenPage, log: ReadLog, now: number) {
  if (shown === null) return checkGone(page, log);
  const { proof } = shown;
  const found = (kind: Finding['kind'], what: string, means: string) => ({ kind, where: page.address, what, means });
  const findings: Finding[] = [];
  const altered = [...keyedFaults(proof, log.memory), ...shown.faults];
  if (altered.length > 0) {
    const more = altered.length > 1 ? ` (and ${plural(altered.length - 1, 'more fault')})` : '';
    const means = 'readers see something other than what was filed';
    findings.push(found('altered', `${altered[0]}${more}`, means));
  }
  const receipt = receiptIn(proof.receipt);
  const { paper, piece, checked_at } = page;
  const isOfAnother = receipt !== null && piece !== null && (receipt.paper !== paper || receipt.piece !== piece);
  if (isOfAnother && !isWithdrawn(page, log.memory)) {
    const what = `the page showed piece ${piece} of ${paper} at ${isoTime(checked_at)} and shows piece ${receipt.piece} now, and no leaf withdraws piece ${piece}`;
    return { page, findings: [...findings, found('gone', what, TAKEN)] };
  }
  const next = receipt === null ? null : log.memory.leafOf({ ...receipt, revision: receipt.revision + 1 });
  // A newer leaf may be a revision that was filed since the page was read.
  if (receipt !== null && next !== null && next < log.old_size) {
    const revision = `revision ${receipt.revision}, and the log has revision ${receipt.revision + 1}`;
    throw new Fault('unavailable', `${page.address} shows ${revision}; a cache may be late`);
  }
  const unlogged = await unloggedReceipts(proof, log);
  const [other] = unlogged.filter(({ leaf }) => leaf !== null);
  if (other !== undefined) {
    const what = `it shows another receipt for revision ${other.receipt.revision} than leaf ${other.leaf} of the log`;
    findings.push(found('unlogged', what, 'the piece was changed after it was logged, without a new revision'));
  }
  const [first] = unlogged.filter(({ leaf }) => leaf === null);
  const since = first === undefined ? null : (page.unlogged_since ?? now);
  const isExpected = proof.log != null && proof.log.index < log.head.size;
  if (first !== undefined && since !== null && (isExpected || now - since >= GRACE)) {
    const what = `the receipt for revision ${first.receipt.revision} is not a leaf of the log, and the page has existed since ${isoTime(since)}`;
    findings.push(found('unlogged', what, 'it can be changed or denied later, and nobody would see it'));
  }
  const shows = { paper: receipt?.paper ?? paper, piece: receipt?.piece ?? piece };
  const watched = { seen_size: log.old_size, checked_at: now, unlogged_since: since };
  return { page: { address: page.address, ...shows, ...watched }, findings };
}

const TAKEN = 'the paper took it away without saying so';

/** A page that is gone needs a withdrawal after the run that last found it. */
function checkGone(page: WatchedPage, { memory }: ReadLog): { page: WatchedPage | null; findings: Finding[] } {
  const { paper, piece, address } = page;
  if (paper === null || piece === null || isWithdrawn(page, memory)) return { page: null, findings: [] };
  const what = `the page was there at ${isoTime(page.checked_at)} and is gone, and no leaf withdraws piece ${piece} of ${paper}`;
  return { page, findings: [{ kind: 'gone', where: address, what, means: TAKEN }] };
}

/** Whether a leaf withdraws the piece of a page after the run that last found it. */
function isWithdrawn({ paper, piece, seen_size }: WatchedPage, memory: LogMemory): boolean {
  const withdrawal = paper === null || piece === null ? null : memory.withdrawalOf(paper, piece);
  return withdrawal !== null && withdrawal >= seen_size;
}

/** The faults of a proof, checked by the keys that the log announces, each within its time. */
function keyedFaults(proof: Proof, memory: LogMemory): string[] {
  const { vkey, vkeys = [] } = proof.receipt_verify;
  const keys = memory.announced(keysFromVkeys([...new Set([vkey, ...vkeys])].slice(0, VKEYS_MAX)));
  return proofFaults(proof, verifyNode, keys);
}

/** The receipts of a proof that are not in the log; `leaf` is the index of another receipt for the same revision. */
async function unloggedReceipts({ receipt, generations }: Proof, log: ReadLog) {
  const notes = new Set([receipt, ...generations.slice(-GENERATIONS_MAX).map((generation) => generation.receipt)]);
  const unlogged: { receipt: Receipt; leaf: number | null }[] = [];
  for (const note of notes) {
    const parsed = receiptIn(note);
    // `keyedFaults` reports it.
    if (parsed === null) continue;
    const leaf = log.memory.leafOf(parsed);
    if (leaf === null || !(await isLeaf(note, leaf, log))) unlogged.push({ receipt: parsed, leaf });
  }
  return unlogged;
}

function receiptIn(note: string): Receipt | null {
  return parseReceipt(parseNote(note)?.text ?? '');
}

/**
 * Whether a note is the entry with this index in the head's tree. Throws a Fault when the tiles contradict the head.
 */
async function isLeaf(note: string, index: number, { tree, head, source }: ReadLog): Promise<boolean> {
  const path = await tree.ask((served) => served.inclusionProof(index));
  if (isIncluded(leafHash(note), index, head.size, path, head.root)) return true;
  const { start, entries } = await bundleAt(source, Math.floor(index / TILE_WIDTH), head.size);
  if (!Buffer.from(note).equals(entries[index - start] ?? new Uint8Array())) return false;
  throw new Fault('invalid_request', `${source.where} serves tiles that do not belong to its own checkpoint`);
}

import type { Archive } from '../archive.ts';
import { tags } from '../tags.ts';
import { hasLongProse } from './long-prose.ts';
import { isTopic, type Manifest, type PressStart, type TopicQueue } from './manifest.ts';
import { OUTPUTS, outputName, outputNamed } from './outputs/all.ts';
import { Printer, type PrinterJob, type RenderResult } from './printer.ts';
import { byStage, isPooled, largestStage } from './stages.ts';
import { yielder } from './yielder.ts';

/** More undrawn pictures than this wait until the pages are public: originals are served in their place. */
const PICTURES_FIRST_MAX = 3;
/** How many pictures are drawn between two looks at the clock. */
const PICTURE_BATCH = 2;
/** How long one press draws pictures after everything else, in ms: what is published meanwhile must not wait. */
const PICTURE_TIME = 2_000;
/** How many outputs one transaction records. */
const BATCH = 400;
/** How many dropped outputs one transaction removes from the manifest. */
const DROP_BATCH = 200;
/** A press with a stage of at least this many outputs needs a worker pool. */
export const POOL_MIN = 400;

/** Returned by a press that did nothing, because it needs a pool that has the same snapshot. Call it again with one. */
export const NEEDS_POOL = Symbol('needs a worker pool');
/** Returned by a press of few outputs with very long pieces: one worker with a large heap is enough. */
export const NEEDS_LARGE_HEAP = Symbol('needs a worker with a large heap');

export interface PressJob extends Omit<PrinterJob, 'checksDisk' | 'manifest'> {
  manifest: Manifest;
  /** The marks that this press handles, from the same snapshot as `archive`. */
  marks: Pick<Manifest, 'staleTags' | 'isStale'>;
  /** Identifies the program and settings on which a tree depends. When it differs, everything is stale. */
  stamp: string;
  start: PressStart;
  /** Presses everything, stale or not. */
  full: boolean;
  /** False leaves the share cards stale for a later press. */
  cards: boolean;
  /** The note to store when files were written without waiting for fsync. */
  unsynced: string;
  /** Queues the changed feeds for the hub; null without one. */
  topics: TopicQueue | null;
  transact: <T>(work: () => T) => T;
  /** Throws when another press holds the paper. Called within each transaction that records results. */
  assertOwner(): void;
  progress(done: number, total: number, what: string): void;
  pool: PrintPool | null;
}

export interface PrintPool {
  /** Waits for the threads. False when their snapshots differ from the one of this press. */
  isCurrent(): Promise<boolean>;
  /** Resolves when the files of all these outputs are on disk. */
  print(names: string[], how: HowToPrint, done: (result: RenderResult) => void): Promise<void>;
}

/** What a press and its worker threads know of the tree. */
export interface HowToPrint {
  checksDisk: boolean;
}

export interface PressReport {
  /** Whether everything was printed, not only what was stale. */
  full: boolean;
  outputs: number;
  /** Files that changed on disk. */
  written: number;
  removed: number;
  /** Pictures whose variants are left to the next press. */
  pictures_left: number;
}

/**
 * Prints the stale outputs of one paper, or all of them, and leaves the same tree as a full press. A press handles
 * the marks up to `start.until` and clears only those: a change that arrives meanwhile gets a higher mark and waits
 * for the next press. `archive` is a snapshot at that mark, so all files show one state and none links to a file that
 * does not exist yet. Marks are cleared once the files are on disk, so the next press completes one that was killed
 * at any point.
 */
export async function press(job: PressJob): Promise<PressReport | typeof NEEDS_POOL | typeof NEEDS_LARGE_HEAP> {
  const { paper, manifest, tree, archive, start, pool } = job;
  const full = job.full || job.marks.isStale(paper, tags.config);
  // A full press trusts only the disk: it writes deleted files again. So does the press after an interrupted one,
  // whose last files the manifest does not list.
  const checksDisk = full || start.dirty;
  const printer = new Printer({ ...job, checksDisk });
  const isPublic = archive.paper().paper_public;
  const names = !isPublic ? new Set<string>() : await (full ? allNames(printer, job.cards) : staleNames(printer, job));

  const undrawn = await undrawnPictures(printer, names);
  const leavesPictures = undrawn.size > PICTURES_FIRST_MAX;
  const stages = byStage(leavesPictures ? [...names].filter((name) => !undrawn.has(name)) : names);
  const isMany = largestStage(stages) >= POOL_MIN;
  const hasLong = !isMany && largestStage(stages) > 0 && hasLongProse(archive, names);
  const needsPool = isMany || hasLong;
  if (needsPool && !(await pool?.isCurrent())) return hasLong ? NEEDS_LARGE_HEAP : NEEDS_POOL;

  const writer = new ManifestWriter(job, names.size);
  const record = writer.add.bind(writer);
  const isSynced = !full && !needsPool;
  for (const [stage, names] of stages) {
    // A large number of cards comes after everything else: the pages are already public.
    if (stage === 'card') tree.show();
    if (needsPool && pool !== null && isPooled(stage)) await pool.print(names, { checksDisk }, record);
    else await printer.printAll(names, record);
    // The next stage may link to this one, which is now on disk and recorded.
    writer.save();
  }
  const left = leavesPictures ? [...undrawn] : [];
  if (left.length > 0) {
    tree.show();
    const until = performance.now() + PICTURE_TIME;
    while (left.length > 0 && performance.now() < until) await printer.printAll(left.splice(0, PICTURE_BATCH), record);
    writer.save();
  }

  const keepsCards = isPublic && !job.cards;
  const dropped = full
    ? manifest.outputs(paper).filter((name) => !names.has(name) && !(keepsCards && isCard(name)))
    : [];
  // Equal pictures of different names share the files of their variants.
  const isShared = writer.gone.some((path) => path.startsWith('pictures/'));
  const onDisk = checksDisk && !tree.isNew ? tree.files() : [];
  const gone = checksDisk || isShared ? await unlisted(job, writer.gone, onDisk) : writer.gone;
  const removed = await removeFiles(job, gone, dropped);
  await tree.syncFolders();
  job.transact(() => {
    job.assertOwner();
    const deferred = job.cards
      ? []
      : [
          ...[...job.marks.staleTags(paper)].filter((tag) => tag.startsWith(tags.card(''))),
          ...deferredCards(names, archive),
        ];
    manifest.clearStale(paper, start.until);
    if (job.cards) manifest.recordPressed(paper, start.until, writer.written + removed);
    else manifest.markStale(paper, deferred);
    if (!isSynced) manifest.setUnsynced(paper, job.unsynced);
    manifest.markStale(
      paper,
      left.map((name) => tags.picture(outputNamed(name)?.key ?? '')),
    );
    if (full) manifest.setStamp(paper, job.stamp);
    job.topics?.release(paper, job.tools.now);
  });
  const outputs = names.size - left.length;
  return { full, outputs, written: writer.written, removed, pictures_left: left.length };
}

/** Removes files that the paper no longer has, to which nothing links, and the records of dropped outputs. */
async function removeFiles(job: PressJob, gone: string[], dropped: string[]): Promise<number> {
  const { paper, manifest, tree, transact, assertOwner } = job;
  const yieldTurn = yielder();
  const paths = new Set(gone);
  for (const name of dropped) {
    for (const { path } of manifest.files(paper, name)) paths.add(path);
    await yieldTurn();
  }
  for (const path of paths) {
    tree.remove(path);
    await yieldTurn();
  }
  for (let at = 0; at < dropped.length; at += DROP_BATCH) {
    transact(() => {
      assertOwner();
      for (const name of dropped.slice(at, at + DROP_BATCH)) manifest.drop(paper, name);
    });
    await yieldTurn();
  }
  return paths.size;
}

/**
 * The files that no output has any more. Another version of the program may print a file as part of another output.
 * Files on disk are the press's own: nothing else writes there.
 */
async function unlisted({ paper, manifest }: PressJob, ...found: Iterable<string>[]): Promise<string[]> {
  const paths = new Set<string>();
  const yieldTurn = yielder();
  for (const source of found) {
    for (const path of source) {
      paths.add(path);
      await yieldTurn();
    }
  }
  if (paths.size === 0) return [];
  for (const { path } of manifest.allFiles(paper)) {
    paths.delete(path);
    await yieldTurn();
  }
  return [...paths];
}

async function allNames(printer: Printer, cards: boolean): Promise<Set<string>> {
  const names = new Set<string>();
  const edition = printer.edition();
  const yieldTurn = yielder();
  for (const output of OUTPUTS) {
    if (isCard(output.kind) && !cards) continue;
    for (const key of output.allKeys(edition)) {
      names.add(outputName(output, key));
      await yieldTurn();
    }
  }
  return names;
}

/** Names of the outputs that read stale tags, and of those that these tags may create. */
async function staleNames(printer: Printer, { paper, manifest, marks, cards }: PressJob): Promise<Set<string>> {
  const names = new Set<string>();
  const edition = printer.edition();
  const yieldTurn = yielder();
  const add = (name: string) => {
    if (cards || !isCard(name)) names.add(name);
  };
  for (const tag of marks.staleTags(paper)) {
    for (const name of manifest.outputsReading(paper, tag)) add(name);
    for (const output of OUTPUTS) for (const key of output.keysForTag(tag, edition)) add(outputName(output, key));
    await yieldTurn();
  }
  return names;
}

/** The pictures among some outputs that have a variant which is neither in the tree nor drawn for another paper. */
async function undrawnPictures(printer: Printer, names: Set<string>): Promise<Set<string>> {
  const undrawn = new Set<string>();
  const yieldTurn = yielder();
  for (const name of names) {
    if (name.startsWith('picture/') && !(await printer.isDrawn(name))) undrawn.add(name);
    await yieldTurn();
  }
  return undrawn;
}

function isCard(name: string): boolean {
  return name === 'card' || name.startsWith('card/');
}

/** Tags of the cards of the stories just pressed. */
function* deferredCards(names: Set<string>, archive: Archive): Iterable<string> {
  for (const { id, slug } of archive.slugs()) if (names.has(`story/${slug}`)) yield tags.card(id);
}

/** Records printed outputs in the manifest, many per transaction. */
class ManifestWriter {
  readonly gone: string[] = [];
  written = 0;
  readonly #job: PressJob;
  readonly #total: number;
  #done = 0;
  #results: RenderResult[] = [];

  constructor(job: PressJob, total: number) {
    this.#job = job;
    this.#total = total;
  }

  add(result: RenderResult): void {
    this.#results.push(result);
    this.gone.push(...result.gone);
    this.written += result.written;
    this.#job.progress(++this.#done, this.#total, result.name);
    if (this.#results.length >= BATCH) this.save();
  }

  save(): void {
    const { paper, manifest, topics, transact, assertOwner } = this.#job;
    const results = this.#results;
    this.#results = [];
    if (results.length === 0) return;
    transact(() => {
      assertOwner();
      manifest.record(paper, results);
      for (const { changed } of results) topics?.note(paper, changed.map(({ path }) => path).filter(isTopic));
    });
  }
}

import type { Archive } from '../desk/archive.ts';
import { tags } from '../desk/tags.ts';
import type { Manifest, PressStart } from './manifest.ts';
import { STAGES } from './output.ts';
import { outputName, OUTPUTS, outputNamed } from './outputs/all.ts';
import { yielder } from './pace.ts';
import type { PrinterJob, RenderResult } from './printer.ts';
import { Printer } from './printer.ts';
import { hasLongProse } from './weight.ts';

/** More cards than this are drawn after the pages are up; fewer come first, so that no page points at nothing. */
const CARDS_FIRST_MAX = 50;
/** Sheets whose records are written in one transaction. */
const BATCH = 200;
/** From so many sheets of one rank on, other hands are called in. */
const POOL_MIN = 400;

/** What a press says that has so much to print that it wants a crew: nothing was done, and it is to be called again with one. */
export const NEEDS_POOL = Symbol('needs a crew');
/** The same of a press that has little to print, but pieces that are very long: another thread with room for them will do. */
export const NEEDS_LARGE_HEAP = Symbol('needs another thread with room');

export interface PressJob extends Omit<PrinterJob, 'looks' | 'manifest'> {
  manifest: Manifest;
  /** Names the program and the settings that a tree depends on; another one makes everything due. */
  stamp: string;
  /** What was found when this press took on the marks. */
  start: PressStart;
  /** Presses everything, whether it is due or not. */
  full: boolean;
  /** False leaves the share cards due for a later press. */
  cards: boolean;
  /** What to note where files were written without waiting for the disk. */
  unsynced: string;
  transact: <T>(work: () => T) => T;
  /** Throws when another press has the paper by now. Called within each transaction that notes what was pressed. */
  assertOwner(): void;
  /** Called often enough to show progress. */
  progress(done: number, total: number, what: string): void;
  /** Prints many sheets on several other threads; null while there are none. */
  printInPool: ((looks: boolean, names: string[], done: (result: RenderResult) => void) => Promise<void>) | null;
}

export interface PressReport {
  /** Whether everything was printed, not only what was due. */
  full: boolean;
  /** Sheets printed. */
  outputs: number;
  /** Files that changed on disk. */
  written: number;
  removed: number;
}

/** Sheets whose records are removed in one transaction. */
const DROP_BATCH = 200;

/**
 * Prints what is due of one paper, or all of it, and leaves the tree that a
 * full press would leave. A press takes on the marks up to `start.until` and
 * clears those alone: a change that comes in while it runs is marked with a
 * higher number, and left to the next press. The archive is held as it was at
 * that number, so that all files are of one state and no file points at one
 * that is not there yet. What was due stays due until it is
 * on disk, so a press that dies at any moment is finished by the next one.
 */
export async function press(job: PressJob): Promise<PressReport | typeof NEEDS_POOL | typeof NEEDS_LARGE_HEAP> {
  const { paper, manifest, tree, archive, start, printInPool: crew } = job;
  const full = job.full || manifest.staleTags(paper, start.until).includes(tags.config);
  // A full press believes the disk alone: a file that somebody removed is written again. So does one that
  // follows a press that was broken off: what that one wrote last, the manifest does not know.
  const looks = full || start.dirty;
  const printer = new Printer({ ...job, checksDisk: looks });
  const isPublic = archive.paper().paper_public;
  const names = !isPublic ? new Set<string>() : await (full ? allNames(printer, job.cards) : staleNames(printer, job));

  const groups = byStage(names);
  const isMany = (group: string[]) => group.length >= POOL_MIN && !isCard(group[0] ?? '');
  const heavy = !groups.some(isMany) && hasLongProse(archive, names);
  const isLarge = (group: string[]) => isMany(group) || (heavy && group.length > 0 && !isCard(group[0] ?? ''));
  if (crew === null && groups.some(isLarge)) return heavy ? NEEDS_LARGE_HEAP : NEEDS_POOL;

  const book = new ManifestWriter(job, names.size);
  let isSynced = !full;
  for (const group of groups) {
    const printed = book.add.bind(book);
    // Many cards come after everything else: the pages are seen by then.
    if (isCard(group[0] ?? '')) tree.show();
    if (crew !== null && isLarge(group)) {
      isSynced = false;
      await crew(looks, group, printed);
    } else await printer.printAll(group, printed);
    // The next rank may point at this one: it is on disk, and noted.
    book.save();
  }

  const leftover = full
    ? manifest.outputs(paper).filter((name) => !names.has(name) && !(isPublic && keepsCard(name, job)))
    : [];
  const removed = await removeFiles(job, book.gone, leftover, looks && !tree.isNew);
  await tree.syncFolders();
  job.transact(() => {
    job.assertOwner();
    const left = job.cards ? [] : [...manifest.staleTags(paper, start.until).filter(isCardTag), ...deferredCards(names, archive)];
    manifest.clearStale(paper, start.until);
    if (job.cards) manifest.recordPressed(paper, start.until, book.written + removed);
    else manifest.markStale(paper, left);
    if (!isSynced) manifest.setUnsynced(paper, job.unsynced);
    if (full) manifest.setStamp(paper, job.stamp);
  });
  return { full, outputs: names.size, written: book.written, removed };
}

/** Removes files that the paper no longer has, and the records of sheets that it no longer prints. Nothing points at them any more. */
async function removeFiles(job: PressJob, gone: string[], leftover: string[], sweeps: boolean): Promise<number> {
  const { paper, manifest, tree, transact, assertOwner } = job;
  const pace = yielder();
  const paths = new Set(gone);
  for (const name of leftover) {
    for (const { path } of manifest.files(paper, name)) paths.add(path);
    await pace();
  }
  if (sweeps) for await (const path of strayFiles(job)) paths.add(path);
  for (const path of paths) {
    tree.remove(path);
    await pace();
  }
  for (let at = 0; at < leftover.length; at += DROP_BATCH) {
    transact(() => {
      assertOwner();
      for (const name of leftover.slice(at, at + DROP_BATCH)) manifest.drop(paper, name);
    });
    await pace();
  }
  return paths.size;
}

/** Names of all sheets that the paper has. */
async function allNames(printer: Printer, cards: boolean): Promise<Set<string>> {
  const names = new Set<string>();
  const asking = printer.edition();
  const pace = yielder();
  for (const sheet of OUTPUTS) {
    if (isCard(sheet.kind) && !cards) continue;
    for (const key of sheet.allKeys(asking)) {
      names.add(outputName(sheet, key));
      await pace();
    }
  }
  return names;
}

/** Names of the sheets that read what is due, and of those that it may bring into being. */
async function staleNames(printer: Printer, { paper, manifest, cards, start }: PressJob): Promise<Set<string>> {
  const names = new Set<string>();
  const asking = printer.edition();
  const pace = yielder();
  const add = (name: string) => {
    if (cards || !isCard(name)) names.add(name);
  };
  for (const tag of manifest.staleTags(paper, start.until)) {
    for (const name of manifest.outputsReading(paper, tag)) add(name);
    for (const sheet of OUTPUTS) for (const key of sheet.keysForTag(tag, asking)) add(outputName(sheet, key));
    await pace();
  }
  return names;
}

/** Sheets by rank, in the order in which they are pressed. */
function byStage(names: Set<string>): string[][] {
  const groups = new Map<string, string[]>(STAGES.map((rank) => [rank, []]));
  for (const name of names) groups.get(outputNamed(name)?.sheet.stage ?? '')?.push(name);
  const cards = groups.get('card') ?? [];
  if (cards.length <= CARDS_FIRST_MAX) return [...groups.values()];
  groups.delete('card');
  return [...groups.values(), cards];
}

/** A full press without cards leaves those that are there. */
function keepsCard(name: string, { cards }: PressJob): boolean {
  return !cards && isCard(name);
}

function isCard(name: string): boolean {
  return name === 'card' || name.startsWith('card/');
}

/** Whether a tag marks a card that an earlier press left. */
function isCardTag(tag: string): boolean {
  return tag.startsWith(tags.card(''));
}

/** Tags of the cards that belong to the stories just pressed. */
function* deferredCards(names: Set<string>, archive: Archive): Iterable<string> {
  for (const { id, slug } of archive.slugs()) if (names.has(`story/${slug}`)) yield tags.card(id);
}

/** Files on disk that no sheet printed: only a press writes there. */
async function* strayFiles({ paper, manifest, tree }: PressJob): AsyncIterable<string> {
  const ours = new Set<string>();
  const pace = yielder();
  for (const { path } of manifest.allFiles(paper)) {
    ours.add(path);
    await pace();
  }
  for (const path of tree.files()) {
    if (!ours.has(path)) yield path;
    await pace();
  }
}

/** Notes in the manifest what was printed, many sheets in one transaction. */
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
    const { paper, manifest, transact, assertOwner } = this.#job;
    const results = this.#results;
    this.#results = [];
    if (results.length === 0) return;
    transact(() => {
      assertOwner();
      for (const { name, tags: read, files, changed: news, gone } of results) {
        if (files.length === 0) manifest.drop(paper, name);
        else manifest.record(paper, name, read, news, gone);
      }
    });
  }
}

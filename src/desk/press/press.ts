import { missingMediaIn } from '../../media/media.ts';
import { variantsOf } from '../../media/variants.ts';
import { sha256 } from '../../proof/basis.ts';
import type { Archive } from '../archive.ts';
import { dependencies } from '../dependencies.ts';
import { Edition, type Site } from './edition.ts';
import { hasLongProse } from './long-prose.ts';
import { isTopic, type Manifest, type PressStart, type PrintedOutput, type TopicQueue } from './manifest.ts';
import { memoized } from './memoized.ts';
import { type RenderedFile, type RenderTools, STAGES, type Stage } from './output.ts';
import { OUTPUTS, outputName, outputNamed } from './outputs/all.ts';
import { withPageFonts } from './page-fonts.ts';
import type { Tree } from './tree.ts';
import { sliced, yielder } from './yielder.ts';

/** More cards than this are drawn once the pages are public; fewer are drawn first, so that no page lacks its card. */
const CARDS_FIRST_MAX = 50;
/** With more undrawn pictures than this, they wait until the pages are public, with the originals in their place. */
const PICTURES_FIRST_MAX = 3;
/** How many pictures are drawn between two checks of the time. */
const PICTURE_BATCH = 2;
/** How long one press draws pictures after everything else, in ms, because new publications must not wait. */
const PICTURE_TIME = 2_000;
/** How many outputs one transaction records. */
const BATCH = 400;
/** How many dropped outputs one transaction removes from the manifest. */
const DROP_BATCH = 200;
/** Maximum number of outputs being written to disk while the next one is composed. sharp draws on its own threads. */
const IN_FLIGHT_MAX = 8;
/** A press with a stage of at least this many outputs needs worker threads. */
const POOL_MIN = 400;
/** Stages that the press prints on its own thread: sharp has its own threads, and `host` is a few files in order. */
const HERE: ReadonlySet<Stage> = new Set(['assets', 'picture', 'card', 'cover', 'host']);

/** The worker threads that a press needs: many, or one with a large heap for a few outputs with very long pieces. */
export type Workers = 'many' | 'large';

export interface PrinterJob {
  paper: string;
  archive: Archive;
  manifest: Pick<Manifest, 'files'>;
  site: Site;
  tree: Tree;
  tools: RenderTools;
  /** The path of a media file on disk, by its digest. */
  mediaFile(digest: string): string;
  /** Whether to compare with the files on disk instead of trusting the manifest. */
  checksDisk: boolean;
}

export interface PressJob extends Omit<PrinterJob, 'manifest'> {
  manifest: Manifest;
  /** The stale dependencies for this press, from the same snapshot as `archive`. */
  stale: Pick<Manifest, 'staleDependencies'>;
  /** Identifies the program and settings on which a tree depends. If it differs, everything is stale. */
  stamp: string;
  start: PressStart;
  /** Presses everything, stale or not. */
  full: boolean;
  /** False leaves the share cards stale for a later press. */
  cards: boolean;
  /** The note to store when files were written without waiting for fsync. */
  unsynced: string;
  /** Queues the changed feeds for the hub; null without a hub. */
  topics: TopicQueue | null;
  transact: <T>(work: () => T) => T;
  /** Throws when another press holds the paper. Called within each transaction that records results. */
  assertOwner(): void;
  progress(done: number, total: number, what: string): void;
  pool: PrintPool | null;
}

export interface PrintPool {
  /** Waits until all threads are ready. Returns false if their snapshots differ from that of this press. */
  isCurrent(): Promise<boolean>;
  /** Resolves when the files of all these outputs are on disk. */
  print(names: string[], done: (result: PrintedOutput) => void): Promise<void>;
}

export interface PressReport {
  /** Whether everything was printed, not only what was stale. */
  full: boolean;
  outputs: number;
  /** How many files changed on disk. */
  written: number;
  removed: number;
  /** How many pictures have variants that are left to the next press. */
  pictures_left: number;
}

/**
 * Prints the stale outputs of one paper, or all of them, and produces the same tree as a full press. A press handles
 * the changes up to `start.until` and clears only those: a change that arrives meanwhile gets a higher number and waits
 * for the next press. `archive` is a snapshot at that number, so all files show the same state, and none links to a
 * file that does not exist yet. Dependencies are cleared once the files are on disk, so if the press is killed at any
 * point, the next one completes it. If the press needs workers with the same snapshot and has none, it does nothing and
 * returns which workers it needs.
 */
export async function press(job: PressJob): Promise<PressReport | Workers> {
  const { paper, manifest, tree, archive, start, full, pool } = job;
  const printer = printerOf(job);
  const stale = full ? allNames(printer.edition()) : staleNames(printer.edition(), job);
  const names = new Set<string>();
  for await (const name of sliced(archive.paper().paper_public ? stale : [])) names.add(name);
  const dropped = full ? manifest.outputs(paper).filter((name) => !names.has(name)) : [];
  const cardsLeft = new Set(job.cards ? [] : [...names].filter((name) => name.startsWith('card/')));
  for (const name of cardsLeft) names.delete(name);

  const undrawn = new Set<string>();
  for await (const name of sliced(names)) if (isUndrawnPicture(name, job)) undrawn.add(name);
  if (undrawn.size <= PICTURES_FIRST_MAX) undrawn.clear();
  const stages = byStage([...names].filter((name) => !undrawn.has(name)));
  const most = Math.max(...stages.map(([stage, some]) => (HERE.has(stage) ? 0 : some.length)));
  const needed = most >= POOL_MIN ? 'many' : most > 0 && hasLongProse(archive, names) ? 'large' : null;
  if (needed !== null && !(await pool?.isCurrent())) return needed;

  const { sums, add: record, save } = manifestWriter(job, names.size);
  for (const [stage, some] of stages) {
    // Many cards come after everything else, when the pages are already public.
    if (stage === 'card') tree.show();
    if (needed !== null && pool !== null && !HERE.has(stage)) await pool.print(some, record);
    else await printer.printAll(some, record);
    // The next stage may link to this stage, which is now on disk and recorded.
    save();
  }
  const picturesLeft = [...undrawn];
  if (picturesLeft.length > 0) {
    tree.show();
    const until = performance.now() + PICTURE_TIME;
    while (picturesLeft.length > 0 && performance.now() < until) {
      await printer.printAll(picturesLeft.splice(0, PICTURE_BATCH), record);
    }
    save();
  }

  for (let at = 0; at < dropped.length; at += DROP_BATCH) {
    job.transact(() => {
      job.assertOwner();
      for (const name of dropped.slice(at, at + DROP_BATCH)) manifest.drop(paper, name);
    });
  }
  const gone = await goneFiles(job, sums.gone);
  for await (const path of sliced(gone)) tree.remove(path);
  await tree.syncFolders();
  job.transact(() => {
    job.assertOwner();
    manifest.clearStale(paper, start.until);
    if (job.cards) manifest.recordPressed(paper, start.until, sums.written + gone.length);
    if (full || needed !== null) manifest.setUnsynced(paper, job.unsynced);
    const pieces = cardsLeft.size === 0 ? [] : [...archive.slugs()].filter(({ slug }) => cardsLeft.has(`card/${slug}`));
    manifest.markStale(paper, [
      ...pieces.map(({ id }) => dependencies.card(id)),
      ...picturesLeft.map((name) => dependencies.picture(name.slice('picture/'.length))),
    ]);
    if (full) manifest.setStamp(paper, job.stamp);
    job.topics?.release(paper, job.tools.now);
  });
  return {
    full,
    outputs: names.size - picturesLeft.length,
    written: sums.written,
    removed: gone.length,
    pictures_left: picturesLeft.length,
  };
}

function* allNames(edition: Edition): Iterable<string> {
  for (const output of OUTPUTS) for (const key of output.allKeys(edition)) yield outputName(output, key);
}

/** Names of the outputs that read stale dependencies, and of outputs that these dependencies may create. */
function* staleNames(edition: Edition, { paper, manifest, stale }: PressJob): Iterable<string> {
  for (const dependency of stale.staleDependencies(paper)) {
    yield* manifest.outputsReading(paper, dependency);
    for (const output of OUTPUTS)
      for (const key of output.keysForDependency(dependency, edition)) yield outputName(output, key);
  }
}

/** Whether an output is a picture with a variant that is neither in the tree nor drawn for another paper. */
function isUndrawnPicture(name: string, { archive, tools, tree }: PressJob): boolean {
  const media = name.startsWith('picture/') ? archive.media(name.slice('picture/'.length)) : null;
  return media !== null && !tools.pictures.isDrawn(media) && variantsOf(media).some(({ path }) => !tree.has(path));
}

/** Names of outputs in the order of printing. Each stage starts when the previous one is on disk. */
function byStage(names: Iterable<string>): [Stage, string[]][] {
  const groups = Map.groupBy(names, (name) => outputNamed(name)?.output.stage);
  const some = (stage: Stage): [Stage, string[]] => [stage, groups.get(stage) ?? []];
  const stages = STAGES.map(some);
  if (some('card')[1].length <= CARDS_FIRST_MAX) return stages;
  return [...stages.filter(([stage]) => stage !== 'card'), some('card')];
}

/**
 * The files that no output lists any more, so that nothing links to them. Another output may list a file too: another
 * version of the program may have moved it there, identical pictures share their variants, and pages share blank fonts.
 * With `checksDisk`, includes all unlisted files on disk, because nothing but the press writes there.
 */
async function goneFiles({ paper, manifest, tree, checksDisk }: PressJob, gone: string[]): Promise<string[]> {
  if (!checksDisk && !gone.some((path) => /^(?:pictures\/|fonts\/room-)/.test(path))) return gone;
  const paths = new Set(gone);
  if (checksDisk && !tree.isNew) for await (const path of sliced(tree.files())) paths.add(path);
  for await (const { path } of sliced(paths.size === 0 ? [] : manifest.allFiles(paper))) paths.delete(path);
  return [...paths];
}

/** Records printed outputs in the manifest, many per transaction. */
function manifestWriter({ paper, manifest, topics, transact, assertOwner, progress }: PressJob, total: number) {
  const sums = { done: 0, written: 0, gone: [] as string[] };
  let results: PrintedOutput[] = [];
  const save = (): void => {
    const printed = results;
    results = [];
    if (printed.length === 0) return;
    transact(() => {
      assertOwner();
      manifest.record(paper, printed);
      for (const { changed } of printed) topics?.note(paper, changed.map(({ path }) => path).filter(isTopic));
    });
  };
  const add = (result: PrintedOutput): void => {
    results.push(result);
    sums.gone.push(...result.gone);
    sums.written += result.written;
    progress(++sums.done, total, result.name);
    if (results.length >= BATCH) save();
  };
  return { sums, add, save };
}

export type Printer = ReturnType<typeof printerOf>;

/** Prints the requested outputs, from the job's archive into its tree. */
export function printerOf({ paper, archive, manifest, site, tree, tools, mediaFile, checksDisk }: PrinterJob) {
  const cached = memoized(archive);
  /** Shared by all calls of `printAll`: many are shorter than a slice, and would never yield on their own. */
  const yieldTurn = yielder();
  /** The shared files that this press wrote, with their digests. */
  const sharedFiles = new Map<string, string>();
  const edition = (): Edition => new Edition(cached, site);

  /** Writes a file unless the same bytes are on disk. `digests` are those of the earlier files of the output. */
  const writeFile = async (
    file: RenderedFile,
    listed: string | undefined,
    digests: ReadonlyMap<string, string>,
  ): Promise<{ digest: string; isWritten: boolean }> => {
    const { path } = file;
    const onDisk = checksDisk ? tree.digestBefore(path) : listed;
    if ('draw' in file) {
      // The path depends on the content, so an existing file has the right content.
      if (typeof onDisk === 'string' && onDisk === listed && tree.has(path))
        return { digest: onDisk, isWritten: false };
      const digest = sharedFiles.get(path);
      if (digest !== undefined) return { digest, isWritten: false };
      const bytes = await file.draw();
      await tree.write(path, bytes);
      const drawn = sha256(bytes);
      if (file.isShared) sharedFiles.set(path, drawn);
      return { digest: drawn, isWritten: true };
    }
    if ('copy' in file) {
      if (onDisk !== file.copy) await tree.copy(path, mediaFile(file.copy), file.copy);
      return { digest: file.copy, isWritten: onDisk !== file.copy };
    }
    if ('same' in file) {
      const digest = digests.get(file.same);
      if (digest === undefined)
        throw new Error(`${path} must equal an earlier file of its output, but that was not printed`);
      if (onDisk !== digest) await tree.link(path, file.same);
      return { digest, isWritten: onDisk !== digest };
    }
    const bytes = typeof file.body === 'string' ? Buffer.from(file.body) : file.body;
    const digest = sha256(bytes);
    if (onDisk !== digest) await tree.write(path, bytes);
    return { digest, isWritten: onDisk !== digest };
  };

  /** Writes the files of an output that differ from those on disk. */
  const write = async (name: string, files: RenderedFile[], reads: string[]): Promise<PrintedOutput> => {
    tree.assertHeld();
    const listed = new Map(manifest.files(paper, name).map(({ path, digest }) => [path, digest]));
    const dependencies = files.length === 0 ? null : reads.join('\n');
    const result: PrintedOutput = { name, dependencies, changed: [], gone: [], written: 0 };
    const digests = new Map<string, string>();
    for (const file of files) {
      const before = listed.get(file.path);
      const written = await writeFile(file, before, digests).catch((error: unknown) => {
        if ('mayLack' in file && missingMediaIn(error) !== null) return null;
        throw error;
      });
      if (written === null) continue;
      const { digest, isWritten } = written;
      digests.set(file.path, digest);
      if (isWritten) result.written++;
      if (digest !== before) result.changed.push({ path: file.path, digest });
    }
    result.gone = [...listed.keys()].filter((path) => !digests.has(path));
    return result;
  };

  return {
    edition,
    /** Prints outputs in order while up to `IN_FLIGHT_MAX` are being written. Resolves when every file is on disk. */
    async printAll(names: Iterable<string>, done: (result: PrintedOutput) => void): Promise<void> {
      const inFlight = new Set<Promise<void>>();
      const failures: unknown[] = [];
      for await (const name of sliced(names, yieldTurn)) {
        const read = edition();
        const found = outputNamed(name);
        const files = withPageFonts((await found?.output.print(read, found.key, tools)) ?? [], site);
        const landing: Promise<void> = write(name, files, read.reads)
          .then(done)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => inFlight.delete(landing));
        inFlight.add(landing);
        if (inFlight.size >= IN_FLIGHT_MAX) await Promise.race(inFlight);
        if (failures.length > 0) break;
      }
      await Promise.all(inFlight);
      if (failures.length > 0) throw failures[0];
    },
  };
}

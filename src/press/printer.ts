import type { Archive } from '../desk/archive.ts';
import type { Tree } from '../files/tree.ts';
import { sha256 } from '../ledger/basis.ts';
import type { Site } from './edition.ts';
import { Edition } from './edition.ts';
import type { Manifest, PressedFile, PrintedOutput } from './manifest.ts';
import { memoized } from './memoized.ts';
import type { RenderedFile, RenderTools } from './output.ts';
import { outputNamed } from './outputs/all.ts';
import { yielder } from './yielder.ts';

/** How many outputs may be in flight to disk while the next is composed. sharp draws on its own threads. */
const IN_FLIGHT_MAX = 8;
/** How many outputs share what is read in bulk for them. */
const LOAD_SIZE = 100;

/** The result of printing one output. */
export interface RenderResult extends PrintedOutput {
  /** How many of the files changed on disk. */
  written: number;
}

export interface PrinterJob {
  paper: string;
  archive: Archive;
  manifest: Pick<Manifest, 'filesOf'>;
  site: Site;
  tree: Tree;
  tools: RenderTools;
  /** The path of a media file's content on disk, by digest. */
  mediaFile(digest: string): string;
  /** Whether to compare with the files on disk instead of trusting the manifest. */
  checksDisk: boolean;
}

/** Prints outputs of one paper, and writes the files whose bytes differ from those on disk. */
export class Printer {
  readonly #job: PrinterJob;
  readonly #archive: Archive;
  /** Of all calls of `printAll`: many are shorter than a slice, and would never yield by themselves. */
  readonly #yieldTurn = yielder();

  constructor(job: PrinterJob) {
    this.#job = job;
    this.#archive = memoized(job.archive);
  }

  /** A view of the paper with no recorded reads. */
  edition(): Edition {
    return new Edition(this.#archive, this.#job.site);
  }

  /** Whether every file of an output is in the tree, or was drawn already. */
  async isDrawn(name: string): Promise<boolean> {
    const found = outputNamed(name);
    const files = (await found?.output.print(this.edition(), found.key, this.#job.tools)) ?? [];
    return files.every((file) => this.#job.tree.has(file.path) || !('draw' in file) || file.isDrawn?.() !== false);
  }

  /** Prints outputs in order while up to `IN_FLIGHT_MAX` are being written. Resolves when every file is on disk. */
  async printAll(names: Iterable<string>, done: (result: RenderResult) => void): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    let failure: { error: unknown } | null = null;
    for (const load of inLoads(names)) {
      const edition = this.edition();
      const recorded = this.#job.manifest.filesOf(this.#job.paper, load);
      for (const name of load) {
        await this.#yieldTurn();
        const { written } = await this.#print(name, edition.fresh(), recorded.get(name));
        const landing: Promise<void> = written
          .then(done)
          .catch((error: unknown) => {
            failure ??= { error };
          })
          .finally(() => inFlight.delete(landing));
        inFlight.add(landing);
        if (inFlight.size >= IN_FLIGHT_MAX) await Promise.race(inFlight);
        if (failure !== null) break;
      }
      if (failure !== null) break;
    }
    await Promise.all(inFlight);
    if (failure !== null) throw (failure as { error: unknown }).error;
  }

  /**
   * Prints one output from an edition of its own. `written` resolves when its files are on disk; wrapping it in an
   * object keeps `await` from waiting for it.
   */
  async #print(
    name: string,
    edition: Edition,
    recorded: PressedFile[] | undefined,
  ): Promise<{ written: Promise<RenderResult> }> {
    const found = outputNamed(name);
    if (found === null) {
      return { written: Promise.resolve({ name, tags: '', exists: false, changed: [], gone: [], written: 0 }) };
    }
    const before = new Map(recorded?.map(({ path, digest }) => [path, digest]));
    const files = (await found.output.print(edition, found.key, this.#job.tools)) ?? [];
    return { written: this.#write(name, files, { edition, before }) };
  }

  async #write(name: string, files: RenderedFile[], printed: Printed): Promise<RenderResult> {
    const { edition, before } = printed;
    this.#job.tree.assertClaim();
    const exists = files.length > 0;
    const tags = exists ? edition.reads.join('\n') : '';
    const result: RenderResult = { name, tags, exists, changed: [], gone: [], written: 0 };
    const gone = new Set(before.keys());
    const digests = new Map<string, string>();
    for (const file of files) {
      gone.delete(file.path);
      const digest = await this.#writeFile(file, printed, digests, result);
      digests.set(file.path, digest);
      if (digest !== before.get(file.path)) result.changed.push({ path: file.path, digest });
    }
    result.gone = [...gone];
    return result;
  }

  /** Writes a file unless the bytes on disk are the same. `digests` has the files before it. Returns its digest. */
  async #writeFile(file: RenderedFile, { before }: Printed, digests: Digests, result: RenderResult): Promise<string> {
    const { tree, mediaFile, checksDisk } = this.#job;
    const { path } = file;
    const listed = before.get(path);
    // A file that was listed with other bytes is written without a look at the disk.
    const isThere = (digest: string, look: () => boolean): boolean =>
      (listed === digest && (!checksDisk || look())) || (listed === undefined && checksDisk && look());
    if ('body' in file) {
      const bytes = typeof file.body === 'string' ? Buffer.from(file.body) : file.body;
      const digest = sha256(bytes);
      if (isThere(digest, () => tree.holds(path, bytes))) return digest;
      result.written++;
      await tree.write(path, bytes);
      return digest;
    }
    if ('same' in file) {
      const digest = digestIn(digests, file);
      if (isThere(digest, () => tree.holdsLink(path, file.same))) return digest;
      result.written++;
      await tree.link(path, file.same);
      return digest;
    }
    const onDisk = checksDisk ? tree.digestBefore(path) : (listed ?? null);
    if ('copy' in file) {
      if (onDisk === file.copy) return file.copy;
      result.written++;
      await tree.copy(path, mediaFile(file.copy), file.copy);
      return file.copy;
    }
    // The path depends on the content, so an existing file is the right one.
    if (onDisk !== null && onDisk === listed && tree.has(path)) return onDisk;
    const bytes = await file.draw();
    await tree.write(path, bytes);
    result.written++;
    return sha256(bytes);
  }
}

/** Digests of files, by path. */
type Digests = ReadonlyMap<string, string>;

/** What an output was printed from. */
interface Printed {
  edition: Edition;
  /** The files that the manifest lists of it. */
  before: Digests;
}

/** Names in loads of `LOAD_SIZE`, in order. */
function* inLoads(names: Iterable<string>): Iterable<string[]> {
  let load: string[] = [];
  for (const name of names) {
    load.push(name);
    if (load.length < LOAD_SIZE) continue;
    yield load;
    load = [];
  }
  if (load.length > 0) yield load;
}

function digestIn(digests: Digests, file: RenderedFile): string {
  const found = 'same' in file ? digests.get(file.same) : undefined;
  if (found === undefined) throw new Error(`${file.path} is to equal a file that was not printed before it`);
  return found;
}

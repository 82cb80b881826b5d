import { sha256 } from '../../proof/basis.ts';
import type { Archive } from '../archive.ts';
import { Edition, type Site } from './edition.ts';
import type { Manifest, PrintedOutput } from './manifest.ts';
import { memoized } from './memoized.ts';
import type { RenderedFile, RenderTools } from './output.ts';
import { outputNamed } from './outputs/all.ts';
import type { Tree } from './tree.ts';
import { sliced, yielder } from './yielder.ts';

/** How many outputs may be in flight to disk while the next is composed. sharp draws on its own threads. */
const IN_FLIGHT_MAX = 8;

export interface PrinterJob {
  paper: string;
  archive: Archive;
  manifest: Pick<Manifest, 'files'>;
  site: Site;
  tree: Tree;
  tools: RenderTools;
  /** The path of a media file's content on disk, by digest. */
  mediaFile(digest: string): string;
  /** Whether to compare with the files on disk instead of trusting the manifest. */
  checksDisk: boolean;
}

export class Printer {
  readonly #job: PrinterJob;
  readonly #archive: Archive;
  /** Of all calls of `printAll`: many are shorter than a slice, and would never yield by themselves. */
  readonly #yieldTurn = yielder();

  constructor(job: PrinterJob) {
    this.#job = job;
    this.#archive = memoized(job.archive);
  }

  edition(): Edition {
    return new Edition(this.#archive, this.#job.site);
  }

  /** Prints outputs in order while up to `IN_FLIGHT_MAX` are being written. Resolves when every file is on disk. */
  async printAll(names: Iterable<string>, done: (result: PrintedOutput) => void): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    const failures: unknown[] = [];
    for await (const name of sliced(names, this.#yieldTurn)) {
      const edition = this.edition();
      const found = outputNamed(name);
      const files = (await found?.output.print(edition, found.key, this.#job.tools)) ?? [];
      const landing: Promise<void> = this.#write(name, files, edition.reads)
        .then(done)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => inFlight.delete(landing));
      inFlight.add(landing);
      if (inFlight.size >= IN_FLIGHT_MAX) await Promise.race(inFlight);
      if (failures.length > 0) break;
    }
    await Promise.all(inFlight);
    if (failures.length > 0) throw failures[0];
  }

  /** Writes the files of an output that differ from those on disk. */
  async #write(name: string, files: RenderedFile[], reads: string[]): Promise<PrintedOutput> {
    const { manifest, paper, tree } = this.#job;
    tree.assertHeld();
    const listed = new Map(manifest.files(paper, name).map(({ path, digest }) => [path, digest]));
    const tags = files.length === 0 ? null : reads.join('\n');
    const result: PrintedOutput = { name, tags, changed: [], gone: [], written: 0 };
    const digests = new Map<string, string>();
    for (const file of files) {
      const before = listed.get(file.path);
      const { digest, isWritten } = await this.#writeFile(file, before, digests);
      digests.set(file.path, digest);
      if (isWritten) result.written++;
      if (digest !== before) result.changed.push({ path: file.path, digest });
    }
    result.gone = [...listed.keys()].filter((path) => !digests.has(path));
    return result;
  }

  /** Writes a file unless the bytes on disk are the same. `digests` has the files before it. */
  async #writeFile(
    file: RenderedFile,
    listed: string | undefined,
    digests: ReadonlyMap<string, string>,
  ): Promise<{ digest: string; isWritten: boolean }> {
    const { tree, mediaFile, checksDisk } = this.#job;
    const { path } = file;
    const onDisk = checksDisk ? tree.digestBefore(path) : listed;
    if ('draw' in file) {
      // The path depends on the content, so an existing file is the right one.
      if (typeof onDisk === 'string' && onDisk === listed && tree.has(path))
        return { digest: onDisk, isWritten: false };
      const bytes = await file.draw();
      await tree.write(path, bytes);
      return { digest: sha256(bytes), isWritten: true };
    }
    if ('copy' in file) {
      if (onDisk !== file.copy) await tree.copy(path, mediaFile(file.copy), file.copy);
      return { digest: file.copy, isWritten: onDisk !== file.copy };
    }
    if ('same' in file) {
      const digest = digests.get(file.same);
      if (digest === undefined) throw new Error(`${path} is to equal a file that was not printed before it`);
      if (onDisk !== digest) await tree.link(path, file.same);
      return { digest, isWritten: onDisk !== digest };
    }
    const bytes = typeof file.body === 'string' ? Buffer.from(file.body) : file.body;
    const digest = sha256(bytes);
    if (onDisk !== digest) await tree.write(path, bytes);
    return { digest, isWritten: onDisk !== digest };
  }
}

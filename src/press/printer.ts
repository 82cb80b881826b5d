import type { Archive } from '../desk/archive.ts';
import type { Tree } from '../files/tree.ts';
import { sha256 } from '../ledger/basis.ts';
import type { Site } from './edition.ts';
import { Edition } from './edition.ts';
import type { Manifest, PressedFile } from './manifest.ts';
import { memoized } from './memoized.ts';
import type { RenderedFile, RenderTools } from './output.ts';
import { outputNamed } from './outputs/all.ts';
import { yielder } from './pace.ts';

/** Cards that are drawn while the next is composed: sharp has threads of its own. */
const IN_FLIGHT_MAX = 8;

/** What printing one sheet came to. */
export interface RenderResult {
  name: string;
  /** What it read. */
  tags: string[];
  files: PressedFile[];
  /** Those of which the manifest does not know yet, or knows other bytes. */
  changed: PressedFile[];
  /** Files of the sheet that it no longer has. They are still on disk. */
  gone: string[];
  /** How many of the files changed on disk. */
  written: number;
}

export interface PrinterJob {
  paper: string;
  archive: Archive;
  manifest: Pick<Manifest, 'files'>;
  place: Site;
  tree: Tree;
  tools: RenderTools;
  /** Path of a media file's bytes by its digest. */
  mediaFile(digest: string): string;
  /** Whether to look on the disk for what is there, or to believe the manifest. */
  checksDisk: boolean;
}

/** Prints sheets of one paper, and puts their files on disk where the bytes there are others. */
export class Printer {
  readonly #job: PrinterJob;
  readonly #archive: Archive;

  constructor(job: PrinterJob) {
    this.#job = job;
    this.#archive = memoized(job.archive);
  }

  /** A view of the paper that has recorded nothing yet. */
  edition(): Edition {
    return new Edition(this.#archive, this.#job.place);
  }

  /** Prints sheets one after the other, a few still being drawn; returns when all their files are on disk. */
  async printAll(names: Iterable<string>, done: (result: RenderResult) => void): Promise<void> {
    const flying = new Set<Promise<void>>();
    let failure: { error: unknown } | null = null;
    const pace = yielder();
    for (const name of names) {
      await pace();
      const { put } = await this.#print(name);
      const landing: Promise<void> = put
        .then(done)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => flying.delete(landing));
      flying.add(landing);
      if (flying.size >= IN_FLIGHT_MAX) await Promise.race(flying);
      if (failure !== null) break;
    }
    await Promise.all(flying);
    if (failure !== null) throw (failure as { error: unknown }).error;
  }

  /** Prints one sheet; `put` is its files' way to the disk, in an object so that nobody waits for it unasked. */
  async #print(name: string): Promise<{ put: Promise<RenderResult> }> {
    const found = outputNamed(name);
    if (found === null) return { put: Promise.resolve({ name, tags: [], files: [], news: [], gone: [], written: 0 }) };
    const edition = this.edition();
    const printed = (await found.sheet.print(edition, found.key, this.#job.tools)) ?? [];
    return { put: this.#put(name, printed, printed.length === 0 ? [] : edition.reads) };
  }

  async #put(name: string, printed: RenderedFile[], tags: string[]): Promise<RenderResult> {
    const { paper, manifest, tree } = this.#job;
    tree.assertClaim();
    const known = new Map(manifest.files(paper, name).map(({ path, digest }) => [path, digest]));
    const result: RenderResult = { name, tags, files: [], changed: [], gone: [], written: 0 };
    for (const item of printed) {
      const before = known.get(item.path);
      known.delete(item.path);
      const digest = await this.#putFile(item, before, result);
      result.files.push({ path: item.path, digest });
      if (digest !== before) result.changed.push({ path: item.path, digest });
    }
    result.gone = [...known.keys()];
    return result;
  }

  /** Puts a file on disk unless the bytes there are the same. Returns their digest. */
  async #putFile(item: RenderedFile, before: string | undefined, result: RenderResult): Promise<string> {
    const { tree, mediaFile, checksDisk: looks } = this.#job;
    const there = looks ? tree.digestBefore(item.path) : (before ?? null);
    const isThere = there !== null;
    if ('draw' in item) {
      // The path names what it shows: a file that is there is the right one.
      if (isThere && there === before && tree.has(item.path)) return there;
      const bytes = await item.draw();
      await tree.write(item.path, bytes, isThere);
      result.written++;
      return sha256(bytes);
    }
    const bytes = 'body' in item ? Buffer.from(item.body as string) : null;
    const digest = bytes !== null ? sha256(bytes) : 'copy' in item ? item.copy : digestIn(result, item);
    if (there === digest) return digest;
    if (bytes !== null) await tree.write(item.path, bytes, isThere);
    else if ('copy' in item) await tree.copy(item.path, mediaFile(item.copy));
    else if ('same' in item) await tree.link(item.path, item.same, isThere);
    result.written++;
    return digest;
  }
}

function digestIn(result: RenderResult, item: RenderedFile): string {
  const found = 'same' in item ? result.files.find(({ path }) => path === item.same) : undefined;
  if (found === undefined) throw new Error(`${item.path} is to be the same as a file that was not printed before it`);
  return found.digest;
}

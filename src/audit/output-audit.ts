import { join } from 'node:path';
import type { Archive } from '../desk/archive.ts';
import { messageOf } from '../fault.ts';
import { digestOf } from '../files/file-digest.ts';
import { sha256 } from '../ledger/basis.ts';
import type { Site } from '../press/edition.ts';
import { Edition } from '../press/edition.ts';
import type { PressedFile } from '../press/manifest.ts';
import type { Render, RenderedFile, RenderTools } from '../press/output.ts';
import { outputNamed } from '../press/outputs/all.ts';
import { hosting } from '../press/outputs/hosting.ts';
import { news } from '../press/outputs/sitemap.ts';
import { bytesOf } from './disk.ts';
import { newsMoment } from './news.ts';
import type { ExpectedPage } from './page.ts';
import { pageFault } from './page.ts';
import { PRESS_AGAIN } from './parts.ts';

export interface OutputAuditJob {
  paper: string;
  archive: Archive;
  site: Site;
  /** The paper's tree. */
  folder: string;
  /** What the manifest lists for an output: its files, and the tags that it read. */
  listed(output: string): { files: PressedFile[]; tags: string | null };
  tools: RenderTools;
  /** Whether to render pages and draw cards again. The smaller sizes of pictures are taken from DATA_DIR. */
  deep: boolean;
}

/** The files of one output, and their faults. */
export interface OutputFindings {
  paths: string[];
  faults: string[];
}

/** A file of an output. `page` is its page when that was not rendered. */
interface Expected {
  item: RenderedFile;
  page: ExpectedPage | null;
}

/**
 * Compares the files of single outputs with what the ledger gives. Generates documents again and compares them byte
 * for byte. Pages are rendered again only by a deep audit; otherwise they are searched for required texts. The
 * manifest is not trusted: it must list exactly these files, with the bytes on disk.
 */
export class OutputAudit {
  readonly #job: OutputAuditJob;

  constructor(job: OutputAuditJob) {
    this.#job = job;
  }

  edition(): Edition {
    return new Edition(this.#job.archive, this.#job.site);
  }

  async check(name: string): Promise<OutputFindings> {
    const { paper } = this.#job;
    const edition = this.edition();
    let expected: Expected[];
    try {
      expected = await this.#expectedFiles(name, edition);
    } catch (error) {
      const why = messageOf(error).split('\n')[0];
      return { paths: [], faults: [`${paper}: ${name} cannot be made from the database (${why})`] };
    }
    const { files, tags } = this.#job.listed(name);
    const listed = new Map(files.map(({ path, digest }) => [path, digest]));
    const faults: string[] = [];
    for (const one of expected) {
      const { path } = one.item;
      const fault = await this.#checkFile(one, listed.get(path));
      if (fault !== null) faults.push(`${paper}/${path}: ${fault}`);
      listed.delete(path);
    }
    for (const path of listed.keys()) {
      faults.push(`${paper}/${path}: the manifest lists this file, which the ledger does not call for; ${PRESS_AGAIN}`);
    }
    if (tags !== (expected.length === 0 ? null : edition.reads.join('\n'))) {
      faults.push(`${paper}: the manifest does not list what ${name} reads, so it would miss changes; ${PRESS_AGAIN}`);
    }
    return { paths: expected.map(({ item }) => item.path), faults };
  }

  /** The files of an output. Unless the audit is deep, records pages without rendering them. */
  async #expectedFiles(name: string, edition: Edition): Promise<Expected[]> {
    const found = outputNamed(name);
    if (found === null) return [];
    const pages = new Map<unknown, ExpectedPage>();
    const render: Render = (route, view) => {
      const token = `\0page ${pages.size}`;
      pages.set(token, { route, view });
      return Promise.resolve(token);
    };
    const { tools, deep, archive, folder } = this.#job;
    // The headers contain the hashes of scripts, which only rendered pages have.
    const isRendered = deep || found.output === hosting;
    const now =
      found.output === news
        ? newsMoment(archive, bytesOf(join(folder, 'sitemap-news.xml'))?.toString('latin1') ?? '', tools.now)
        : tools.now;
    const printed = await found.output.print(edition, found.key, { ...tools, now, ...(isRendered ? {} : { render }) });
    return (printed ?? []).map((item) => ({ item, page: pages.get('body' in item ? item.body : null) ?? null }));
  }

  /** The fault of a file; null when there is none. */
  async #checkFile({ item, page }: Expected, listed: string | undefined): Promise<string | null> {
    const file = join(this.#job.folder, item.path);
    if ('copy' in item) return verdict(digestOf(file), listed, item.copy);
    const bytes = bytesOf(file);
    const wanted = page === null ? await this.#wanted(item) : null;
    const fault = verdict(bytes === null ? null : sha256(bytes), listed, wanted);
    if (fault !== null || page === null || bytes === null) return fault;
    const difference = pageFault(page, bytes.toString('utf8'), this.#job.site.base);
    return difference === null ? null : `the page does not match the ledger: ${difference}; ${PRESS_AGAIN}`;
  }

  /** The digest that a file must have; null when only a deep audit can tell. */
  async #wanted(item: RenderedFile): Promise<string | null> {
    if ('same' in item) return digestOf(join(this.#job.folder, item.same));
    if ('draw' in item) return this.#job.deep ? sha256(await item.draw()) : null;
    return 'body' in item ? sha256(Buffer.from(item.body)) : null;
  }
}

function verdict(found: string | null, listed: string | undefined, wanted: string | null): string | null {
  if (found === null) return `the file is missing; ${PRESS_AGAIN}`;
  if (wanted !== null && found !== wanted && found === listed) {
    return `the file does not match the ledger, though the manifest lists it; remove it and ${PRESS_AGAIN}`;
  }
  if (listed === undefined) return `the manifest does not list the file; ${PRESS_AGAIN}`;
  if (found !== listed) return `the file was altered; ${PRESS_AGAIN}`;
  return null;
}

import { createHash } from 'node:crypto';
import type { Archive } from '../desk/archive.ts';
import { tags } from '../desk/tags.ts';
import type { Place } from './edition.ts';
import { Edition } from './edition.ts';
import type { Manifest, PressedFile } from './manifest.ts';
import type { Printed, Rank, Tools } from './sheet.ts';
import { RANKS } from './sheet.ts';
import { nameOf, SHEETS, sheetNamed } from './sheets/all.ts';
import { steady } from './steady.ts';
import type { Tree } from './tree.ts';

/** More cards than this are drawn after the pages are up; fewer come first, so that no page points at nothing. */
const CARDS_FIRST_MAX = 50;
/** Sheets whose files are being drawn or written at once: sharp and the disk work on other threads. */
const FLYING_MAX = 8;
/** Sheets whose records are written in one transaction. */
const BATCH = 500;

export interface PressJob {
  paper: string;
  archive: Archive;
  manifest: Manifest;
  place: Place;
  tree: Tree;
  tools: Tools;
  /** Names the program and the settings that a tree depends on; another one makes everything due. */
  stamp: string;
  /** Presses everything, whether it is due or not. */
  full: boolean;
  /** False leaves the share cards due for a later press. */
  cards: boolean;
  transact: <T>(work: () => T) => T;
  /** Path of a media file's bytes by its digest. */
  mediaFile(digest: string): string;
  /** Called often enough to show progress and to keep the press's claim. */
  progress(done: number, total: number, what: string): void;
}

export interface PressReport {
  /** Whether everything was printed, not only what was due. */
  full: boolean;
  /** Sheets printed. */
  sheets: number;
  /** Paths of the files that changed on disk. */
  written: number;
  removed: number;
}

/** Prints what is due of one paper, or all of it, and leaves the tree that a full press would leave. */
export async function press(job: PressJob): Promise<PressReport> {
  const run = new PressRun(job);
  return run.go();
}

/** What one sheet came to. */
interface Result {
  name: string;
  tags: string[];
  files: PressedFile[];
  gone: string[];
}

class PressRun {
  readonly #job: PressJob;
  readonly #archive: Archive;
  readonly #results: Result[] = [];
  readonly #stale: string[] = [];
  readonly #onDisk: Set<string> | null;
  readonly #full: boolean;
  readonly #due: { id: number; tag: string }[];
  readonly #flying = new Set<Promise<void>>();
  #failure: { error: unknown } | null = null;
  #done = 0;
  #total = 0;
  #written = 0;

  constructor(job: PressJob) {
    this.#job = job;
    this.#archive = steady(job.archive);
    this.#due = job.manifest.due(job.paper);
    this.#full =
      job.full ||
      job.manifest.stamp(job.paper) !== job.stamp ||
      this.#due.some(({ tag }) => tag === tags.config);
    // A full press trusts the disk alone: a file that somebody removed is written again.
    this.#onDisk = this.#full ? job.tree.list() : null;
  }

  async go(): Promise<PressReport> {
    const { paper, manifest, archive, tree } = this.#job;
    const published = archive.paper().paper_public;
    const names = published ? this.#names() : new Set<string>();
    const ranked = this.#ranked(names);
    this.#total = names.size;
    for (const group of ranked) {
      for (const name of group.names) await this.#print(name);
      // What comes next may point at what is still being written.
      await this.#land();
    }

    // Nothing points any more at what goes now.
    const leftover = this.#full ? manifest.sheets(paper).filter((name) => !this.#stays(name, names)) : [];
    const gone = [...this.#stale, ...leftover.flatMap((name) => manifest.files(paper, name).map(({ path }) => path))];
    const strays = this.#full ? this.#strays() : [];
    for (const path of new Set([...gone, ...strays])) tree.remove(path);
    this.#job.transact(() => {
      for (const name of leftover) manifest.drop(paper, name);
      manifest.paid(paper, this.#due.at(-1)?.id ?? 0);
      if (!this.#job.cards) this.#oweCards(names);
      manifest.setStamp(paper, this.#job.stamp);
    });
    tree.close();
    return { full: this.#full, sheets: names.size, written: this.#written, removed: gone.length + strays.length };
  }

  /** Names of the sheets to print: everything, or those that read a touched tag or come from one. */
  #names(): Set<string> {
    const names = new Set<string>();
    const asking = this.#edition();
    if (this.#full) {
      for (const sheet of SHEETS) {
        if (sheet.kind === 'card' && !this.#job.cards) continue;
        for (const key of sheet.all(asking)) names.add(nameOf(sheet, key));
      }
      return names;
    }
    for (const tag of new Set(this.#due.map((row) => row.tag))) {
      for (const name of this.#job.manifest.readers(this.#job.paper, tag)) names.add(name);
      for (const sheet of SHEETS) {
        for (const key of sheet.from(tag, asking)) names.add(nameOf(sheet, key));
      }
    }
    if (!this.#job.cards) {
      for (const name of names) if (isCard(name)) names.delete(name);
    }
    return names;
  }

  #ranked(names: Set<string>): { rank: Rank; names: string[] }[] {
    const groups = new Map<Rank, string[]>(RANKS.map((rank) => [rank, []]));
    for (const name of names) {
      const found = sheetNamed(name);
      if (found !== null) groups.get(found.sheet.rank)?.push(name);
    }
    const order = [...RANKS];
    if ((groups.get('card')?.length ?? 0) > CARDS_FIRST_MAX) {
      order.splice(order.indexOf('card'), 1);
      order.push('card');
    }
    return order.map((rank) => ({ rank, names: groups.get(rank) ?? [] }));
  }

  async #print(name: string): Promise<void> {
    const found = sheetNamed(name);
    if (found === null) return;
    const { paper, manifest, tools } = this.#job;
    const edition = this.#edition();
    const printed = (await found.sheet.print(edition, found.key, tools)) ?? [];
    const known = new Map(manifest.files(paper, name).map(({ path, digest }) => [path, digest]));
    const tagsRead = printed.length === 0 ? [] : edition.reads;
    const put = this.#putAll(printed, known).then((files) => {
      const now = new Set(files.map(({ path }) => path));
      const gone = [...known.keys()].filter((path) => !now.has(path));
      this.#stale.push(...gone);
      this.#results.push({ name, tags: tagsRead, files, gone });
      this.#job.progress(++this.#done, this.#total, name);
    });
    await this.#fly(put);
  }

  /** Lets a few sheets' files be written while the next sheets are printed. */
  async #fly(put: Promise<void>): Promise<void> {
    const landing: Promise<void> = put.then(
      () => {
        this.#flying.delete(landing);
      },
      (error: unknown) => {
        this.#flying.delete(landing);
        this.#failure ??= { error };
      },
    );
    this.#flying.add(landing);
    if (this.#flying.size >= FLYING_MAX) await Promise.race(this.#flying);
    if (this.#failure !== null) throw this.#failure.error;
    if (this.#results.length >= BATCH) this.#save();
  }

  /** Waits until every file that was begun is on disk. */
  async #land(): Promise<void> {
    await Promise.all(this.#flying);
    if (this.#failure !== null) throw this.#failure.error;
    this.#save();
  }

  async #putAll(printed: Printed[], known: Map<string, string>): Promise<PressedFile[]> {
    const files: PressedFile[] = [];
    for (const item of printed) {
      if (!('same' in item)) {
        files.push(await this.#put(item, known.get(item.path)));
        continue;
      }
      const digest = files.find(({ path }) => path === item.same)?.digest ?? '';
      const isThere = this.#isThere(item.path, known.get(item.path));
      if (!isThere || known.get(item.path) !== digest) {
        await this.#job.tree.link(item.path, item.same, isThere);
        this.#written++;
      }
      files.push({ path: item.path, digest });
    }
    return files;
  }

  /** Puts a file on disk unless the bytes there are the same. */
  async #put(item: Exclude<Printed, { same: string }>, before: string | undefined): Promise<PressedFile> {
    const { tree, mediaFile } = this.#job;
    const isThere = this.#isThere(item.path, before);
    if ('draw' in item) {
      // The path names what it shows: a file that is there is the right one.
      if (before !== undefined && tree.has(item.path)) return { path: item.path, digest: before };
      return this.#write(item.path, await item.draw(), isThere);
    }
    if ('copy' in item) {
      if (!isThere || before !== item.copy) {
        await tree.copy(item.path, mediaFile(item.copy));
        this.#written++;
      }
      return { path: item.path, digest: item.copy };
    }
    const bytes = typeof item.body === 'string' ? Buffer.from(item.body, 'utf8') : item.body;
    const digest = digestOf(bytes);
    return isThere && before === digest ? { path: item.path, digest } : this.#write(item.path, bytes, isThere, digest);
  }

  async #write(path: string, bytes: Uint8Array, isThere: boolean, digest = digestOf(bytes)): Promise<PressedFile> {
    await this.#job.tree.write(path, bytes, isThere);
    this.#written++;
    return { path, digest };
  }

  /** Whether a file is on disk: a full press looks, another believes the manifest. */
  #isThere(path: string, before: string | undefined): boolean {
    return this.#onDisk === null ? before !== undefined : this.#onDisk.has(path);
  }

  #save(): void {
    const { paper, manifest, transact } = this.#job;
    const results = this.#results.splice(0);
    if (results.length === 0) return;
    transact(() => {
      for (const { name, tags: read, files, gone } of results) {
        if (files.length === 0) manifest.drop(paper, name);
        else manifest.record(paper, name, read, files, gone);
      }
    });
  }

  /** A full press without cards leaves those that are there. */
  #stays(name: string, printed: Set<string>): boolean {
    return printed.has(name) || (isCard(name) && !this.#job.cards && this.#job.archive.paper().paper_public);
  }

  /** Files on disk that no sheet printed: only a press writes here. */
  #strays(): string[] {
    const ours = new Set(this.#job.manifest.everyFile(this.#job.paper).map(({ path }) => path));
    return [...(this.#onDisk ?? [])].filter((path) => !ours.has(path));
  }

  /** The cards that this press left out stay due. */
  #oweCards(names: Set<string>): void {
    const { archive, manifest, paper } = this.#job;
    const slugs = [...names].flatMap((name) => (name.startsWith('story/') ? [name.slice('story/'.length)] : []));
    manifest.owe(
      paper,
      slugs.flatMap((slug) => {
        const story = archive.storyBySlug(slug);
        return story === null ? [] : [tags.card(story.id)];
      }),
    );
  }

  #edition(): Edition {
    return new Edition(this.#archive, this.#job.place);
  }
}

function isCard(name: string): boolean {
  return name.startsWith('card/');
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

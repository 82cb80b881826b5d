import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import canonicalize from 'canonicalize';
import type * as z from 'zod';
import { airStory } from '../../desk/airing.ts';
import { CastBody } from '../../desk/cast.ts';
import { enter } from '../../desk/enter.ts';
import { fileStory } from '../../desk/filing.ts';
import { PersonaBody } from '../../desk/masthead.ts';
import type { Media } from '../../desk/media.ts';
import { isPaperSlug, PaperBody } from '../../desk/paper.ts';
import type { Problem } from '../../fault.ts';
import { Fault } from '../../fault.ts';
import { shapeProblems } from '../../ledger/filing.ts';
import { probeMedia } from '../../press/probe.ts';
import type { Workshop } from '../../works/workshop.ts';
import type { FileProblem, SourceFile } from './source-file.ts';
import { readSource } from './source-file.ts';
import { storyFrom } from './story-file.ts';

/** What filing a folder came to. */
export interface Filed {
  /** Pieces and records that were new or had changed. */
  filed: string[];
  /** Pieces that were as they are. */
  unchanged: number;
  problems: FileProblem[];
}

/**
 * Files one paper's folder through the door: its media, its record, its
 * masthead, its video editions, its stories. A file that is refused is
 * reported and the rest goes on. `only` narrows the stories to these paths.
 */
export async function fileFolder(shop: Workshop, folder: string, only?: Set<string>): Promise<Filed> {
  const inbox = new Inbox(shop, folder);
  await inbox.media();
  if (!inbox.paper()) return inbox.result;
  inbox.masthead();
  inbox.casts();
  inbox.stories(only);
  return inbox.result;
}

class Inbox {
  readonly result: Filed = { filed: [], unchanged: 0, problems: [] };
  readonly #shop: Workshop;
  readonly #folder: string;
  readonly #slug: string;

  constructor(shop: Workshop, folder: string) {
    this.#shop = shop;
    this.#folder = folder;
    this.#slug = folder.split(sep).at(-1) ?? '';
  }

  /** The name a file is reported under: its path below the content folder. */
  #name(path: string): string {
    return join(this.#slug, relative(this.#folder, path));
  }

  /** Media first: records and stories name them. */
  async media(): Promise<void> {
    const { store, media, now } = this.#shop;
    for (const path of filesUnder(join(this.#folder, 'media'))) {
      const file = this.#name(path);
      const name = relative(this.#folder, path).split(sep).join('/');
      try {
        const digest = await digestOfFile(path);
        if (store.applied(file) === digest) continue;
        const probed: Media = { ...(await probeMedia(name, path)), path: name };
        media.keepFile(probed.digest, path);
        this.#record('media', name, probed, file, digest, now());
      } catch (error) {
        this.#report({ file, data: null, body: '', problems: [], locate: () => [] }, error, 'file');
      }
    }
  }

  /** Applies paper.yaml; false when there is no paper to file with. */
  paper(): boolean {
    const path = join(this.#folder, 'paper.yaml');
    if (!isPaperSlug(this.#slug)) {
      this.#problem(this.#name(path), 'paper', `the folder's name ${JSON.stringify(this.#slug)} cannot be a paper's address; use a–z, 0–9 and single hyphens, and no name that the server uses itself`);
      return false;
    }
    if (existsSync(path)) this.#apply(path, PaperBody, 'paper', '', (body) => body);
    else if (!this.#shop.store.hasPaper(this.#slug)) {
      this.#problem(this.#name(path), 'paper', 'there is no paper.yaml; write one with at least nameplate and sections');
    }
    return this.#shop.store.hasPaper(this.#slug);
  }

  masthead(): void {
    for (const path of filesUnder(join(this.#folder, 'masthead'), '.yaml')) {
      const slug = baseName(path, '.yaml');
      this.#apply(path, PersonaBody, 'persona', slug, (body) => {
        this.#needMedia('avatar', body.avatar, 'image/');
        return { slug, ...body };
      });
    }
  }

  casts(): void {
    for (const path of filesUnder(join(this.#folder, 'cast'), '.yaml')) {
      const day = baseName(path, '.yaml');
      if (!isDay(day)) {
        this.#problem(this.#name(path), 'day', `${JSON.stringify(day)} is not a day; name the file after the day, as in 2026-11-20.yaml`);
        continue;
      }
      this.#apply(path, CastBody, 'cast', day, (body) => {
        const video = this.#needMedia('video', body.video, 'video/');
        this.#needMedia('poster', body.poster, 'image/');
        this.#needMedia('captions', body.captions, 'text/vtt');
        return {
          day,
          ...body,
          duration_s: Math.round((video?.duration_ms ?? 0) / 1000),
          bytes: video?.bytes ?? 0,
          media_type: video?.media_type ?? '',
        };
      });
    }
  }

  /** Files the stories. `slug.md` is a piece; beside `slug.2.md` it is its first revision. */
  stories(only?: Set<string>): void {
    const revisions = new Map<string, { n: number; path: string }[]>();
    for (const path of filesUnder(join(this.#folder, 'stories'), '.md')) {
      const [, slug = '', n] = /^(.*?)(?:\.([2-9]|[1-9]\d+))?$/.exec(baseName(path, '.md')) ?? [];
      const list = revisions.get(slug) ?? [];
      list.push({ n: Number(n ?? 1), path });
      revisions.set(slug, list);
    }
    const batch = 100;
    const pieces = [...revisions].filter(([, files]) => !only || files.some(({ path }) => only.has(path)));
    for (let start = 0; start < pieces.length; start += batch) {
      this.#shop.store.transact(() => {
        for (const [slug, files] of pieces.slice(start, start + batch)) {
          const sorted = files.sort((a, b) => a.n - b.n);
          for (const { n, path } of sorted) {
            if (!this.#story(path, slug, sorted.length === 1 ? null : n, n === sorted.at(-1)?.n)) break;
          }
        }
      });
    }
  }

  /** Files one story file; false when it was refused. */
  #story(path: string, slug: string, revision: number | null, isNewest: boolean): boolean {
    const { desk, store } = this.#shop;
    const source = readSource(path, this.#name(path), 'markdown');
    const archive = store.archive(this.#slug);
    const { story, problems } = storyFrom(source, slug, archive.paper());
    this.result.problems.push(...source.problems, ...source.locate(problems));
    if (story === undefined) return false;
    try {
      const before = archive.storyBySlug(slug);
      if (revision !== null && before !== null && revision <= before.revision && !(isNewest && revision === before.revision)) {
        // An older revision is history: it is there, and it stays as it was filed.
        return true;
      }
      const { changed } = fileStory(desk, this.#slug, story.filing, { by: 'cli' });
      const aired =
        story.air !== false &&
        !(before !== null && before.state === 'withdrawn') &&
        airStory(desk, this.#slug, slug, { by: 'cli', ...(typeof story.air === 'number' ? { at: story.air } : {}) }).changed;
      if (changed || aired) this.result.filed.push(source.file);
      else this.result.unchanged++;
      return true;
    } catch (error) {
      this.#report(source, error, 'prose');
      return false;
    }
  }

  /** Applies a YAML record when its file changed since it was last applied. */
  #apply<T extends z.ZodType>(
    path: string,
    schema: T,
    kind: 'paper' | 'persona' | 'cast',
    name: string,
    finish: (body: z.infer<T>) => unknown,
  ): void {
    const file = this.#name(path);
    const digest = digestOf(readFileSync(path));
    if (this.#shop.store.applied(file) === digest) return;
    const source = readSource(path, file, 'yaml');
    this.result.problems.push(...source.problems);
    if (source.data === null) return;
    const parsed = schema.safeParse(source.data);
    if (!parsed.success) {
      this.result.problems.push(...source.locate(shapeProblems(parsed.error, source.data)));
      return;
    }
    try {
      this.#record(kind, name, finish(parsed.data), file, digest, this.#shop.now());
    } catch (error) {
      this.#report(source, error, 'file');
    }
  }

  #record(kind: 'paper' | 'persona' | 'cast' | 'media', name: string, body: unknown, file: string, digest: string, at: number): void {
    const { store } = this.#shop;
    store.transact(() => {
      const before = store.record(this.#slug, kind, name);
      if (before === null || canonicalize(before) !== canonicalize(body)) {
        enter(store, { type: 'record', at, paper: this.#slug, kind, name, body });
        this.result.filed.push(file);
      }
      store.setApplied(file, digest);
    });
  }

  /** A media file that a record names. Throws when it is not there or of another type. */
  #needMedia(field: string, path: string | null, type: string): Media | null {
    if (path === null) return null;
    const found = this.#shop.store.archive(this.#slug).media(path);
    if (found?.media_type.startsWith(type)) return found;
    const problem: Problem = {
      field,
      rule: 'unknown_media',
      message:
        found === null
          ? `${JSON.stringify(path)} is not a media file of this paper; put it there, or correct the path`
          : `${JSON.stringify(path)} is ${found.media_type}, not ${type}…; name another file`,
    };
    throw new Fault('refused_by_door', problem.message, { problems: [problem] });
  }

  #report(source: SourceFile, error: unknown, field: string): void {
    if (!(error instanceof Fault)) throw error;
    const problems = (error.details['problems'] as Problem[] | undefined) ?? [
      { field, rule: error.code, message: error.message },
    ];
    const located = source.locate(problems);
    if (located.length > 0) this.result.problems.push(...located);
    else for (const { field: at, message } of problems) this.#problem(source.file, at, message);
  }

  #problem(file: string, field: string, message: string): void {
    this.result.problems.push({ file, line: 1, field, rule: 'refused', message });
  }
}

function filesUnder(folder: string, ending?: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && (ending === undefined || extname(entry.name) === ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function baseName(path: string, ending: string): string {
  return path.split(sep).at(-1)?.slice(0, -ending.length) ?? '';
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return `sha256:${hash.digest('hex')}`;
}

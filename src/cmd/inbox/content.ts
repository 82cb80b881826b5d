import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import canonicalize from 'canonicalize';
import type * as z from 'zod';
import { airStory } from '../../desk/airing.ts';
import type { Cast } from '../../desk/cast.ts';
import { CastBody } from '../../desk/cast.ts';
import { enter } from '../../desk/enter.ts';
import { fileStory, sameContent } from '../../desk/filing.ts';
import { PersonaBody } from '../../desk/masthead.ts';
import type { Media } from '../../desk/media.ts';
import { isPaperSlug, PaperBody } from '../../desk/paper.ts';
import { sectionProblems } from '../../desk/paper-change.ts';
import type { Problem } from '../../fault.ts';
import { Fault, refused } from '../../fault.ts';
import { isLine, SLUG } from '../../ledger/door.ts';
import { shapeProblems } from '../../ledger/filing.ts';
import type { Workshop } from '../../works/workshop.ts';
import type { FileProblem, SourceFile } from './source-file.ts';
import { readSource } from './source-file.ts';
import type { StoryFile } from './story-file.ts';
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
 * Files one paper's folder through the door: its record, its media, its
 * masthead, its video editions, its stories. A file that is refused is
 * reported and the rest goes on. `only` narrows the stories to these paths.
 */
export async function fileFolder(shop: Workshop, folder: string, only?: Set<string>): Promise<Filed> {
  const inbox = new Inbox(shop, folder);
  if (!inbox.paper()) return inbox.result;
  await inbox.media();
  inbox.masthead();
  inbox.casts();
  inbox.stories(only);
  return inbox.result;
}

/** One of a piece's files: `slug.md` is the first, `slug.2.md` the second. */
interface RevisionFile {
  n: number;
  path: string;
}

interface ReadStory {
  source: SourceFile;
  story: StoryFile;
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

  /** The files of one of the paper's folders. What stands there and is no such file is reported. */
  #files(folder: string, ending?: string): string[] {
    const root = join(this.#folder, folder);
    if (!existsSync(root)) return [];
    const paths: string[] = [];
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue;
      const path = join(entry.parentPath, entry.name);
      const wanted = ending === undefined || extname(entry.name) === ending;
      if (entry.isFile() && wanted) paths.push(path);
      else if (entry.isFile()) this.#otherEnding(path, ending ?? '');
      else if (!entry.isDirectory() || (ending !== undefined && wanted)) {
        this.#problem(this.#name(path), 'file', 'this is not a file; put the file itself here, or move it away');
      }
    }
    return paths.sort();
  }

  /** A file that was surely meant for this folder, and would not be read. */
  #otherEnding(path: string, ending: string): void {
    if (!/\.(?:ya?ml|md|markdown)$/i.test(path)) return;
    this.#problem(
      this.#name(path),
      'file',
      `a name in this folder ends in ${ending}; rename the file, or move it away`,
    );
  }

  /** Media before what names them. */
  async media(): Promise<void> {
    const { store, media, now } = this.#shop;
    for (const path of this.#files('media')) {
      const file = this.#name(path);
      const name = relative(this.#folder, path).split(sep).join('/');
      try {
        if (!isLine(name)) throw new Fault('invalid_request', 'the name holds a control character; rename the file');
        const digest = await digestOfFile(path);
        if (store.applied(file) === digest) continue;
        // Its libraries are large, and most runs meet no new media.
        const { probeMedia } = await import('../../press/probe.ts');
        const probed: Media = { ...(await probeMedia(name, path)), path: name };
        media.keepFile(probed.digest, path);
        this.#record('media', name, probed, file, digest, now());
      } catch (error) {
        this.#report({ file, digest: '', data: null, body: '', problems: [], locate: () => [] }, error, 'file');
      }
    }
  }

  /** Applies paper.yaml; false when there is no paper to file with. */
  paper(): boolean {
    const path = join(this.#folder, 'paper.yaml');
    if (!isPaperSlug(this.#slug)) {
      this.#problem(
        this.#name(path),
        'paper',
        `the folder's name ${JSON.stringify(this.#slug)} cannot be a paper's address; use a–z, 0–9 and single hyphens, and no name that the server uses itself`,
      );
      return false;
    }
    if (existsSync(path)) this.#apply(path, PaperBody, 'paper', '', (body) => this.#keepsSections(body));
    else if (!this.#shop.store.hasPaper(this.#slug)) {
      this.#problem(
        this.#name(path),
        'paper',
        'there is no paper.yaml; write one with at least nameplate and sections',
      );
    }
    return this.#shop.store.hasPaper(this.#slug);
  }

  masthead(): void {
    for (const path of this.#files('masthead', '.yaml')) {
      const slug = baseName(path, '.yaml');
      if (!SLUG.test(slug)) {
        this.#problem(
          this.#name(path),
          'slug',
          `${JSON.stringify(slug)} cannot be a persona's address; name the file with a–z, 0–9 and single hyphens`,
        );
        continue;
      }
      this.#apply(path, PersonaBody, 'persona', slug, (body) => {
        this.#needMedia('avatar', body.avatar, 'image/');
        return { slug, ...body };
      });
    }
  }

  casts(): void {
    for (const path of this.#files('cast', '.yaml')) {
      const day = baseName(path, '.yaml');
      if (!isDay(day)) {
        this.#problem(
          this.#name(path),
          'day',
          `${JSON.stringify(day)} is not a day; name the file after the day, as in 2026-11-20.yaml`,
        );
        continue;
      }
      this.#apply(path, CastBody, 'cast', day, (body) => {
        const video = this.#needMedia('video', body.video, 'video/');
        this.#needMedia('poster', body.poster, 'image/');
        this.#needMedia('captions', body.captions, 'text/vtt');
        return { day, ...body, ...measures(video) };
      });
    }
    this.#measureCasts();
  }

  /** A video that was exchanged for another under the same name: its edition tells the new length. */
  #measureCasts(): void {
    const { store, now } = this.#shop;
    const archive = store.archive(this.#slug);
    for (const cast of archive.casts()) {
      const measured = { ...cast, ...measures(archive.media(cast.video)) };
      if (canonicalize(measured) === canonicalize(cast)) continue;
      store.transact(() =>
        enter(store, { type: 'record', at: now(), paper: this.#slug, kind: 'cast', name: cast.day, body: measured }),
      );
      this.result.filed.push(this.#name(join(this.#folder, 'cast', `${cast.day}.yaml`)));
    }
  }

  /** Files the stories. `slug.md` is a piece; beside `slug.2.md` it is its first revision. */
  stories(only?: Set<string>): void {
    const batch = 100;
    const pieces = [...this.#revisions()].filter(([, files]) => !only || files.some(({ path }) => only.has(path)));
    // Opened outside: a transaction that is taken back must not take the door's key with it.
    if (pieces.length > 0) void this.#shop.desk;
    for (let start = 0; start < pieces.length; start += batch) {
      this.#shop.store.transact(() => {
        for (const [slug, files] of pieces.slice(start, start + batch)) this.#piece(slug, files);
      });
    }
  }

  /** The files of each slug, in the order of their numbers. A slug whose numbers do not count 1, 2, 3 … is reported and left out. */
  #revisions(): Map<string, RevisionFile[]> {
    const bySlug = new Map<string, RevisionFile[]>();
    for (const path of this.#files('stories', '.md')) {
      const [, slug = '', n] = /^(.*?)(?:\.([2-9]|[1-9]\d+))?$/.exec(baseName(path, '.md')) ?? [];
      const files = bySlug.get(slug) ?? [];
      files.push({ n: Number(n ?? 1), path });
      bySlug.set(
        slug,
        files.sort((a, b) => a.n - b.n),
      );
    }
    for (const [slug, files] of bySlug) {
      const at = files.findIndex(({ n }, index) => n !== index + 1);
      const astray = files[at];
      if (astray === undefined) continue;
      const before = files[at - 1];
      this.#problem(
        this.#name(astray.path),
        'slug',
        before?.n === astray.n
          ? `${this.#name(before.path)} is revision ${before.n} of ${slug} too; rename one of the two`
          : `there is no ${slug}${at === 0 ? '' : `.${at + 1}`}.md for it to revise; number the files of a piece ${slug}.md, ${slug}.2.md, ${slug}.3.md …`,
      );
      bySlug.delete(slug);
    }
    return bySlug;
  }

  /** Files what is new of a piece's files. Those of older revisions are history, and must be as they were filed. */
  #piece(slug: string, files: RevisionFile[]): void {
    const archive = this.#shop.store.archive(this.#slug);
    const read: ReadStory[] = [];
    for (const { path } of files) {
      const source = readSource(path, this.#name(path), 'markdown');
      const { story, problems } = storyFrom(source, slug, archive.paper());
      this.result.problems.push(...source.problems, ...source.locate(problems));
      if (story === undefined) return;
      read.push({ source, story });
    }
    const before = archive.storyBySlug(slug);
    const filed = before === null || read.length === 1 ? [] : archive.revisions(before.id);
    // Each file's place among the revisions filed, in order; -1 for one that was not filed.
    let next = 0;
    const places = read.map(({ story: { filing } }) => {
      const place = filed.findIndex((piece, index) => index >= next && sameContent(piece, filing));
      if (place >= 0) next = place + 1;
      return place;
    });
    const last = places.findLastIndex((place) => place >= 0);
    const edited = filed.length === 0 ? -1 : places.findIndex((place, index) => place < 0 && index < Math.max(last, 1));
    const history = read[edited];
    if (history !== undefined) {
      this.#problem(
        history.source.file,
        'file',
        `this is an older revision and not as it was filed, and what was filed is never changed; put its text back, and make the change in ${slug}.${files.length + 1}.md`,
      );
      return;
    }
    // What is on file already stays; but the newest file is looked at again, for its time on air.
    for (const one of read.slice(Math.min(last + 1, read.length - 1))) {
      if (!this.#story(slug, one)) return;
    }
  }

  /** Files one story; false when it was refused. */
  #story(slug: string, { source, story: { filing, air } }: ReadStory): boolean {
    const { desk, store } = this.#shop;
    try {
      const before = store.archive(this.#slug).storyBySlug(slug);
      // What somebody took off the air, or off its schedule, stays off.
      const airs = air !== false && (before === null || before.withdrawn_at === null);
      const { changed } = fileStory(desk, this.#slug, filing, { by: 'cli', toAir: airs });
      const at = typeof air === 'number' ? { at: air } : {};
      const aired = airs && airStory(desk, this.#slug, slug, { by: 'cli', ...at }).changed;
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
    const source = readSource(path, file, 'yaml');
    if (this.#shop.store.applied(file) === source.digest) return;
    this.result.problems.push(...source.problems);
    if (source.data === null) return;
    const parsed = schema.safeParse(source.data);
    if (!parsed.success) {
      this.result.problems.push(...source.locate(shapeProblems(parsed.error, source.data)));
      return;
    }
    try {
      this.#record(kind, name, finish(parsed.data), file, source.digest, this.#shop.now());
    } catch (error) {
      this.#report(source, error, 'file');
    }
  }

  #record(
    kind: 'paper' | 'persona' | 'cast' | 'media',
    name: string,
    body: unknown,
    file: string,
    digest: string,
    at: number,
  ): void {
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

  /** The paper's new record, if it leaves no piece behind in a section that it drops. */
  #keepsSections(body: PaperBody): PaperBody {
    const { store } = this.#shop;
    const problems = store.hasPaper(this.#slug) ? sectionProblems(store.archive(this.#slug), body.sections) : [];
    if (problems.length > 0) throw refused(problems);
    return body;
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
    if (isDiskError(error)) {
      this.#problem(source.file, 'file', `the file cannot be read (${error.message}); put a file there that can be`);
      return;
    }
    if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
    const problems = (error.details.problems as Problem[] | undefined) ?? [
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

/** What an edition tells of its video. */
function measures(video: Media | null): Pick<Cast, 'duration_s' | 'bytes' | 'media_type'> {
  return {
    duration_s: Math.round((video?.duration_ms ?? 0) / 1000),
    bytes: video?.bytes ?? 0,
    media_type: video?.media_type ?? '',
  };
}

/** Whether the disk refused, as with a file that one may not read. */
function isDiskError(error: unknown): error is Error {
  return error instanceof Error && 'errno' in error && 'path' in error;
}

function baseName(path: string, ending: string): string {
  return path.split(sep).at(-1)?.slice(0, -ending.length) ?? '';
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return `sha256:${hash.digest('hex')}`;
}

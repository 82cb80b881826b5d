import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import canonicalize from 'canonicalize';
import type * as z from 'zod';
import type { Cast } from '../../desk/cast.ts';
import { CastBody } from '../../desk/cast.ts';
import { enter } from '../../desk/enter.ts';
import { PersonaBody } from '../../desk/masthead.ts';
import type { Media } from '../../desk/media.ts';
import { isPaperSlug, PaperBody } from '../../desk/paper.ts';
import { sectionProblems } from '../../desk/paper-change.ts';
import type { Problem } from '../../fault.ts';
import { Fault, refused } from '../../fault.ts';
import { isLine, SLUG } from '../../ledger/door.ts';
import { shapeProblems } from '../../ledger/filing.ts';
import type { DeskFolder } from './desk-folder.ts';
import { baseName } from './desk-folder.ts';
import { readSource } from './source-file.ts';

/** Applies what is no story: the paper's record, its media, its masthead, its video editions. */
export class Records {
  readonly #at: DeskFolder;

  constructor(at: DeskFolder) {
    this.#at = at;
  }

  /** Applies paper.yaml; false when there is no paper to file with. */
  paper(): boolean {
    const path = join(this.#at.folder, 'paper.yaml');
    if (!isPaperSlug(this.#at.slug)) {
      this.#at.problem(
        this.#at.name(path),
        'paper',
        `the folder's name ${JSON.stringify(this.#at.slug)} cannot be a paper's address; use a–z, 0–9 and single hyphens, and no name that the server uses itself`,
      );
      return false;
    }
    if (existsSync(path)) this.#apply(path, PaperBody, 'paper', '', (body) => this.#keepsSections(body));
    else if (!this.#at.shop.store.hasPaper(this.#at.slug)) {
      this.#at.problem(
        this.#at.name(path),
        'paper',
        'there is no paper.yaml; write one with at least nameplate and sections',
      );
    }
    return this.#at.shop.store.hasPaper(this.#at.slug);
  }

  /** Media before what names them. */
  async media(): Promise<void> {
    const { store, media, now } = this.#at.shop;
    for (const path of this.#at.files('media')) {
      const file = this.#at.name(path);
      const name = relative(this.#at.folder, path).split(sep).join('/');
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
        this.#at.report({ file, digest: '', data: null, body: '', problems: [], locate: () => [] }, error, 'file');
      }
    }
  }

  masthead(): void {
    for (const path of this.#at.files('masthead', '.yaml')) {
      const slug = baseName(path, '.yaml');
      if (!SLUG.test(slug)) {
        this.#at.problem(
          this.#at.name(path),
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
    for (const path of this.#at.files('cast', '.yaml')) {
      const day = baseName(path, '.yaml');
      if (!isDay(day)) {
        this.#at.problem(
          this.#at.name(path),
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
    const { store, now } = this.#at.shop;
    const archive = store.archive(this.#at.slug);
    for (const cast of archive.casts()) {
      const measured = { ...cast, ...measures(archive.media(cast.video)) };
      if (canonicalize(measured) === canonicalize(cast)) continue;
      store.transact(() =>
        enter(store, { type: 'record', at: now(), paper: this.#at.slug, kind: 'cast', name: cast.day, body: measured }),
      );
      this.#at.result.filed.push(this.#at.name(join(this.#at.folder, 'cast', `${cast.day}.yaml`)));
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
    const file = this.#at.name(path);
    const source = readSource(path, file, 'yaml');
    if (this.#at.shop.store.applied(file) === source.digest) return;
    this.#at.result.problems.push(...source.problems);
    if (source.data === null) return;
    const parsed = schema.safeParse(source.data);
    if (!parsed.success) {
      this.#at.result.problems.push(...source.locate(shapeProblems(parsed.error, source.data)));
      return;
    }
    try {
      this.#record(kind, name, finish(parsed.data), file, source.digest, this.#at.shop.now());
    } catch (error) {
      this.#at.report(source, error, 'file');
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
    const { store } = this.#at.shop;
    store.transact(() => {
      const before = store.record(this.#at.slug, kind, name);
      if (before === null || canonicalize(before) !== canonicalize(body)) {
        enter(store, { type: 'record', at, paper: this.#at.slug, kind, name, body });
        this.#at.result.filed.push(file);
      }
      store.setApplied(file, digest);
    });
  }

  /** The paper's new record, if it leaves no piece behind in a section that it drops. */
  #keepsSections(body: PaperBody): PaperBody {
    const { store } = this.#at.shop;
    const problems = store.hasPaper(this.#at.slug) ? sectionProblems(store.archive(this.#at.slug), body.sections) : [];
    if (problems.length > 0) throw refused(problems);
    return body;
  }

  /** A media file that a record names. Throws when it is not there or of another type. */
  #needMedia(field: string, path: string | null, type: string): Media | null {
    if (path === null) return null;
    const found = this.#at.shop.store.archive(this.#at.slug).media(path);
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
}

/** What an edition tells of its video. */
function measures(video: Media | null): Pick<Cast, 'duration_s' | 'bytes' | 'media_type'> {
  return {
    duration_s: Math.round((video?.duration_ms ?? 0) / 1000),
    bytes: video?.bytes ?? 0,
    media_type: video?.media_type ?? '',
  };
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return `sha256:${hash.digest('hex')}`;
}

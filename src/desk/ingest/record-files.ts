import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type * as z from 'zod';
import { isDay } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import { digestOfFile } from '../../shared/files/file-digest.ts';
import { isLink } from '../../shared/files/plain-file.ts';
import type { Problem } from '../../shared/shape.ts';
import { isLine } from '../../shared/shown-text.ts';
import type { Archive } from '../archive.ts';
import { SLUG } from '../door/door.ts';
import type { RecordKind } from '../ledger-entry.ts';
import { CastBody } from '../papers/cast.ts';
import { giveOwnHost, requireFreeAddress } from '../papers/host.ts';
import { PersonaBody } from '../papers/masthead.ts';
import type { Media } from '../papers/media.ts';
import { isPaperSlug, PaperBody } from '../papers/paper.ts';
import { appendRecord, brandMedia, castFrom, paperFrom, personaFrom, videoProperties } from '../papers/record.ts';
import { removedProblem } from '../papers/removal.ts';
import { baseName, type DeskFolder, LINK } from './desk-folder.ts';
import { filedMedia, inspectFile } from './filed-media.ts';
import { recordProblems } from './record-problems.ts';

export interface MediaReader {
  /** A text that changes with the content of the file: `sha256:<hex>` of its bytes. */
  digestOf(path: string): Promise<string>;
  /** Throws a `Fault` with the problem and the remedy. */
  inspect(name: string, path: string): Promise<Media>;
}

export const MEDIA_READER: MediaReader = { digestOf: digestOfFile, inspect: inspectFile };

/** Applies the records of a folder: the paper, its media, its masthead, its video editions. */
export class Records {
  readonly #at: DeskFolder;

  constructor(at: DeskFolder) {
    this.#at = at;
  }

  /** Applies paper.yaml. Returns false when there is still no paper. */
  paper(): boolean {
    const path = join(this.#at.folder, 'paper.yaml');
    if (this.#at.isLink(this.#at.folder) || this.#at.isLink(path)) return false;
    const problem = this.#addressProblem();
    if (problem !== null) {
      this.#at.refuse(path, 'paper', problem);
      return false;
    }
    if (existsSync(path)) this.#apply(path, PaperBody, 'paper', '', (body) => this.#paperFrom(body));
    else if (this.#archive() === null)
      this.#at.refuse(path, 'paper', 'there is no paper.yaml; write one with at least nameplate and sections');
    return this.#archive() !== null;
  }

  /** Why there can be no paper of this name. One that predates the reservation of its slug keeps working. */
  #addressProblem(): string | null {
    const { slug, intake } = this.#at;
    const removed = removedProblem(intake.store, slug);
    if (removed !== null || isPaperSlug(slug) || this.#archive() !== null) return removed;
    return `the folder's name ${JSON.stringify(slug)} cannot be a paper's address; use a–z, 0–9 and single hyphens, and no name that the server uses itself`;
  }

  /** Whether a sound paper.yaml names media, which must be filed before it. */
  namesMedia(): boolean {
    const path = join(this.#at.folder, 'paper.yaml');
    if (isLink(this.#at.folder) || isLink(path) || !existsSync(path) || this.#addressProblem() !== null) return false;
    const { success, data } = PaperBody.safeParse(this.#at.read(path, 'yaml').data);
    if (!success || brandMedia(data).length === 0) return false;
    if (this.#archive() === null) this.#found(data);
    return true;
  }

  /** Makes a new paper without the media that it names: they can only be filed to a paper that exists. */
  #found({ logo: _logo, icon: _icon, style: _style, ...body }: PaperBody): void {
    const { intake, slug } = this.#at;
    try {
      const paper = paperFrom(null, body);
      requireFreeAddress(intake, slug, paper.url);
      const entry = { at: intake.now(), paper: slug, kind: 'paper' as const, name: '', body: paper };
      intake.store.transact(() => appendRecord(intake.store, entry, null));
    } catch (error) {
      // The paper's file is applied next and reports what is wrong with it.
      if (!(error instanceof Fault)) throw error;
    }
  }

  /** Gives the paper its host, as only operators write paper.yaml. Null when it names a medium that was refused. */
  #paperFrom(body: PaperBody): PaperBody | null {
    const { intake, slug, result } = this.#at;
    const { media } = intake.store.archive(slug);
    const refused = ({ path }: { path: string }) =>
      media(path) === null && result.problems.some(({ file }) => file === join(slug, path));
    if (brandMedia(body).some(refused)) return null;
    const paper = paperFrom(this.#archive(), body, media);
    requireFreeAddress(intake, slug, paper.url);
    return paper;
  }

  /** Called before the records that name media. The writing desk passes a reader that remembers what it has read. */
  async media(read: MediaReader = MEDIA_READER): Promise<void> {
    const { store, media } = this.#at.intake;
    for (const path of this.#at.files('media')) {
      const file = this.#at.name(path);
      const name = relative(this.#at.folder, path).split(sep).join('/');
      try {
        if (!isLine(name)) throw new Fault('invalid_request', 'the name holds a control character; rename the file');
        const digest = await read.digestOf(path);
        const known = store.applied(file);
        const before = store.archive(this.#at.slug).media(name);
        const isKnown = known === digest && before !== null;
        if (isKnown && !before.missing && media.has(before.digest)) continue;
        const { media: inspected, changed } = await filedMedia(name, path, read.inspect);
        media.keepFile(inspected.digest, path, changed ?? undefined);
        if (this.#at.hasBecomeLink(path)) throw new Fault('invalid_request', LINK);
        // Its bytes were missing, and its record is there.
        if (isKnown && before.digest === inspected.digest) continue;
        store.transact(() => {
          // Another process may have applied a newer file.
          if (store.applied(file) === known) this.#record('media', name, inspected, file, digest);
        });
      } catch (error) {
        const line = lineIn(error);
        const locate = (problems: Problem[]) =>
          line === null ? [] : problems.map(({ field, rule, message }) => ({ file, line, field, rule, message }));
        this.#at.report({ file, locate }, error, 'file');
      }
    }
  }

  masthead(): void {
    for (const path of this.#at.files('masthead', '.yaml')) {
      const slug = baseName(path, '.yaml');
      if (SLUG.test(slug)) {
        this.#apply(path, PersonaBody, 'persona', slug, (body, archive) => personaFrom(archive, slug, body));
        continue;
      }
      const message = `${JSON.stringify(slug)} cannot be a persona's address; name the file with a–z, 0–9 and single hyphens`;
      this.#at.refuse(path, 'slug', message);
    }
  }

  casts(): void {
    for (const path of this.#at.files('cast', '.yaml')) {
      const day = baseName(path, '.yaml');
      if (isDay(day)) this.#apply(path, CastBody, 'cast', day, (body, archive) => castFrom(archive, day, body));
      else {
        const message = `${JSON.stringify(day)} is not a day; name the file after the day, as in 2026-11-20.yaml`;
        this.#at.refuse(path, 'day', message);
      }
    }
    this.#measureCasts();
  }

  /** Updates the length of video editions whose video was replaced under the same name. */
  #measureCasts(): void {
    const { store, now } = this.#at.intake;
    const archive = store.archive(this.#at.slug);
    for (const cast of archive.casts()) {
      const measured = { ...cast, ...videoProperties(archive.media(cast.video)) };
      const entry = { at: now(), paper: this.#at.slug, kind: 'cast' as const, name: cast.day, body: measured };
      if (!store.transact(() => appendRecord(store, entry, cast))) continue;
      this.#at.result.filed.push(this.#at.name(join(this.#at.folder, 'cast', `${cast.day}.yaml`)));
    }
  }

  /** Applies a changed YAML record. Reads it in the transaction: no newer version of another process is lost. */
  #apply<T extends z.ZodType>(
    path: string,
    schema: T,
    kind: 'paper' | 'persona' | 'cast',
    name: string,
    finish: (body: z.infer<T>, archive: Archive) => unknown,
  ): void {
    const { store } = this.#at.intake;
    const file = this.#at.name(path);
    store.transact(() => {
      const source = this.#at.read(path, 'yaml');
      if (store.applied(file) === source.digest) return;
      this.#at.result.problems.push(...source.problems);
      const checked = source.data ?? source.faulty;
      if (checked === null) return;
      const parsed = schema.safeParse(checked);
      if (!parsed.success) {
        this.#at.result.problems.push(...source.locate(recordProblems(parsed.error, checked, schema)));
        return;
      }
      if (source.data === null) return;
      try {
        const finished = finish(parsed.data, store.archive(this.#at.slug));
        if (finished !== null) this.#record(kind, name, finished, file, source.digest);
      } catch (error) {
        this.#at.report(source, error, 'file');
      }
    });
  }

  #record(kind: Exclude<RecordKind, 'page'>, name: string, body: unknown, file: string, digest: string): void {
    const { intake, slug: paper, result } = this.#at;
    const { store, now } = intake;
    const entry = { at: now(), paper, kind, name, body };
    if (appendRecord(store, entry, store.record(paper, kind, name))) result.filed.push(file);
    if (kind === 'paper') giveOwnHost(intake, paper);
    store.setApplied(file, digest);
  }

  #archive(): Archive | null {
    const { store } = this.#at.intake;
    return store.hasPaper(this.#at.slug) ? store.archive(this.#at.slug) : null;
  }
}

/** The line of a media file that breaks a rule, for a stylesheet. */
function lineIn(error: unknown): number | null {
  const line = error instanceof Fault ? error.details?.line : null;
  return typeof line === 'number' ? line : null;
}

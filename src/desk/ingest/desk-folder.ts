import { lstatSync, readdirSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { Fault, problemsIn } from '../../shared/fault.ts';
import { isLink } from '../../shared/files/plain-file.ts';
import { pushAll } from '../../shared/push-all.ts';
import type { Archive } from '../archive.ts';
import { demoShift, movedDay, withDatesMoved } from './demo-dates.ts';
import type { Intake } from './intake.ts';
import { type FileProblem, readSource, type SourceFile, unreadable } from './source-file.ts';
import type { WithoutFile } from './story-files.ts';

export interface Filed {
  /** Files of new or changed pieces and records. */
  filed: string[];
  unchanged: number;
  problems: FileProblem[];
  /** Pieces that are on air, or will be, although their files are gone. Only looked for in whole folders. */
  without_file: WithoutFile[];
}

export const LINK =
  'this is a link, and no link in the content folder is followed; put the file or folder itself here, or remove the link';

/** One paper's folder while it is being filed, with the outcome so far. */
export class DeskFolder {
  readonly result: Filed = { filed: [], unchanged: 0, problems: [], without_file: [] };
  readonly intake: Intake;
  readonly folder: string;
  /** The paper's slug: the folder's name. */
  readonly slug: string;
  #shift: number | undefined;

  constructor(intake: Intake, folder: string) {
    this.intake = intake;
    this.folder = folder;
    this.slug = folder.split(sep).at(-1) ?? '';
  }

  get store(): Intake['store'] {
    return this.intake.store;
  }

  /** The archive of the paper; null while there is none. */
  get archive(): Archive | null {
    return this.store.hasPaper(this.slug) ? this.store.archive(this.slug) : null;
  }

  /** The name of a file in reports: its path below the content folder. */
  name(path: string): string {
    return join(this.slug, relative(this.folder, path));
  }

  /** The files with an extension in a folder; reports others. Follows no link: it may lead anywhere, or in a circle. */
  files(folder: string, ending?: string): string[] {
    const root = join(this.folder, folder);
    if (this.isLink(root)) return [];
    if (lstatSync(root, { throwIfNoEntry: false }) === undefined) return [];
    return this.#filesIn(root, ending).sort();
  }

  /** Reads a file of `files`. What became a link meanwhile, as while a commit is checked out, is a problem of the file. */
  read(path: string, kind: 'yaml' | 'markdown'): SourceFile {
    const source = readSource(path, this.name(path), kind);
    // Checked after reading: a link that was followed is still there, or existed too briefly to be intended.
    if (this.hasBecomeLink(path)) return unreadable(this.name(path), 1, 'refused', LINK);
    return kind === 'markdown' && this.#datesMovedBy() > 0 ? withDatesMoved(source, this.#datesMovedBy()) : source;
  }

  /** The day of the edition whose file is named after `day`. */
  castDay(day: string): string {
    return movedDay(day, this.#datesMovedBy());
  }

  /** By how many ms the dates of story files and the days of editions are moved, which is 0 but for the demo papers. */
  #datesMovedBy(): number {
    if (!this.intake.settings.demoDates || this.archive === null) return 0;
    const { nameplate } = this.archive.paper();
    this.#shift ??= demoShift({ slug: this.slug, nameplate }, this.store.foundedAt(this.slug));
    return this.#shift;
  }

  /** Whether a link is now part of a path below the paper's folder. */
  hasBecomeLink(path: string): boolean {
    for (let at = path; at.length > this.folder.length; at = dirname(at)) if (isLink(at)) return true;
    return false;
  }

  /** Whether there is a link at a path, which it reports. */
  isLink(path: string): boolean {
    if (!isLink(path)) return false;
    this.refuse(path, 'file', LINK);
    return true;
  }

  #filesIn(folder: string, ending: string | undefined): string[] {
    const paths: string[] = [];
    // Node's own recursion descends into links to folders.
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // A hidden link may be an editor's lock.
      if (entry.name.startsWith('.') || this.isLink(path)) continue;
      const wanted = ending === undefined || extname(entry.name) === ending;
      if (entry.isDirectory()) pushAll(paths, this.#filesIn(path, ending));
      if (entry.isFile() && wanted) paths.push(path);
      else if (entry.isFile()) {
        // It was probably meant for this folder.
        if (/\.(?:ya?ml|md|markdown)$/i.test(path))
          this.refuse(path, 'file', `a name in this folder ends in ${ending}; rename the file, or move it away`);
      } else if (!entry.isDirectory() || (ending !== undefined && wanted)) {
        this.refuse(path, 'file', 'this is not a file; put the file itself here, or move it away');
      }
    }
    return paths;
  }

  /** Reports an error about a file, at the lines of its fields. Rethrows other errors. */
  report(source: Pick<SourceFile, 'file' | 'locate'>, error: unknown, field: string): void {
    if (isDiskError(error)) {
      this.problem(source.file, 'file', `the file cannot be read (${error.message}); put a file there that can be`);
      return;
    }
    if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
    const problems = problemsIn(error) ?? [{ field, rule: error.code, message: error.message }];
    const located = source.locate(problems);
    if (located.length > 0) this.result.problems.push(...located);
    else for (const { field: at, message } of problems) this.problem(source.file, at, message);
  }

  /** Reports a problem of the file at a path. */
  refuse(path: string, field: string, message: string): void {
    this.problem(this.name(path), field, message);
  }

  problem(file: string, field: string, message: string): void {
    this.result.problems.push({ file, line: 1, field, rule: 'refused', message });
  }
}

/** Whether the file system caused the error, for example when it could not read the file. */
function isDiskError(error: unknown): error is Error {
  return error instanceof Error && 'errno' in error && 'path' in error;
}

export function baseName(path: string, ending: string): string {
  return path.split(sep).at(-1)?.slice(0, -ending.length) ?? '';
}

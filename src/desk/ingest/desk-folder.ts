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
  /** Pieces that are on air or scheduled although their files are gone. Only determined for whole folders. */
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

  /** The files with an extension in a folder; reports others. Follows no links, which may lead anywhere or loop. */
  files(folder: string, ending?: string): string[] {
    const root = join(this.folder, folder);
    if (this.isLink(root)) return [];
    if (lstatSync(root, { throwIfNoEntry: false }) === undefined) return [];
    return this.#filesIn(root, ending).sort();
  }

  /** Reads a file that `files` returned. Reports a file that has become a link meanwhile, as during a checkout. */
  read(path: string, kind: 'yaml' | 'markdown'): SourceFile {
    const source = readSource(path, this.name(path), kind);
    // Checked after reading: if a link was followed it still exists, or existed too briefly to be intended.
    if (this.hasBecomeLink(path)) return unreadable(this.name(path), 1, 'refused', LINK);
    return kind === 'markdown' && this.#datesMovedBy() > 0 ? withDatesMoved(source, this.#datesMovedBy()) : source;
  }

  /** The day of the edition whose file is named after `day`. */
  castDay(day: string): string {
    return movedDay(day, this.#datesMovedBy());
  }

  /** How far the dates of story files and the days of editions are moved, in ms; 0 except for the demo papers. */
  #datesMovedBy(): number {
    if (!this.intake.settings.demoDates || this.archive === null) return 0;
    const { nameplate } = this.archive.paper();
    this.#shift ??= demoShift({ slug: this.slug, nameplate }, this.store.foundedAt(this.slug));
    return this.#shift;
  }

  /** Whether any part of a path below the paper's folder is now a link. */
  hasBecomeLink(path: string): boolean {
    for (let at = path; at.length > this.folder.length; at = dirname(at)) if (isLink(at)) return true;
    return false;
  }

  /** Whether a path is a link. Reports the link. */
  isLink(path: string): boolean {
    if (!isLink(path)) return false;
    this.refuse(path, 'file', LINK);
    return true;
  }

  #filesIn(folder: string, ending: string | undefined): string[] {
    const paths: string[] = [];
    // Node's recursive mode would descend into links to folders.
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // Hidden links are skipped silently: they may be an editor's lock files.
      if (entry.name.startsWith('.') || this.isLink(path)) continue;
      const wanted = ending === undefined || extname(entry.name) === ending;
      if (entry.isDirectory()) pushAll(paths, this.#filesIn(path, ending));
      if (entry.isFile() && wanted) paths.push(path);
      else if (entry.isFile()) {
        // The file was probably meant for this folder.
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
      this.problem(source.file, 'file', `the file cannot be read (${error.message}); replace it with a readable file`);
      return;
    }
    if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
    const problems = problemsIn(error) ?? [{ field, rule: error.code, message: error.message }];
    const located = source.locate(problems);
    if (located.length > 0) this.result.problems.push(...located);
    else for (const { field: at, message } of problems) this.problem(source.file, at, message);
  }

  /** Reports a problem with the file at a path. */
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

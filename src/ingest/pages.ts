import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PageBody, pageSlugProblem } from '../desk/page.ts';
import { appendRecord, pageFrom } from '../desk/record.ts';
import type { Problem } from '../fault.ts';
import { proseProblems } from '../ledger/door.ts';
import { proseFrom } from '../ledger/filing.ts';
import type { DeskFolder } from './desk-folder.ts';
import { baseName } from './desk-folder.ts';
import { recordProblems } from './record-problems.ts';
import type { SourceFile } from './source-file.ts';

/** The folder of a paper's own pages. */
export const PAGES_FOLDER = 'pages';

/** A page from its file: the front matter, and the text below it. Returns the problems of its fields. */
export function pageFileBody(source: SourceFile): { body?: PageBody; problems: Problem[] } {
  if (source.data === null) return { problems: [] };
  const fields = { ...source.data, prose: source.body };
  const parsed = PageBody.safeParse(fields);
  const problems = parsed.success ? [] : recordProblems(parsed.error, fields, PageBody);
  if (source.data.prose !== undefined) {
    const message = 'the prose is the text below the front matter; move it there';
    problems.unshift({ field: 'prose', rule: 'unknown_field', message });
  }
  return parsed.success && problems.length === 0 ? { body: parsed.data, problems } : { problems };
}

/** Files the paper's own pages. */
export class Pages {
  readonly #at: DeskFolder;

  constructor(at: DeskFolder) {
    this.#at = at;
  }

  /** Applies the files that changed, and removes the pages whose files are gone. */
  file(): void {
    for (const path of this.#at.files(PAGES_FOLDER, '.md')) this.#apply(path);
    const { store } = this.#at.intake;
    for (const file of store.appliedIn(`${this.#at.slug}/${PAGES_FOLDER}/`)) this.#removeIfGone(file);
  }

  /** Reads the file inside the transaction, so that it cannot overwrite a newer version applied by another process. */
  #apply(path: string): void {
    const { store, now } = this.#at.intake;
    const file = this.#at.name(path);
    const slug = baseName(path, '.md');
    store.transact(() => {
      const source = this.#at.read(path, 'markdown');
      if (store.applied(file) === source.digest) return;
      const reserved = pageSlugProblem(slug);
      if (reserved !== null) return this.#at.problem(file, 'slug', `${reserved}, and rename the file`);
      const { body, problems } = pageFileBody(source);
      this.#at.result.problems.push(...source.problems, ...source.locate(problems));
      if (body === undefined) {
        const { media } = store.archive(this.#at.slug);
        const found = proseProblems(proseFrom(source.body), { hasMedia: (name) => media(name) !== null });
        // A text that is missing is among the problems of the fields.
        if (source.data !== null && source.body.trim() !== '') this.#at.result.problems.push(...source.locate(found));
        return;
      }
      try {
        this.#record(slug, pageFrom(store.archive(this.#at.slug), slug, body), file, now());
        store.setApplied(file, source.digest);
      } catch (error) {
        this.#at.report(source, error, 'prose');
      }
    });
  }

  /** A page that came over the API has no file, and stays. */
  #removeIfGone(file: string): void {
    const { store, now } = this.#at.intake;
    const name = file.slice(this.#at.slug.length + 1);
    const path = join(this.#at.folder, name);
    // A link is refused, and what was on air stays.
    if (existsSync(path) || this.#at.hasBecomeLink(path)) return;
    store.transact(() => {
      this.#record(baseName(name, '.md'), null, file, now());
      store.forgetApplied(file);
    });
  }

  #record(slug: string, body: PageBody | null, file: string, at: number): void {
    const { store } = this.#at.intake;
    const entry = { at, paper: this.#at.slug, kind: 'page' as const, name: slug, body };
    if (appendRecord(store, entry, store.record(this.#at.slug, 'page', slug))) this.#at.result.filed.push(file);
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '../../shared/shape.ts';
import { proseProblems } from '../door/door.ts';
import { proseFrom } from '../door/filing.ts';
import { PageBody, pageSlugProblem } from '../papers/page.ts';
import { appendRecord, pageFrom } from '../papers/record.ts';
import { baseName, type DeskFolder } from './desk-folder.ts';
import { PROSE_IS_BELOW, recordProblems } from './record-problems.ts';
import type { SourceFile } from './source-file.ts';

const FOLDER = 'pages';

/** Files the paper's own pages that changed, and removes those whose files are gone. */
export function filePages(at: DeskFolder): void {
  for (const path of at.files(FOLDER, '.md')) apply(at, path);
  for (const file of at.intake.store.appliedIn(`${at.slug}/${FOLDER}/`)) removeIfGone(at, file);
}

/** Reads the file inside the transaction, so that it cannot overwrite a newer version applied by another process. */
function apply(at: DeskFolder, path: string): void {
  const { store } = at.intake;
  const file = at.name(path);
  const slug = baseName(path, '.md');
  store.transact(() => {
    const source = at.read(path, 'markdown');
    if (store.applied(file) === source.digest) return;
    const reserved = pageSlugProblem(slug);
    if (reserved !== null) return at.problem(file, 'slug', `${reserved}, and rename the file`);
    const { body, problems } = pageFileBody(source);
    at.result.problems.push(...source.problems, ...source.locate(problems));
    const archive = store.archive(at.slug);
    if (body === undefined) {
      const found = proseProblems(proseFrom(source.body), { hasMedia: (name) => archive.media(name) !== null });
      // A text that is missing is among the problems of the fields.
      if (source.data !== null && source.body.trim() !== '') at.result.problems.push(...source.locate(found));
      return;
    }
    try {
      record(at, slug, pageFrom(archive, slug, body), file);
      store.setApplied(file, source.digest);
    } catch (error) {
      at.report(source, error, 'prose');
    }
  });
}

/** A page from its file: the front matter, and the text below it. Returns the problems of its fields. */
function pageFileBody(source: SourceFile): { body?: PageBody; problems: Problem[] } {
  if (source.data === null) return { problems: [] };
  const fields = { ...source.data, prose: source.body };
  const parsed = PageBody.safeParse(fields);
  const problems = parsed.success ? [] : recordProblems(parsed.error, fields, PageBody);
  if (source.data.prose !== undefined) problems.unshift(PROSE_IS_BELOW);
  return parsed.success && problems.length === 0 ? { body: parsed.data, problems } : { problems };
}

/** A page that came over the API has no file, and stays. */
function removeIfGone(at: DeskFolder, file: string): void {
  const { store } = at.intake;
  const name = file.slice(at.slug.length + 1);
  const path = join(at.folder, name);
  // A link is refused, and what was on air stays.
  if (existsSync(path) || at.hasBecomeLink(path)) return;
  store.transact(() => {
    record(at, baseName(name, '.md'), null, file);
    store.forgetApplied(file);
  });
}

function record(
  { intake: { store, now }, slug: paper, result }: DeskFolder,
  name: string,
  body: PageBody | null,
  file: string,
): void {
  const entry = { at: now(), paper, kind: 'page' as const, name, body };
  if (appendRecord(store, entry, store.record(paper, 'page', name))) result.filed.push(file);
}

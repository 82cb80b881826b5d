import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type * as z from 'zod';
import { isDay } from '../../proof/time.ts';
import { Fault } from '../../shared/fault.ts';
import { isLink } from '../../shared/files/plain-file.ts';
import { newId } from '../../shared/new-id.ts';
import type { Problem } from '../../shared/shape.ts';
import { isLine } from '../../shared/shown-text.ts';
import { FOLDER_ACTOR, recordActivity, recordChange } from '../activity.ts';
import type { Archive } from '../archive.ts';
import { proseProblems, SLUG } from '../door/door.ts';
import { proseFrom } from '../door/filing.ts';
import type { RecordKind } from '../ledger-entry.ts';
import { CastBody, castFile, fileProperties, withoutFileProperties } from '../papers/cast.ts';
import { giveOwnHost, requireFreeAddress } from '../papers/host.ts';
import { PersonaBody } from '../papers/masthead.ts';
import { PageBody, pageSlugProblem } from '../papers/page.ts';
import { isPaperSlug, PaperBody } from '../papers/paper.ts';
import { appendRecord, brandMedia, castFrom, pageFrom, paperFrom, personaFrom } from '../papers/record.ts';
import { removedProblem } from '../papers/removal.ts';
import { baseName, type DeskFolder, LINK } from './desk-folder.ts';
import { filedMedia, MEDIA_READER, type MediaReader } from './filed-media.ts';
import { PROSE_IS_BELOW, recordProblems } from './record-problems.ts';
import type { SourceFile } from './source-file.ts';

/**
 * Applies everything in a paper's folder except stories: the paper, its media, its masthead, its editions and its
 * pages. Returns false if the paper does not exist afterwards. The writing desk passes a reader that caches what it has
 * read.
 */
export async function applyRecords(at: DeskFolder, read: MediaReader = MEDIA_READER): Promise<boolean> {
  // The paper's record may name a logo, an icon and a stylesheet, which must be filed first.
  const mediaFirst = namesMedia(at);
  if (mediaFirst) await applyMedia(at, read);
  if (!applyPaper(at)) return false;
  if (!mediaFirst) await applyMedia(at, read);
  applyMasthead(at);
  applyCasts(at);
  applyPages(at);
  return true;
}

/** Applies paper.yaml. Returns false if the paper does not exist afterwards. */
function applyPaper(at: DeskFolder): boolean {
  const path = join(at.folder, 'paper.yaml');
  if (at.isLink(at.folder) || at.isLink(path)) return false;
  const problem = addressProblem(at);
  if (problem !== null) {
    at.refuse(path, 'paper', problem);
    return false;
  }
  if (existsSync(path)) applyRecord(at, path, PaperBody, 'paper', '', (body) => paperOf(at, body));
  else if (at.archive === null)
    at.refuse(path, 'paper', 'there is no paper.yaml; write one with at least nameplate and sections');
  return at.archive !== null;
}

/** Why a paper cannot have this folder's name; null if it can. Papers older than a reservation keep their slugs. */
function addressProblem({ slug, store, archive }: DeskFolder): string | null {
  const removed = removedProblem(store, slug);
  if (removed !== null || isPaperSlug(slug) || archive !== null) return removed;
  return `the folder's name ${JSON.stringify(slug)} cannot be a paper's address; use a–z, 0–9 and single hyphens, and no name that the server uses itself`;
}

/** Whether a valid paper.yaml names media, which must be filed before it. Creates the paper if it is new. */
function namesMedia(at: DeskFolder): boolean {
  const path = join(at.folder, 'paper.yaml');
  if (isLink(at.folder) || isLink(path) || !existsSync(path) || addressProblem(at) !== null) return false;
  const { success, data } = PaperBody.safeParse(at.read(path, 'yaml').data);
  if (!success || brandMedia(data).length === 0) return false;
  if (at.archive === null) createWithoutMedia(at, data);
  return true;
}

/** Creates a new paper without the media that it names, which can only be filed once the paper exists. */
function createWithoutMedia(
  { intake, slug }: DeskFolder,
  { logo: _logo, icon: _icon, style: _style, ...rest }: PaperBody,
): void {
  try {
    const body = paperFrom(null, rest);
    requireFreeAddress(intake, slug, body.url);
    const entry = { at: intake.now(), paper: slug, kind: 'paper' as const, name: '', body };
    intake.store.transact(() => appendRecord(intake.store, entry, null));
  } catch (error) {
    // The paper's file is applied next, and its problems are reported then.
    if (!(error instanceof Fault)) throw error;
  }
}

/** The paper's new record; null if it names a media file that was rejected. */
function paperOf(at: DeskFolder, body: PaperBody): PaperBody | null {
  const { intake, slug, archive, result } = at;
  const { media } = intake.store.archive(slug);
  const refused = ({ path }: { path: string }) =>
    media(path) === null && result.problems.some(({ file }) => file === join(slug, path));
  if (brandMedia(body).some(refused)) return null;
  // Discards problems found here: the masthead is applied after the paper and reports them then.
  const named = result.problems.length;
  const filed = at.files('masthead', '.yaml').map((path) => baseName(path, '.yaml'));
  result.problems.length = named;
  const personas = [...(archive?.personaSlugs() ?? []), ...filed];
  const paper = paperFrom(archive, body, { media, personas });
  requireFreeAddress(intake, slug, paper.url);
  return paper;
}

/** Files the media. Called before the records that name them. */
async function applyMedia(at: DeskFolder, read: MediaReader): Promise<void> {
  const { store, media } = at.intake;
  for (const path of at.files('media')) {
    const file = at.name(path);
    const name = relative(at.folder, path).split(sep).join('/');
    try {
      if (!isLine(name)) throw new Fault('invalid_request', 'the name holds a control character; rename the file');
      const digest = await read.digestOf(path);
      const known = store.applied(file);
      const before = store.archive(at.slug).media(name);
      const isKnown = known === digest && before !== null;
      if (isKnown && !before.missing && media.has(before.digest)) continue;
      const { media: inspected, changed } = await filedMedia(name, path, read);
      media.keepFile(inspected.digest, path, changed ?? undefined);
      if (at.hasBecomeLink(path)) throw new Fault('invalid_request', LINK);
      // Only the bytes were missing; the record exists.
      if (isKnown && before.digest === inspected.digest) continue;
      store.transact(() => {
        // Another process may have applied a newer file.
        if (store.applied(file) === known) keepRecord(at, 'media', name, inspected, file, digest);
      });
    } catch (error) {
      const line = lineIn(error);
      const locate = (problems: Problem[]) =>
        line === null ? [] : problems.map(({ field, rule, message }) => ({ file, line, field, rule, message }));
      at.report({ file, locate }, error, 'file');
    }
  }
}

function applyMasthead(at: DeskFolder): void {
  for (const path of at.files('masthead', '.yaml')) {
    const slug = baseName(path, '.yaml');
    if (SLUG.test(slug)) {
      applyRecord(at, path, PersonaBody, 'persona', slug, (body, archive) => personaFrom(archive, slug, body));
      continue;
    }
    const message = `${JSON.stringify(slug)} cannot be a persona's address; name the file with a–z, 0–9 and single hyphens`;
    at.refuse(path, 'slug', message);
  }
}

function applyCasts(at: DeskFolder): void {
  for (const path of at.files('cast', '.yaml')) {
    const name = baseName(path, '.yaml');
    if (!isDay(name)) {
      at.refuse(
        path,
        'day',
        `${JSON.stringify(name)} is not a day; name the file after the day, as in 2026-11-20.yaml`,
      );
      continue;
    }
    const day = at.castDay(name);
    applyRecord(at, path, CastBody, 'cast', day, (body, archive) => castFrom(archive, day, body));
  }
  measureCasts(at);
}

/** Updates the length and the chapters of editions whose file was replaced under the same name. */
function measureCasts(at: DeskFolder): void {
  const { store, slug: paper } = at;
  const archive = store.archive(paper);
  for (const cast of archive.casts()) {
    const body = { ...withoutFileProperties(cast), ...fileProperties(archive.media(castFile(cast))) };
    const entry = { at: at.intake.now(), paper, kind: 'cast' as const, name: cast.day, body };
    if (!store.transact(() => appendRecord(store, entry, cast))) continue;
    at.result.filed.push(at.name(join(at.folder, 'cast', `${cast.day}.yaml`)));
  }
}

/** Files the paper's own pages that changed, and removes those whose files are gone. */
function applyPages(at: DeskFolder): void {
  for (const path of at.files('pages', '.md')) applyPage(at, path);
  for (const file of at.store.appliedIn(`${at.slug}/pages/`)) removePageIfGone(at, file);
}

/** Reads the file inside the transaction, so that it cannot overwrite a newer version applied by another process. */
function applyPage(at: DeskFolder, path: string): void {
  const { store } = at;
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
      // If the text is missing, the problems of the fields already say so.
      if (source.data !== null && source.body.trim() !== '') at.result.problems.push(...source.locate(found));
      return;
    }
    try {
      keepRecord(at, 'page', slug, pageFrom(archive, slug, body), file, source.digest);
    } catch (error) {
      at.report(source, error, 'prose');
    }
  });
}

/** A page from its file: the front matter and the text below it. Returns the problems of its fields too. */
function pageFileBody(source: SourceFile): { body?: PageBody; problems: Problem[] } {
  if (source.data === null) return { problems: [] };
  const fields = { ...source.data, prose: source.body };
  const parsed = PageBody.safeParse(fields);
  const problems = parsed.success ? [] : recordProblems(parsed.error, fields, PageBody);
  if (source.data.prose !== undefined) problems.unshift(PROSE_IS_BELOW);
  return parsed.success && problems.length === 0 ? { body: parsed.data, problems } : { problems };
}

/** Removes a page whose file is gone. A page that was filed through the API never had a file and stays. */
function removePageIfGone(at: DeskFolder, file: string): void {
  const name = file.slice(at.slug.length + 1);
  const path = join(at.folder, name);
  // A link is rejected elsewhere, and the published page stays.
  if (existsSync(path) || at.hasBecomeLink(path)) return;
  at.store.transact(() => keepRecord(at, 'page', baseName(name, '.md'), null, file, null));
}

/** Applies a changed YAML record. Reads it in the transaction, so that no newer version is overwritten. */
function applyRecord<T extends z.ZodType>(
  at: DeskFolder,
  path: string,
  schema: T,
  kind: 'paper' | 'persona' | 'cast',
  name: string,
  finish: (body: z.infer<T>, archive: Archive) => unknown,
): void {
  const { store } = at;
  const file = at.name(path);
  store.transact(() => {
    const source = at.read(path, 'yaml');
    if (store.applied(file) === source.digest) return;
    at.result.problems.push(...source.problems);
    const checked = source.data ?? source.faulty;
    if (checked === null) return;
    const parsed = schema.safeParse(checked);
    if (!parsed.success) {
      at.result.problems.push(...source.locate(recordProblems(parsed.error, checked, schema)));
      return;
    }
    if (source.data === null) return;
    try {
      const finished = finish(parsed.data, store.archive(at.slug));
      if (finished !== null) keepRecord(at, kind, name, finished, file, source.digest);
    } catch (error) {
      at.report(source, error, 'file');
    }
  });
}

/**
 * Appends a record unless it is unchanged. `digest` is null when its file is gone. Only operators write paper.yaml, so
 * the paper gets its host.
 */
function keepRecord(
  { intake, store, slug: paper, result }: DeskFolder,
  kind: RecordKind,
  name: string,
  body: unknown,
  file: string,
  digest: string | null,
): void {
  const entry = { at: intake.now(), paper, kind, name, body };
  const before = store.record(paper, kind, name);
  if (appendRecord(store, entry, before)) {
    result.filed.push(file);
    const change = recordChange(kind, name, before, body);
    const at = { paper, now: entry.at, newId };
    if (change !== null) recordActivity(store, at, FOLDER_ACTOR, [change]);
  }
  if (kind === 'paper') giveOwnHost(intake, paper);
  if (digest === null) store.forgetApplied(file);
  else store.setApplied(file, digest);
}

/** The line of a stylesheet that breaks a rule; null for other media. */
function lineIn(error: unknown): number | null {
  const line = error instanceof Fault ? error.details?.line : null;
  return typeof line === 'number' ? line : null;
}

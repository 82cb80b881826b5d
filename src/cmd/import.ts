import { createReadStream, existsSync } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Command } from 'commander';
import * as z from 'zod';
import type { AppContext } from '../app/context.ts';
import { inShortTransactions } from '../app/short-transactions.ts';
import { airStory } from '../desk/airing.ts';
import { append } from '../desk/append.ts';
import type { Archive } from '../desk/archive.ts';
import type { Desk } from '../desk/filing.ts';
import { fileStory, sameContent } from '../desk/filing.ts';
import type { Persona } from '../desk/masthead.ts';
import { isPaperSlug, PaperBody } from '../desk/paper.ts';
import { Fault, type Problem, problemsIn, refused } from '../fault.ts';
import { SLUG } from '../ledger/door.ts';
import { CitedFactBody, filingFrom } from '../ledger/filing.ts';
import { normalized } from '../ledger/marks.ts';
import type { Filing } from '../ledger/piece.ts';
import { KINDS } from '../ledger/piece.ts';
import { shapeProblems } from '../ledger/shape.ts';
import { givenPath } from './given-path.ts';
import { pressLines, pressShowing } from './press.ts';
import { progressTo } from './progress.ts';
import { say, tell, withAppContext } from './run.ts';

/** One line of an archive. Other members are let through unread: archives carry more than a paper shows. */
const Line = z.object({
  slug: z.string(),
  headline: z.string(),
  dek: z.string().nullish(),
  section: z.string(),
  kind: z.enum(KINDS).optional(),
  published_at: z.iso.datetime({ offset: true, error: 'is not a time such as 2019-05-20T00:00:00Z' }),
  prose: z.string(),
  cited_facts: z.array(CitedFactBody),
  lang: z.string().nullish(),
  authors: z.array(z.union([z.string(), z.object({ name: z.string() })])).nullish(),
  license: z.string().nullish(),
  origin: z.string().nullish(),
  changes: z.string().nullish(),
});
type Line = z.infer<typeof Line>;

/** How many lines are read before they are filed. */
const BATCH = 200;

interface Options {
  paper: string;
  create?: boolean;
  persona?: string;
  air?: boolean;
  press: boolean;
  json?: boolean;
}

export function command(): Command {
  return new Command('import')
    .description('file an archive: JSON Lines, one piece a line, gzipped or not')
    .argument('<file>', 'a .jsonl or .jsonl.gz file')
    .requiredOption('--paper <slug>', 'the paper to file with')
    .option('--create', 'make the paper, its sections and a persona where they are missing')
    .option('--persona <slug>', 'the persona that signs (default: the paper’s only one, or archive-desk)')
    .option('--air', 'put each piece on air at its own published_at')
    .option('--no-press', 'leave the press to a later command')
    .option('--json', 'print the outcome as JSON')
    .action((file: string, options: Options) =>
      withAppContext(async (app) => {
        const outcome = await importFile(app, givenPath(file), options);
        const isThere = app.store.hasPaper(options.paper);
        const mayPress = options.press && isThere;
        const reports = mayPress ? await pressShowing(app, { paper: options.paper }) : new Map();
        say(options.json, { ...outcome, pressed: Object.fromEntries(reports) }, [
          `${outcome.filed} filed, ${outcome.unchanged} unchanged, ${outcome.refused.length} refused`,
          ...(isThere ? [] : [`the paper ${options.paper} was not made: nothing was filed`]),
          ...(mayPress ? pressLines(reports) : []),
        ]);
        if (outcome.refused.length > 0 || !isThere) process.exitCode = 1;
      }),
    );
}

export interface Imported {
  filed: number;
  unchanged: number;
  refused: { line: number; slug: string | null; problems: Problem[] }[];
}

/** Files every line of an archive. A line that is refused is reported on standard error, and the rest goes on. */
export async function importFile(app: AppContext, file: string, options: Omit<Options, 'press'>): Promise<Imported> {
  if (!existsSync(file)) throw new Fault('not_found', `${file} is not there`);
  const { persona, found } = options.create
    ? await planPaper(app, file, options)
    : { persona: knownPersona(app, options.paper, options.persona), found: () => {} };
  const { paper, air = false } = options;
  const outcome: Imported = { filed: 0, unchanged: 0, refused: [] };
  app.openSigningKey();
  const job: Job = {
    desk: app.desk,
    archive: app.store.archive(paper),
    file,
    paper,
    air,
    persona,
    slugs: new Map(),
    outcome,
  };
  const progress = progressTo();
  let number = 0;
  for await (const batch of batches(linesOf(file))) {
    let next = 0;
    const file = () => {
      const line = batch[next++];
      if (line !== undefined) fileLine(job, line, ++number);
      return next < batch.length;
    };
    await inShortTransactions(app, file, { transact: (work) => fileBatch(app, outcome, found, work) });
    progress.step(`import ${options.paper}`, number, null, '');
  }
  progress.end();
  app.store.settleSearch();
  return outcome;
}

/** Thrown to undo a batch. */
const NOTHING_FILED = Symbol('nothing filed');

/** Files lines in one transaction. A paper is made together with its first piece: while there is none, all of it is undone. */
function fileBatch({ store }: AppContext, outcome: Imported, found: () => void, work: () => void): void {
  try {
    store.transact(() => {
      if (outcome.filed === 0) found();
      work();
      if (outcome.filed === 0) throw NOTHING_FILED;
    });
  } catch (error) {
    if (error !== NOTHING_FILED) throw error;
  }
}

/** One run over one file. */
interface Job {
  desk: Desk;
  archive: Archive;
  file: string;
  paper: string;
  air: boolean;
  /** Slug of the persona that signs. */
  persona: string;
  /** Slugs seen, each with its line. */
  slugs: Map<string, number>;
  outcome: Imported;
}

function fileLine(
  { desk, archive, file, paper, air, persona, slugs, outcome }: Job,
  bytes: Uint8Array,
  number: number,
): void {
  let slug: string | null = null;
  try {
    const text = textOf(bytes);
    if (text.trim() === '') return;
    const line = parseLine(text);
    slug = line.slug;
    const first = slugs.get(slug);
    if (first !== undefined) {
      throw new Fault('conflict', `line ${first} has this slug already; give each piece a slug of its own`);
    }
    slugs.set(slug, number);
    const wanted = filingFrom(
      {
        headline: line.headline,
        dek: line.dek ?? '',
        category: line.section,
        kind: line.kind,
        byline: persona,
        prose: line.prose,
        cited_facts: line.cited_facts,
        language: line.lang ?? undefined,
        credit: creditOf(line),
      },
      { slug: line.slug, kind: archive.paper().default_kind, language: archive.paper().language },
    );
    const filing = asImportedBefore(wanted, archive);
    const { changed } = fileStory(desk, paper, filing, { by: 'cli', toAir: air });
    const story = archive.storyBySlug(line.slug);
    // What somebody took off the air or off its schedule stays off.
    const aired =
      air && story !== null && story.state !== 'on_air' && story.withdrawn_at === null
        ? airStory(desk, paper, line.slug, { by: 'cli', at: Date.parse(line.published_at) }).changed
        : false;
    if (changed || aired) outcome.filed++;
    else outcome.unchanged++;
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
    const problems = problemsIn(error) ?? [{ field: 'line', rule: error.code, message: error.message }];
    outcome.refused.push({ line: number, slug, problems });
    for (const { field, message } of problems) {
      tell(`${basename(file)}:${number}${slug === null ? '' : ` ${slug}`} ${field}: ${message}`);
    }
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Fault('invalid_request', 'the line is not in UTF-8; save the file in UTF-8');
  }
}

function parseLine(text: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fault('invalid_request', `the line is not JSON (${why}); correct it`);
  }
  const parsed = Line.safeParse(value);
  if (!parsed.success) throw refused(shapeProblems(parsed.error, value));
  return parsed.data;
}

/** Whose work an imported piece is. Its own byline is a real person's, and no persona may bear it. */
function creditOf({ authors, license, origin, changes }: Line): string | null {
  const names = (authors ?? []).map((author) => (typeof author === 'string' ? author : author.name));
  const parts = [
    names.length > 0 ? `Written by ${new Intl.ListFormat('en').format(names)}.` : '',
    origin ? `First published at ${origin}.` : '',
    license ? `Licence: ${license}.` : '',
    // Many licences ask for a note of what was changed. The import changes nothing: only the archive knows.
    changes ? `Changes: ${changes.trim().replace(/\.$/, '')}.` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : parts.join(' ');
}

/** What earlier imports added to every credit, whether it was true or not. */
const ADDED_BEFORE = ' The mark-up was changed: links were turned into numbered sources.';

/** The filing with the credit of an earlier import where nothing else is new: that alone makes no revision. */
function asImportedBefore(filing: Filing, archive: Archive): Filing {
  const story = archive.storyBySlug(filing.slug);
  const old = story === null ? null : archive.piece(story.id);
  if (old === null || old.credit !== `${filing.credit}${ADDED_BEFORE}`) return filing;
  const again = { ...filing, credit: old.credit };
  return sameContent(old, again) ? again : filing;
}

function knownPersona({ store }: AppContext, paper: string, persona: string | undefined): string {
  if (!store.hasPaper(paper)) {
    throw new Fault(
      'not_found',
      `there is no paper ${JSON.stringify(paper)}; make it with --create, or file a content folder first`,
    );
  }
  const active = store.archive(paper).masthead();
  const found = persona === undefined && active.length === 1 ? active[0] : active.find(({ slug }) => slug === persona);
  if (found === undefined) {
    throw new Fault(
      'invalid_request',
      `name the persona that signs with --persona; ${paper} has ${active.map(({ slug }) => slug).join(', ') || 'none'}`,
    );
  }
  return found.slug;
}

const DESK_PERSONA = 'archive-desk';

/** Plans what the archive needs and the store lacks; `found` enters it. `persona` is the slug of the one that signs. */
async function planPaper(
  app: AppContext,
  file: string,
  options: Omit<Options, 'press'>,
): Promise<{ persona: string; found(): void }> {
  const { store, now } = app;
  if (!isPaperSlug(options.paper)) {
    throw new Fault(
      'invalid_request',
      `${JSON.stringify(options.paper)} cannot be a paper's address; use a–z, 0–9 and single hyphens, and no name that the server uses itself`,
    );
  }
  const before = store.paper(options.paper);
  const { slug: _slug, edition: _edition, changed_at: _changed, ...old } = before ?? {};
  const sections = new Set(before?.sections ?? []);
  const found = new Set<string>();
  for await (const line of linesOf(file)) {
    const section = sectionIn(line.toString());
    if (section !== null && !sections.has(section)) found.add(section);
  }
  if (sections.size + found.size === 0) {
    throw new Fault('invalid_request', `no line of ${file} names a section; give it one piece a line, as JSON`);
  }
  const body = PaperBody.safeParse({
    nameplate: titleOf(options.paper),
    ...old,
    sections: [...sections, ...[...found].sort((a, b) => a.localeCompare(b, 'en'))],
  });
  if (!body.success) throw refused(shapeProblems(body.error, { sections: [...sections, ...found] }));
  if (options.persona !== undefined && !SLUG.test(options.persona)) {
    throw new Fault(
      'invalid_request',
      `--persona ${JSON.stringify(options.persona)} cannot be a persona's address; use a–z, 0–9 and single hyphens`,
    );
  }
  const slug = options.persona ?? store.archive(options.paper).masthead()[0]?.slug ?? DESK_PERSONA;
  const enterAll = () => {
    const at = now();
    if (before === null || found.size > 0) {
      append(store, { type: 'record', at, paper: options.paper, kind: 'paper', name: '', body: body.data });
    }
    if (store.archive(options.paper).persona(slug) === null) {
      const persona: Persona = {
        slug,
        name: titleOf(slug),
        title: 'Archive editor',
        beat: 'Pieces that were first published elsewhere, each with its credit.',
        bio: '',
        avatar: null,
        active: true,
      };
      append(store, { type: 'record', at, paper: options.paper, kind: 'persona', name: slug, body: persona });
    }
  };
  return { persona: slug, found: enterAll };
}

function sectionIn(text: string): string | null {
  try {
    const { section } = JSON.parse(text) as { section?: unknown };
    return typeof section === 'string' && section.trim() !== '' ? normalized(section).trim() : null;
  } catch {
    return null;
  }
}

function titleOf(slug: string): string {
  return slug
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(' ');
}

/** The lines of a file, unpacked where it is gzipped. Throws a fault when the packing is damaged. */
async function* linesOf(file: string): AsyncIterable<Buffer> {
  const raw = createReadStream(file);
  // The callback has nothing to do: what fails is thrown where the lines are read.
  const input = file.endsWith('.gz') ? pipeline(raw, createGunzip(), () => undefined) : raw;
  let rest: Buffer[] = [];
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      let start = 0;
      // Only the newline ends a line: JSON may hold U+2028 and its kin as they are.
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        yield Buffer.concat([...rest, chunk.subarray(start, end)]);
        rest = [];
        start = end + 1;
      }
      rest.push(chunk.subarray(start));
    }
  } catch (error) {
    throw new Fault(
      'invalid_request',
      `${file} cannot be read (${(error as Error).message}); it is damaged or cut short: get it again`,
    );
  }
  yield Buffer.concat(rest);
}

async function* batches(lines: AsyncIterable<Buffer>): AsyncIterable<Buffer[]> {
  let batch: Buffer[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  yield batch;
}

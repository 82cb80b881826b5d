import { createReadStream, existsSync } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { Command } from 'commander';
import * as z from 'zod';
import { airStory } from '../desk/airing.ts';
import { enter } from '../desk/enter.ts';
import { deskRules, fileStory } from '../desk/filing.ts';
import type { Persona } from '../desk/masthead.ts';
import { isPaperSlug, PaperBody } from '../desk/paper.ts';
import { Fault, type Problem, refused } from '../fault.ts';
import { airingProblems } from '../ledger/door.ts';
import { CitedFactBody, filingFrom, shapeProblems } from '../ledger/filing.ts';
import { KINDS } from '../ledger/piece.ts';
import { pressLines, pressShowing } from './press.ts';
import { progressTo } from './progress.ts';
import { say, withWorkshop } from './run.ts';
import type { Workshop } from '../works/workshop.ts';

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
});
type Line = z.infer<typeof Line>;

/** How many lines are filed in one transaction. */
const BATCH = 200;

interface Options {
  paper: string;
  create?: boolean;
  persona?: string;
  air?: boolean;
  press: boolean;
  json?: boolean;
}

export function importCommand(): Command {
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
      withWorkshop(async (shop) => {
        const outcome = await importFile(shop, file, options);
        const reports = options.press ? await pressShowing(shop, { paper: options.paper }) : new Map();
        say(options.json, { ...outcome, pressed: Object.fromEntries(reports) }, [
          `${outcome.filed} filed, ${outcome.unchanged} unchanged, ${outcome.refused.length} refused`,
          ...(options.press ? pressLines(reports) : []),
        ]);
        if (outcome.refused.length > 0) process.exitCode = 1;
      }),
    );
}

export interface Imported {
  filed: number;
  unchanged: number;
  refused: { line: number; slug: string | null; problems: Problem[] }[];
}

/** Files every line of an archive. A line that is refused is reported on standard error, and the rest goes on. */
export async function importFile(shop: Workshop, file: string, options: Omit<Options, 'press'>): Promise<Imported> {
  if (!existsSync(file)) throw new Fault('not_found', `${file} is not there`);
  const persona = options.create
    ? await makePaper(shop, file, options)
    : knownPersona(shop, options.paper, options.persona);
  const outcome: Imported = { filed: 0, unchanged: 0, refused: [] };
  const progress = progressTo();
  let number = 0;
  for await (const batch of batches(linesOf(file))) {
    shop.store.transact(() => {
      for (const text of batch) {
        number++;
        if (text.trim() === '') continue;
        fileLine(shop, text, number, persona, options, outcome, file);
      }
    });
    progress.step(`import ${options.paper}`, number, number, '');
  }
  progress.end();
  return outcome;
}

function fileLine(
  shop: Workshop,
  text: string,
  number: number,
  persona: string,
  { paper, air = false }: Pick<Options, 'paper' | 'air'>,
  outcome: Imported,
  file: string,
): void {
  const { desk, store } = shop;
  let slug: string | null = null;
  try {
    const line = parseLine(text);
    slug = line.slug;
    const archive = store.archive(paper);
    const filing = filingFrom(
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
    // A piece that may not go on air is not filed either: one line, one outcome.
    const problems = air ? airingProblems(filing, deskRules(archive)) : [];
    if (problems.length > 0) throw refused(problems);
    const { changed } = fileStory(desk, paper, filing, { by: 'cli' });
    const state = archive.storyBySlug(line.slug)?.state;
    const aired =
      air && (state === 'draft' || state === 'scheduled')
        ? airStory(desk, paper, line.slug, { by: 'cli', at: Date.parse(line.published_at) }).changed
        : false;
    if (changed || aired) outcome.filed++;
    else outcome.unchanged++;
  } catch (error) {
    if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
    const problems = (error.details['problems'] as Problem[] | undefined) ?? [
      { field: 'line', rule: error.code, message: error.message },
    ];
    outcome.refused.push({ line: number, slug, problems });
    for (const { field, message } of problems) {
      process.stderr.write(`${basename(file)}:${number}${slug === null ? '' : ` ${slug}`} ${field}: ${message}\n`);
    }
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
function creditOf({ authors, license, origin }: Line): string | null {
  const names = (authors ?? []).map((author) => (typeof author === 'string' ? author : author.name));
  const parts = [
    names.length > 0 ? `Written by ${new Intl.ListFormat('en').format(names)}.` : '',
    origin ? `First published at ${origin}.` : '',
    license ? `Licence: ${license}.` : '',
  ].filter((part) => part !== '');
  if (parts.length === 0) return null;
  return `${parts.join(' ')} The mark-up was changed: links were turned into numbered sources.`;
}

function knownPersona({ store }: Workshop, paper: string, persona: string | undefined): string {
  if (!store.hasPaper(paper)) {
    throw new Fault('not_found', `there is no paper ${JSON.stringify(paper)}; make it with --create, or file a content folder first`);
  }
  const active = store.archive(paper).masthead();
  const found = persona === undefined && active.length === 1 ? active[0] : active.find(({ slug }) => slug === persona);
  if (found === undefined) {
    throw new Fault('invalid_request', `name the persona that signs with --persona; ${paper} has ${active.map(({ slug }) => slug).join(', ') || 'none'}`);
  }
  return found.slug;
}

const DESK_PERSONA = 'archive-desk';

/** Makes what the archive needs and the store lacks. Returns the slug of the persona that signs. */
async function makePaper(shop: Workshop, file: string, options: Omit<Options, 'press'>): Promise<string> {
  const { store, now } = shop;
  if (!isPaperSlug(options.paper)) {
    throw new Fault('invalid_request', `${JSON.stringify(options.paper)} cannot be a paper's address; use a–z, 0–9 and single hyphens, and no name that the server uses itself`);
  }
  const before = store.paper(options.paper);
  const { slug: _slug, edition: _edition, changed_at: _changed, ...old } = before ?? {};
  const sections = new Set(before?.sections ?? []);
  const found = new Set<string>();
  for await (const text of linesOf(file)) {
    const section = /"section"\s*:\s*"/.test(text) ? sectionIn(text) : null;
    if (section !== null && !sections.has(section)) found.add(section);
  }
  const body = PaperBody.safeParse({
    nameplate: titleOf(options.paper),
    ...old,
    sections: [...sections, ...[...found].sort((a, b) => a.localeCompare(b, 'en'))],
  });
  if (!body.success) throw refused(shapeProblems(body.error, { sections: [...sections, ...found] }));
  const slug = options.persona ?? store.archive(options.paper).masthead()[0]?.slug ?? DESK_PERSONA;
  store.transact(() => {
    const at = now();
    if (before === null || found.size > 0) {
      enter(store, { type: 'record', at, paper: options.paper, kind: 'paper', name: '', body: body.data });
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
      enter(store, { type: 'record', at, paper: options.paper, kind: 'persona', name: slug, body: persona });
    }
  });
  return slug;
}

function sectionIn(text: string): string | null {
  try {
    const { section } = JSON.parse(text) as { section?: unknown };
    return typeof section === 'string' && section.trim() !== '' ? section.normalize('NFC').trim() : null;
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
async function* linesOf(file: string): AsyncIterable<string> {
  const raw = createReadStream(file);
  const input = file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
  try {
    // A byte that is not UTF-8 becomes U+FFFD, which the line's own check then names.
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    throw new Fault('invalid_request', `${file} cannot be unpacked (${(error as Error).message}); it is damaged or cut short: get it again`);
  }
}

async function* batches(lines: AsyncIterable<string>): AsyncIterable<string[]> {
  let batch: string[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  yield batch;
}

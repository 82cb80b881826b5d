import { existsSync } from 'node:fs';
import { list } from '../../phrases/intl.ts';
import type { Author, Kind } from '../../proof/basis.ts';
import { signerFrom } from '../../proof/ed25519.ts';
import { thumbprint } from '../../proof/keyring.ts';
import { normalized } from '../../shared/combining-marks.ts';
import { Fault, refusalOf } from '../../shared/fault.ts';
import { newId } from '../../shared/new-id.ts';
import type { Problem } from '../../shared/shape.ts';
import { type Change, CLI_ACTOR, recordActivity } from '../activity.ts';
import { airFound } from '../airing.ts';
import { append } from '../append.ts';
import type { Archive } from '../archive.ts';
import { isAuthorUrl, type PaperRules } from '../door/door.ts';
import { filingFrom } from '../door/filing.ts';
import { type Filing, MAX } from '../door/piece.ts';
import { ofGiven, type Repaired } from '../door/repair.ts';
import { doorProblems, fileStory, paperRules, sameContent } from '../file-story.ts';
import { type ArchiveLines, type ImportLine, jsonLines, lineProblems, type NumberedLine } from './import-lines.ts';
import { createdPaper, existingPaper, type ImportPaper } from './import-paper.ts';
import type { Intake } from './intake.ts';
import { inShortTransactions } from './short-transactions.ts';

/** Maximum duration of a transaction while no server runs, in ms. FTS5 indexes many pieces faster in a single one. */
const TURN_ALONE = 1_000;

export interface ImportOptions {
  paper: string;
  /** Creates the paper, its sections and a persona if they are missing. */
  create?: boolean;
  /** Slug of the persona that signs; by default the paper's only one. */
  persona?: string;
  /** Publishes each piece at its own `published_at`. */
  air?: boolean;
  /** Files nothing, and returns what would be filed. */
  dryRun?: boolean;
  /** Called for each item of another system that is not imported, and for what was left out of imported pieces. */
  onNote?(note: ImportNote): void;
  /** Called for each rejected line. */
  onRefused?(line: RefusedLine): void;
  /** Called with the number of lines read so far. */
  onProgress?(lines: number): void;
}

export interface RefusedLine {
  line: number;
  /** The position in the archive, for messages. */
  where: string;
  slug: string | null;
  problems: Problem[];
}

/** Something in an archive that is not imported, or imported with changes. */
export interface ImportNote {
  where: string;
  title: string;
  note: string;
}

export interface Imported {
  filed: number;
  unchanged: number;
  refused: RefusedLine[];
  /** How many items of the archive are not pieces. */
  skipped: number;
}

export function requireArchive(file: string): void {
  if (!existsSync(file)) throw new Fault('not_found', `${file} does not exist; name a .jsonl or .jsonl.gz file`);
}

/** Files every line of an archive in JSON Lines, gzipped or not. Reports rejected lines and continues. */
export function importArchive(intake: Intake, file: string, options: ImportOptions): Promise<Imported> {
  requireArchive(file);
  return importLines(intake, jsonLines(file), options);
}

/** Files every line of an archive. Reports rejected lines and continues. */
export async function importLines(given: Intake, lines: ArchiveLines, options: ImportOptions): Promise<Imported> {
  const intake = options.dryRun ? dryRunIntake(given) : given;
  const { paper, persona, onProgress = () => {} } = options;
  const target = options.create
    ? await createdPaper(intake, paper, lines, persona)
    : existingPaper(intake, paper, persona);
  intake.openSigningKey();
  const run = new ImportRun(intake, target, options);
  let read = 0;
  for await (const batch of lines.batches()) {
    let next = 0;
    const fileNext = () => {
      const line = batch[next++];
      if (line !== undefined) run.fileLine(line);
      read++;
      return next < batch.length;
    };
    await inShortTransactions(intake, fileNext, { turnAlone: TURN_ALONE, transact: (work) => run.transact(work) });
    onProgress(read);
  }
  if (!options.dryRun) intake.store.optimizeSearch();
  return run.outcome;
}

/** The same intake with a throwaway key, because nothing that a dry run signs is stored. */
function dryRunIntake(intake: Intake): Intake {
  const signer = signerFrom('dry.run/door', new Uint8Array(32));
  const signingKey = { signer, kid: thumbprint(signer.publicKey), nbf: 0 };
  const { store, now, newId } = intake.desk;
  return { ...intake, desk: { store, now: () => now(), newId, signingKey }, openSigningKey() {} };
}

/** Members of a line that have other names in a filing. */
const FILED_AS: Record<string, string> = { section: 'category', lang: 'language' };

/** Thrown to roll back a transaction. */
const NOTHING_FILED = Symbol('nothing filed');

class ImportRun {
  readonly outcome: Imported = { filed: 0, unchanged: 0, refused: [], skipped: 0 };
  readonly #intake: Intake;
  readonly #target: ImportPaper;
  readonly #options: ImportOptions;
  readonly #archive: Archive;
  /** The number of the line on which each slug first appeared. */
  readonly #slugs = new Map<string, number>();
  #read: { rules: PaperRules; default_kind: Kind; language: string } | null = null;

  constructor(intake: Intake, target: ImportPaper, options: ImportOptions) {
    this.#intake = intake;
    this.#target = target;
    this.#options = options;
    this.#archive = intake.store.archive(options.paper);
  }

  /** Creates the paper with its first piece: until one is filed, and in a dry run, each transaction is rolled back. */
  transact(work: () => void): void {
    try {
      this.#intake.store.transact(() => {
        this.#read = null;
        const { dryRun = false, paper } = this.#options;
        const before = this.outcome.filed;
        if (dryRun || this.outcome.filed === 0) this.#target.create();
        work();
        if (dryRun || this.outcome.filed === 0) throw NOTHING_FILED;
        const filed = this.outcome.filed - before;
        const { store, desk } = this.#intake;
        const did: Change[] = filed > 0 ? [{ action: 'pieces.imported', detail: { filed } }] : [];
        recordActivity(store, { paper, now: desk.now(), newId }, CLI_ACTOR, did);
      });
    } catch (error) {
      if (error !== NOTHING_FILED) throw error;
    }
  }

  /** The paper's rules and defaults, read once per transaction. */
  #current() {
    if (this.#read === null) {
      const { default_kind, language } = this.#archive.paper();
      this.#read = { rules: paperRules(this.#archive), default_kind, language };
    }
    return this.#read;
  }

  fileLine(given: NumberedLine): void {
    const { parsed, where, title, skipped, notes } = given;
    const { onNote = () => {} } = this.#options;
    if (skipped !== undefined) {
      this.outcome.skipped++;
      onNote({ where, title, note: `is skipped: ${skipped}` });
    }
    if (parsed === null) return;
    if ('problems' in parsed) {
      const { problems, rest } = parsed;
      const slug = rest === null || rest.fields.includes('slug') ? null : rest.data.slug;
      return this.#refuse(given, slug, rest === null ? problems : [...problems, ...this.#furtherProblems(rest)]);
    }
    const { line } = parsed;
    try {
      const first = this.#slugs.get(line.slug);
      if (first !== undefined) {
        throw new Fault('conflict', `line ${first} already has this slug; give each piece its own slug`);
      }
      this.#slugs.set(line.slug, given.line);
      if (this.#file(line, given)) this.outcome.filed++;
      else this.outcome.unchanged++;
      for (const note of notes) onNote({ where, title, note });
    } catch (error) {
      this.#refuse(given, line.slug, lineProblems(error));
    }
  }

  #refuse({ line, where }: NumberedLine, slug: string | null, problems: Problem[]): void {
    const refused = { line, where, slug, problems };
    this.outcome.refused.push(refused);
    this.#options.onRefused?.(refused);
  }

  /** The problems that the door finds in a line that already has others. */
  #furtherProblems({ data, fields }: Repaired<ImportLine>): Problem[] {
    const { rules } = this.#current();
    const options = { now: this.#intake.now(), toAir: this.#options.air === true && data.draft !== true };
    const found = doorProblems(this.#filingOf(data), { ...rules, takesUndescribed: true }, options);
    return ofGiven(
      found,
      fields.flatMap((field) => [field, FILED_AS[field] ?? field]),
    );
  }

  /** Files one piece. Returns false when nothing changed. */
  #file(line: ImportLine, { media, shows }: NumberedLine): boolean {
    const { paper } = this.#options;
    const { desk, store } = this.#intake;
    const known = this.#current().rules;
    const coming = new Set(shows);
    const rules = { ...known, hasMedia: (path: string) => coming.has(path) || known.hasMedia(path) };
    const air = this.#options.air === true && line.draft !== true;
    const published = Date.parse(line.published_at);
    if (this.#belongsToDesk(line)) return false;
    if (line.provenance === 'archive' && published > desk.now()) {
      const now = new Date(desk.now()).toISOString();
      const message = `${line.published_at} is in the future (it is ${now} here), but a piece from an archive was published before; correct the date or the clock, or leave provenance out`;
      throw refusalOf([{ field: 'published_at', rule: 'archive_time', message }]);
    }
    const { story, changed } = fileStory(desk, paper, this.#filingOf(line), {
      by: 'cli',
      toAir: air,
      takesUndescribed: true,
      rules,
    });
    // Another line may already have recorded the same pictures.
    for (const one of media) {
      if (this.#archive.media(one.path)?.digest === one.digest) continue;
      append(store, { type: 'record', at: desk.now(), paper, kind: 'media', name: one.path, body: one });
    }
    // Withdrawn or unscheduled pieces stay off the air.
    if (!air || story.state === 'on_air' || story.withdrawn_at !== null) return changed;
    return airFound(desk, paper, story, { by: 'cli', at: published, rules }) || changed;
  }

  /**
   * Whether the desk has edited a piece since it was imported; such a piece is left unchanged. Throws `conflict` if the
   * piece with that slug was never imported.
   */
  #belongsToDesk({ slug, provenance, draft }: ImportLine): boolean {
    const before = provenance === 'archive' || draft === true ? this.#archive.storyBySlug(slug) : null;
    if (before === null || before.provenance === 'archive') return false;
    // An imported draft belongs to the desk from then on.
    if (draft === true) return true;
    if (this.#archive.revisions(before.id).some((piece) => piece.provenance === 'archive')) return true;
    const message = `the paper has a piece of its own with the slug ${JSON.stringify(slug)}; give the piece of the archive another slug`;
    throw new Fault('conflict', message);
  }

  #filingOf(line: ImportLine): Filing {
    const { default_kind, language } = this.#current();
    const filing = filingFrom(
      {
        headline: line.headline,
        dek: line.dek ?? '',
        category: line.section,
        kind: line.kind,
        byline: this.#target.persona,
        prose: '',
        cited_facts: line.cited_facts,
        language: line.lang ?? undefined,
        credit: creditOf(line),
        ...writersIn(line),
        tags: line.tags,
        aliases: line.aliases,
        image: line.image,
      },
      { slug: line.slug, kind: default_kind, language },
    );
    // The prose was normalized when the line was parsed.
    const whole = { ...filing, prose: line.prose, provenance: line.provenance ?? null };
    return asFiledBefore(whole, this.#archive, line);
  }
}

const namesOf = ({ authors }: ImportLine): string[] =>
  (authors ?? []).map((author) => (typeof author === 'string' ? author : author.name));

/** Who wrote an imported piece: the line's `written_by`, else its first authors. The credit names all of them. */
function writersIn(line: ImportLine): { authors: Author[] } | { written_by: string } {
  return line.written_by == null ? { authors: authorsIn(line).slice(0, MAX.authors) } : { written_by: line.written_by };
}

/** The authors of a line. Leaves out addresses that the filing door would reject. */
function authorsIn({ authors }: ImportLine): Author[] {
  return (authors ?? []).flatMap((author) => {
    const { name, url } = typeof author === 'string' ? { name: author } : author;
    const spoken = name.replace(/\s+/g, ' ').trim();
    if (spoken === '') return [];
    return typeof url === 'string' && isAuthorUrl(url) ? [{ name: spoken, url }] : [{ name: spoken }];
  });
}

/** The credit of an imported piece. Authors are real people, whose names a persona must not use as its byline. */
function creditOf(line: ImportLine): string | null {
  const { license, origin, changes } = line;
  const names = namesOf(line);
  const parts = [
    names.length > 0 ? `Written by ${new Intl.ListFormat('en').format(names)}.` : '',
    origin ? `First published at ${origin}.` : '',
    license ? `Licence: ${license}.` : '',
    // Many licenses require an indication of changes. The import itself makes none, so only the archive knows them.
    changes ? `Changes: ${changes.trim().replace(/\.$/, '')}.` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : parts.join(' ');
}

/** A sentence that earlier versions added to every credit, true or not. */
const ADDED_BEFORE = ' The mark-up was changed: links were turned into numbered sources.';

/** Keeps the credit and writers from an import by an earlier version: different wording alone makes no new revision. */
function asFiledBefore(filing: Filing, archive: Archive, line: ImportLine): Filing {
  if (!archive.hasSlug(filing.slug)) return filing;
  const story = archive.storyBySlug(filing.slug);
  const old = story === null ? null : archive.piece(story.id);
  if (old === null) return filing;
  const credit = old.credit === `${filing.credit}${ADDED_BEFORE}` ? old.credit : filing.credit;
  const again = { ...filing, ...writersAsFiled(filing, old, line), credit };
  return sameContent(old, again) ? again : filing;
}

/** Earlier versions filed a line's authors as one text, and before that only in the credit. */
function writersAsFiled(filing: Filing, old: Filing, line: ImportLine): Pick<Filing, 'authors' | 'written_by'> {
  const { authors, written_by } = filing;
  if (line.written_by != null || old.authors.length > 0) return { authors, written_by };
  const isAsFiled = old.written_by === null || old.written_by === joinedAuthors(namesOf(line), filing.language);
  return isAsFiled ? { authors: [], written_by: old.written_by } : { authors, written_by };
}

/** Authors as earlier versions filed them: in one line, as many as fit. A repeated import then changes nothing. */
export function joinedAuthors(authors: readonly string[], language: string): string | null {
  const names = authors.map((name) => name.replace(/\s+/g, ' ').trim()).filter((name) => name !== '');
  // Starts with the most names that could fit, because an archive may have thousands.
  for (let count = fitting(names, MAX.writer); count > 0; count--) {
    const writer = `${list(language, names.slice(0, count))}${count < names.length ? ' et al.' : ''}`;
    if (writer.length <= MAX.writer) return normalized(writer).trim();
  }
  return null;
}

/** How many texts, from the first on, have at most `max` characters in total. */
function fitting(texts: readonly string[], max: number): number {
  let length = 0;
  for (const [count, text] of texts.entries()) {
    length += text.length;
    if (length > max) return count;
  }
  return texts.length;
}

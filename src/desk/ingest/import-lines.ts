import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import * as z from 'zod';
import { membersIn } from '../../proof/narrow.ts';
import { normalized } from '../../shared/combining-marks.ts';
import { Fault, messageOf, problemsIn } from '../../shared/fault.ts';
import { linesOf } from '../../shared/files/lines.ts';
import { type Problem, shapeProblems } from '../../shared/shape.ts';
import { CitedFactBody, proseFrom } from '../door/filing.ts';
import { KINDS } from '../door/piece.ts';
import { type Repaired, repair } from '../door/repair.ts';
import type { Media } from '../papers/media.ts';

/** Maximum number of entries read of a list, because each invalid one produces a message. A piece has far fewer. */
const ENTRIES_MAX = 10_000;
const listOf = <Entry extends z.ZodType>(entry: Entry) => z.array(z.unknown()).max(ENTRIES_MAX).pipe(z.array(entry));

/** No newspaper is older. */
const EARLIEST = Date.UTC(1600, 0, 1);

const published = z.iso
  .datetime({ offset: true, error: 'is not a time such as 2019-05-20T00:00:00Z', abort: true })
  .refine((time) => Date.parse(time) >= EARLIEST, 'is before the year 1600; correct the date');

/** One line of an archive. Ignores unknown members, because archives contain more than a paper shows. */
const ImportLine = z.object({
  slug: z.string(),
  headline: z.string(),
  dek: z.string().nullish(),
  section: z.string(),
  kind: z.enum(KINDS).optional(),
  published_at: published,
  prose: z.string(),
  cited_facts: listOf(CitedFactBody),
  lang: z.string().nullish(),
  authors: listOf(z.union([z.string(), z.object({ name: z.string(), url: z.unknown().optional() })])).nullish(),
  written_by: z.string().nullish(),
  tags: listOf(z.string()).nullish(),
  license: z.string().nullish(),
  origin: z.string().nullish(),
  changes: z.string().nullish(),
  /** Earlier addresses. */
  aliases: listOf(z.string()).nullish(),
  image: z.strictObject({ src: z.string(), alt: z.string(), credit: z.string().nullish() }).nullish(),
  /** Whether the piece stays a draft. */
  draft: z.boolean().optional(),
  provenance: z.literal('archive').nullish(),
});
export type ImportLine = z.infer<typeof ImportLine>;

/** A parsed line of an archive: its piece, null for a blank line, or the problems for which it is rejected. */
export type ParsedLine =
  | { line: ImportLine }
  | {
      problems: Problem[];
      /** The line with stand-ins for invalid members, for the door to check; null if it is not a piece. */
      rest: Repaired<ImportLine> | null;
    }
  | null;

/** A line of an archive, or an item of another system in the form of a line. */
export interface NumberedLine {
  line: number;
  /** Its position, for messages: `archive.jsonl:12`. */
  where: string;
  title: string;
  parsed: ParsedLine;
  /** Why it is not imported, for an item that is not a piece. */
  skipped?: string;
  /** What was left out or replaced. */
  notes: string[];
  /** Media files that are new to the paper. Their bytes are already stored. */
  media: Media[];
  /** Paths of all media files that the piece shows. */
  shows: string[];
}

/** The lines of an archive. They can be read repeatedly. */
export interface ArchiveLines {
  /** The error message for an archive without any section. */
  noSection: string;
  /** How to replace a section that the paper cannot have, as the remedy in an error message. */
  otherSection: string;
  /** The sections that its pieces name, sorted. */
  sections(): Promise<string[]>;
  /** Throws `invalid_request` for damaged data. */
  batches(): AsyncIterable<NumberedLine[]>;
}

/** An archive in JSON Lines, gzipped or not. */
export function jsonLines(file: string): ArchiveLines {
  return {
    noSection: `no line of ${file} names a section; write one piece per line, as JSON, with its section as "section"`,
    otherSection: 'name another in its lines',
    sections: () => sectionsIn(file),
    async *batches() {
      // Reads the whole file first, so that a truncated one is detected before anything is filed.
      if (file.endsWith('.gz')) for await (const _ of linesOf(file, LINE_MAX));
      let line = 0;
      for await (const batch of parsedBatches(file)) {
        yield batch.map((parsed) => {
          line++;
          return { line, where: `${basename(file)}:${line}`, title: '', parsed, notes: [], media: [], shows: [] };
        });
      }
    },
  };
}

const BATCH = 100;
/** Size limit of a batch, in bytes; a batch ends with the line that reaches it. */
const BATCH_BYTES = 2_000_000;
/** Maximum length of a line, in bytes. Pieces are far shorter. */
const LINE_MAX = 16_000_000;

/** The lines of an archive in batches. Throws `invalid_request` for damaged data. */
export async function* parsedBatches(file: string): AsyncIterable<ParsedLine[]> {
  let batch: ParsedLine[] = [];
  let bytes = 0;
  for await (const line of linesOf(file, LINE_MAX)) {
    batch.push(parsedLine(line));
    bytes += line.length;
    if (batch.length < BATCH && bytes < BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  yield batch;
}

function parsedLine(bytes: Uint8Array): ParsedLine {
  try {
    const value = parseLine(bytes);
    return value === undefined ? null : parsedValue(value);
  } catch (error) {
    return { problems: lineProblems(error), rest: null };
  }
}

/** Parses a line's JSON value as a piece. */
export function parsedValue(given: unknown): ParsedLine {
  const value = withDefaults(given);
  const parsed = ImportLine.safeParse(value);
  if (!parsed.success) return brokenLine(value, parsed.error);
  const line = parsed.data;
  return { line: { ...line, prose: proseFrom(line.prose) } };
}

/** Supplies the date of a draft, and empty facts for drafts and pieces from an archive. */
function withDefaults(value: unknown): unknown {
  const given = membersIn(value);
  const { draft, provenance, published_at, cited_facts } = given;
  if (draft !== true && provenance !== 'archive') return value;
  const date = draft === true && published_at === undefined ? { published_at: UNPUBLISHED } : {};
  return { ...given, ...date, cited_facts: cited_facts ?? [] };
}

/** A stand-in for the date of a draft, which is never used. */
const UNPUBLISHED = '2000-01-01T00:00:00Z';

function brokenLine(value: unknown, error: z.ZodError): ParsedLine {
  const rest = repair(ImportLine, value, error);
  if (rest !== null) rest.data.prose = proseFrom(rest.data.prose);
  return { problems: shapeProblems(error, value), rest };
}

/** The problems of a line that was rejected. Throws errors that the line did not cause. */
export function lineProblems(error: unknown): Problem[] {
  if (!(error instanceof Fault) || error.code === 'unavailable') throw error;
  return problemsIn(error) ?? [{ field: 'line', rule: error.code, message: error.message }];
}

/** Parses a line of an archive as JSON; undefined for a blank one. Throws `invalid_request`. */
function parseLine(bytes: Uint8Array): unknown {
  const text = textOf(bytes);
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault('invalid_request', `the line is not JSON (${messageOf(error)}); correct it`);
  }
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length > LINE_MAX) {
    throw new Fault('invalid_request', `the line has more than ${LINE_MAX} bytes; put each piece on a line of its own`);
  }
  if (!isUtf8(bytes)) throw new Fault('invalid_request', 'the line is not in UTF-8; save the file in UTF-8');
  return new TextDecoder().decode(bytes);
}

/** The sections named in a file, sorted. Skips unreadable lines. */
export async function sectionsIn(file: string): Promise<string[]> {
  const sections = new Set<string>();
  for await (const line of linesOf(file, LINE_MAX)) {
    const section = sectionIn(line);
    if (section !== null) sections.add(section);
  }
  return [...sections].sort((a, b) => a.localeCompare(b, 'en'));
}

function sectionIn(bytes: Uint8Array): string | null {
  try {
    const { section } = JSON.parse(textOf(bytes)) as { section?: unknown };
    return typeof section === 'string' && section.trim() !== '' ? normalized(section).trim() : null;
  } catch {
    return null;
  }
}

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parse } from 'yaml';
import * as z from 'zod';
import {
  ArchiveError,
  type ArchiveLine,
  askSections,
  type Fetch,
  lines,
  type Mapping,
  type MediaStore,
  openArchive,
  type PaperRules,
  Pictures,
  type Source,
  type System,
  sections,
} from '../../../packages/import/src/index.ts';
import { IMAGE_BYTES_MAX, MEDIA_FORMATS } from '../../media/media-formats.ts';
import { codeOf, Fault, messageOf, refusalOf } from '../../shared/fault.ts';
import { clientOptions, outboundClient } from '../../shared/net/outbound-client.ts';
import { VERSION } from '../../shared/project.ts';
import { shapeProblems } from '../../shared/shape.ts';
import { aliasesFrom, aliasFormProblem } from '../door/alias.ts';
import { SLUG } from '../door/door.ts';
import { MAX } from '../door/piece.ts';
import { excessIn } from '../door/prose-bounds.ts';
import { asciiWords, tagsFrom } from '../door/tag.ts';
import type { Media } from '../papers/media.ts';
import { latinWords } from '../papers/slug.ts';
import { filedMedia } from './filed-media.ts';
import { type ArchiveLines, type NumberedLine, parsedValue } from './import-lines.ts';
import type { Intake } from './intake.ts';

const BATCH = 50;
/** Length limit of the prose in a batch, in UTF-16 units; a batch ends with the piece that reaches it. */
const BATCH_LENGTH = 2_000_000;
/** Maximum size of a media file, in bytes. A sound is held in memory while it downloads: 90 minutes of MP3. */
const BYTES_MAX = { image: IMAGE_BYTES_MAX, audio: 100 * 1024 * 1024 };
/** Timeout for downloading a file, in ms per MiB of its maximum size, and the minimum. */
const WAIT_PER_MIB = 6_000;
const WAIT_MIN = 60_000;

const RULES: PaperRules = {
  max: MAX,
  isSlug: (text) => SLUG.test(text),
  words: latinWords,
  tags: tagsFrom,
  aliases: aliasesFrom,
  aliasProblem: (alias) => aliasFormProblem(alias)?.message ?? null,
};

/** Opens the archive of another system at a path; null for one in JSON Lines. Throws `invalid_request`. */
export function openOther(path: string, system: System | undefined): Promise<Source | null> {
  return openArchive(path, system, (markdown) => excessIn(markdown)[0]?.message ?? null).catch(refuse);
}

/** Asks for the section of each category that is not a section of the paper. Throws `invalid_request`. */
export const askMapping: typeof askSections = (...given) => askSections(...given).catch(refuse);

/** Fetches media under the restrictions of all requests for third parties, because archives choose the addresses. */
export function mediaFetch(allowsPrivate: boolean): Fetch {
  return (address, { max, ...request }) => {
    const wait = Math.max(WAIT_MIN, (WAIT_PER_MIB * max) / 2 ** 20);
    const limits = { deadline: wait, answerMax: max, answerWait: wait };
    return outboundClient({ ...clientOptions(`Broadsheet/${VERSION}`, allowsPrivate), ...limits })(address, request);
  };
}

interface OtherOptions {
  paper: string;
  mapping: Mapping;
  siteUrl: string | null;
  /** Null in a dry run, which fetches nothing. */
  fetch: Fetch | null;
}

/**
 * Converts the pieces of another system to lines of an archive, so that the import reads both the same way. The bytes
 * of media are stored at once; the ledger names them with the first piece that shows them.
 */
export function otherLines(
  { store, media }: Pick<Intake, 'store' | 'media'>,
  source: Source,
  { paper, mapping, siteUrl, fetch }: OtherOptions,
): ArchiveLines {
  /** Media files that are new to the paper. */
  const kept = new Map<string, Media>();
  const files: MediaStore = {
    types: MEDIA_TYPES,
    bytesMax: BYTES_MAX,
    words: asciiWords,
    has(path) {
      const known = store.hasPaper(paper) ? store.archive(paper).media(path) : null;
      return known !== null && media.has(known.digest);
    },
    async keep(path, file) {
      const filed = await filedMedia(path, file).catch((error: unknown) => {
        throw error instanceof Fault && error.code !== 'unavailable' ? new ArchiveError(error.message) : error;
      });
      media.keepFile(filed.media.digest, file, filed.changed ?? undefined);
      kept.set(path, filed.media);
    },
  };
  const pictures = new Pictures(source, files, fetch);
  return {
    noSection:
      'the archive has no published piece or draft with a category; check with --dry-run, and name a section for all pieces with --section',
    otherSection:
      'map categories to fewer or other sections with --map FILE, or name one for all others with --section NAME',
    sections: () => sections(source, mapping).catch(refuse),
    async *batches() {
      try {
        yield* batched(lines(source, { mapping, pictures, rules: RULES, siteUrl }), kept);
      } catch (error) {
        refuse(error);
      }
    },
  };
}

const MEDIA_TYPES = Object.fromEntries(
  Object.entries(MEDIA_FORMATS).flatMap(([extension, { media_type }]) =>
    /^(?:image|audio)\//.test(media_type) ? [[extension, media_type]] : [],
  ),
);

async function* batched(all: AsyncIterable<ArchiveLine>, kept: ReadonlyMap<string, Media>) {
  let batch: NumberedLine[] = [];
  let length = 0;
  for await (const one of all) {
    const line = numbered(one, kept);
    batch.push(line);
    if ('value' in one) length += String(one.value.prose).length;
    if (batch.length < BATCH && length < BATCH_LENGTH) continue;
    yield batch;
    [batch, length] = [[], 0];
    await nextTurn();
  }
  yield batch;
}

function numbered(line: ArchiveLine, kept: ReadonlyMap<string, Media>): NumberedLine {
  const media = line.shows.flatMap((path) => kept.get(path) ?? []);
  if ('skipped' in line) return { ...line, media, parsed: null };
  if ('value' in line) return { ...line, media, parsed: parsedValue(line.value) };
  return { ...line, media, parsed: { problems: [{ ...line.problem, rule: 'refused' }], rest: null } };
}

function refuse(error: unknown): never {
  if (error instanceof ArchiveError) throw new Fault('invalid_request', error.message);
  if (!(error instanceof Fault) && /^E[A-Z0-9]+$/.test(codeOf(error))) {
    const message = `the archive cannot be read, or one of its files cannot be written (${messageOf(error)}); check the disk and its permissions, then import again: imported pieces stay`;
    throw new Fault('unavailable', message);
  }
  throw error;
}

const MappingFile = z.strictObject({
  sections: z.record(z.string(), z.string()).default({}),
  section: z.string().optional(),
  authors: z.record(z.string(), z.string().nullable()).default({}),
  author: z.string().optional(),
});

/** Reads a mapping in YAML. Throws `not_found`, and `refused_by_door` with every problem. */
export function readMapping(file: string): Mapping {
  let value: unknown;
  try {
    const bytes = readFileSync(file);
    if (!isUtf8(bytes)) throw new Fault('invalid_request', `${file} is not in UTF-8; save it in UTF-8`);
    value = parse(bytes.toString(), { maxAliasCount: 0, logLevel: 'error' }) ?? {};
  } catch (error) {
    if (error instanceof Fault) throw error;
    if (codeOf(error).startsWith('E')) {
      const message = `${file} cannot be read (${messageOf(error)}); name a YAML file, as docs/moving.md shows one`;
      throw new Fault('not_found', message);
    }
    throw new Fault('invalid_request', `${file} is not YAML (${messageOf(error).split('\n')[0]}); correct it`);
  }
  const parsed = MappingFile.safeParse(value);
  if (!parsed.success) throw refusalOf(shapeProblems(parsed.error, value));
  return parsed.data;
}

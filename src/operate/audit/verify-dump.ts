import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { dumpIn } from '../../proof/dump-note.ts';
import { verifyNode } from '../../proof/ed25519.ts';
import type { VerifyingKey } from '../../proof/keyring.ts';
import { checkLogged, type LoggedReceipt } from '../../proof/log/logged.ts';
import { documentFaults } from '../../proof/records/verify/document-faults.ts';
import { documentIn, jsonDocument, type RecordsDocument } from '../../proof/records/verify/documents.ts';
import { DUMP, type DumpRow, dumpRow, previewIn } from '../../records/archive/dump-row.ts';
import { localSource } from '../../records/archive/local-files.ts';
import { rangesOf, readRange, rowCount } from '../../records/archive/parquet-read.ts';
import { dumpNamed, dumpNames } from '../../records/dumps.ts';
import { Fault, messageOf } from '../../shared/fault.ts';
import { digestOfFile } from '../../shared/files/file-digest.ts';
import { linesOf } from '../../shared/files/lines.ts';
import { plural } from '../../shared/plural.ts';
import { sizeText } from '../../shared/size.ts';
import { fetchedChunks, isAddress, keysAt, type Trust } from './verify-sources.ts';

/** The proof of a public dump (protocol 5.11), with the files that it names. */
export interface CheckedDump {
  /** The file or address of the proof. */
  dump: string;
  day: string | null;
  generation: number | null;
  /** Observations in each file, as the note says. */
  rows: number | null;
  /** The files whose hash, and whose every row, was checked. */
  files: string[];
  /** The files that were not found, and so not checked. */
  missing: string[];
  faults: string[];
  /** The unsigned members, which were therefore not checked. */
  unsigned: string[];
  /** Whether the keys came from the site of the document instead of the caller. */
  own_keys: boolean;
  /** Where the note is in the log; null without a policy, and when the note has a fault. */
  logged: LoggedReceipt | null;
}

/** The most faulty rows of a file that are named one by one. */
const NAMED_MAX = 20;
/** The rows and bytes of a Parquet file that are read at a time. */
const CHUNK = { rows: 200, bytes: 8_000_000 };
/** The longest line of NDJSON, in bytes. */
const LINE_MAX = 4_000_000;
/**
 * The smallest possible row in either file, in bytes, because its signature cannot be compressed; and how many more
 * rows than that allows are read.
 */
const [ROW_MIN, ROWS_OVER] = [64, 1_000];
/** The largest file that is fetched, in bytes. */
const FILE_MAX = 32_000_000_000;

/**
 * Checks the note of a dump, its place in the log, and files: those given, else those beside the proof. Each row of a
 * file is checked too. Throws `not_found` for a given file that does not exist, and as `verifyAt` does.
 */
export async function checkDump(
  where: string,
  document: Extract<RecordsDocument, { kind: 'dump' }>,
  { keys: trusted, policy }: Trust,
  given: readonly string[],
): Promise<CheckedDump> {
  if (trusted === undefined && !isAddress(where)) {
    const cure = 'give --keys with a records-keys.json or its address';
    throw new Fault('invalid_request', `${where}: the proof of a dump contains no keys; ${cure}`);
  }
  const { note, log } = document.proof;
  const keys = trusted ?? (await keysAt(new URL('/.well-known/records-keys.json', where).href));
  const said = dumpIn(note);
  const faults = documentFaults(document, keys, verifyNode);
  const found = policy === undefined ? null : await checkLogged(log, note, policy);
  if (!faults.some((fault) => fault.startsWith('log: '))) faults.push(...(found?.faults ?? []));
  const files: string[] = [];
  const missing: string[] = [];
  const contents: string[] = [];
  for (const file of said === null ? [] : given.length > 0 ? given : Object.values(filesBeside(where, said))) {
    const format = /\.parquet$/.test(file) ? 'parquet' : /\.ndjson\.gz$/.test(file) ? 'ndjson' : null;
    if (format === null) throw new Fault('invalid_request', `${file}: name a .parquet or a .ndjson.gz file of a dump`);
    const work = await mkdtemp(join(tmpdir(), 'broadsheet-verify-'));
    try {
      const local = await localCopy(file, work, given.length > 0);
      if (local === null) missing.push(file);
      else {
        files.push(file);
        const hash = await digestOfFile(local);
        const own: string[] = [];
        if (hash !== said?.[format])
          own.push(`its hash is ${hash}, and that of the note is ${said?.[format]}${otherDumpHint(file, said)}`);
        const most = Math.min(said?.rows ?? 0, statSync(local).size / ROW_MIN) + ROWS_OVER;
        const content = new RowCheck(keys, own, most);
        await (format === 'parquet' ? content.parquet(local, hash) : content.ndjson(local));
        if (!content.isCut && content.rows !== said?.rows)
          own.push(`it has ${plural(content.rows, 'row')}, and the note says ${said?.rows}`);
        if (content.damaged === 0) contents.push(content.digest());
        faults.push(...own.map((fault) => `${basename(file)}: ${fault}`));
      }
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
  if (new Set(contents).size > 1) faults.push('the files do not have the same rows');
  return {
    ...{ dump: where, day: said?.day ?? null, generation: said?.generation ?? null, rows: said?.rows ?? null },
    ...{ files, missing, faults, unsigned: document.unsigned, own_keys: trusted === undefined },
    logged: faults.length > 0 ? null : (found?.logged ?? null),
  };
}

type Said = NonNullable<ReturnType<typeof dumpIn>>;

/** Where the files of a dump are, unless given: beside its proof on disk; one folder above it at the service. */
function filesBeside(where: string, { day, generation }: Said) {
  const names = dumpNames(day, generation);
  const at = (name: string) =>
    isAddress(where) ? new URL(`../${name}`, where).href : join(where === '-' ? '.' : dirname(where), name);
  return { parquet: at(names.parquet), ndjson: at(names.ndjson) };
}

/** A hint for a file whose name is that of another dump. */
function otherDumpHint(file: string, said: Said | null): string {
  const named = dumpNamed(basename(file));
  if (named === null || (named.day === said?.day && named.generation === said.generation)) return '';
  return `: it is of dump ${named.generation} of ${named.day}, and the proof of dump ${said?.generation} of ${said?.day}; get both again`;
}

/** The path of a file on this disk, fetched into `work` if it is an address; null when it does not exist and was not given. */
async function localCopy(file: string, work: string, isGiven: boolean): Promise<string | null> {
  if (!isAddress(file)) {
    if (existsSync(file) && statSync(file).isFile()) return file;
    if (isGiven) throw new Fault('not_found', `${file} does not exist; give a file of a dump`);
    return null;
  }
  const local = join(work, basename(new URL(file).pathname));
  let size = 0;
  const bounded = async function* () {
    for await (const chunk of fetchedChunks(file, 'a file of a dump', { whole: Infinity, accept: '*/*' })) {
      size += chunk.length;
      if (size > FILE_MAX)
        throw new Fault('unavailable', `${file} is longer than ${sizeText(FILE_MAX)}, the most that is checked`);
      yield chunk;
    }
  };
  try {
    await pipeline(bounded, createWriteStream(local, { flags: 'wx', mode: 0o600 }));
    return local;
  } catch (error) {
    if (!isGiven && error instanceof Fault && error.code === 'not_found') return null;
    throw error;
  }
}

/** Checks each row of a file as a preview. Appends to `faults`. */
class RowCheck {
  rows = 0;
  damaged = 0;
  /** Whether the file had more rows than it can have, so that it was not read to its end. */
  isCut = false;
  readonly #most: number;
  readonly #keys: VerifyingKey[];
  readonly #faults: string[];
  readonly #hash = createHash('sha256');
  #path = '';

  constructor(keys: VerifyingKey[], faults: string[], most: number) {
    this.#most = most;
    this.#keys = keys;
    this.#faults = faults;
  }

  /** The hash of the content of all rows, the same for both formats. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  async ndjson(file: string): Promise<void> {
    let isEnd = false;
    try {
      for await (const line of linesOf(file, LINE_MAX)) {
        // After the last newline there is an empty line.
        if (isEnd) this.#add(null, 'it is empty');
        if (this.#isCutAt(this.rows)) break;
        isEnd = line.length === 0;
        if (!isEnd) this.#check(documentIn(line.toString('utf8')), null);
      }
      if (!isEnd && !this.isCut) this.#damage('the last row does not end with a newline');
    } catch (error) {
      this.#damage(`what follows row ${this.rows} cannot be read (${messageOf(error)})`);
    }
    this.#more();
  }

  async parquet(file: string, hash: string): Promise<void> {
    const source = localSource(file, hash, statSync(file).size);
    try {
      const end = await rowCount(source);
      if (this.#isCutAt(end)) return;
      for await (const { rowStart, rowEnd } of rangesOf(source, CHUNK)) {
        const rows = await readRange(DUMP, source, { rowStart, rowEnd }).catch((error: unknown) => {
          this.#damage(`rows ${rowStart + 1} to ${rowEnd} cannot be read (${messageOf(error)})`);
          this.rows = rowEnd;
          return [];
        });
        for (const row of rows) this.#check(previewOf(row), row.path);
      }
    } catch (error) {
      this.#damage(`it cannot be read (${messageOf(error)})`);
    }
    this.#more();
  }

  #isCutAt(rows: number): boolean {
    if (rows >= 0 && rows <= this.#most) return false;
    this.isCut = true;
    this.#faults.push(`it has ${rows} rows or more, which cannot be in a file of its size and note`);
    return true;
  }

  #check(document: RecordsDocument | null, path: string | null): void {
    if (document?.kind !== 'preview') {
      this.#add(null, document?.kind === 'misshapen' ? (document.faults[0] ?? '') : 'it is not a preview');
      return;
    }
    const { preview } = document;
    const row = dumpRow(preview);
    this.#hash.update(`${JSON.stringify(row)}\n`);
    const faults = documentFaults(document, this.#keys, verifyNode);
    if (path !== null && path !== row.path) faults.push('its path is not that of its domain');
    if (row.path < this.#path) faults.push('it is out of order');
    this.#path = row.path;
    this.#add(preview.domain, ...faults.slice(0, 1));
  }

  /** Counts a row, and records its faults. */
  #add(domain: string | null, ...faults: string[]): void {
    this.rows++;
    for (const fault of faults) this.#damage(`row ${this.rows}${domain === null ? '' : ` (${domain})`}: ${fault}`);
  }

  #damage(fault: string): void {
    this.damaged++;
    if (this.damaged <= NAMED_MAX) this.#faults.push(fault);
  }

  #more(): void {
    if (this.damaged > NAMED_MAX) this.#faults.push(`and ${plural(this.damaged - NAMED_MAX, 'more fault')}`);
  }
}

/** The document in a row; null for a row that has none. */
function previewOf(row: DumpRow): RecordsDocument | null {
  try {
    return jsonDocument(previewIn(row));
  } catch {
    return null;
  }
}

/** The result in lines for people. */
export function dumpLines({ dump, day, generation, rows, files, missing, faults }: CheckedDump): string[] {
  const what = `dump ${generation} of ${day}`;
  return [
    ...faults.map((fault) => `${dump}: ${fault}`),
    ...missing.map((file) => `${file} is not there, and was not checked; give the path of your copy after the proof`),
    faults.length > 0
      ? `${what}: it does not hold`
      : files.length === 0
        ? `${what}: the note holds; no file was checked`
        : `${what}: the note holds, and ${files.map((file) => basename(file)).join(' and ')}, with each of ${plural(rows ?? 0, 'row')}`,
  ];
}

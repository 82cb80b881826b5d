import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { giveOwnHost } from '../app/hosts.ts';
import { generationAudit, verifyingKeyOf } from '../audit/ledger.ts';
import { counted } from '../counted.ts';
import { airDue, append } from '../desk/append.ts';
import type { LedgerEntry } from '../desk/ledger-entry.ts';
import type { Media } from '../desk/media.ts';
import { replayClock } from '../desk/replay-clock.ts';
import { Fault } from '../fault.ts';
import { syncFolder } from '../files/durable-file.ts';
import type { MediaFiles } from '../files/media.ts';
import { sha256 } from '../ledger/basis.ts';
import type { VerifyingKey } from '../ledger/keyring.ts';
import type { Store } from '../store/store.ts';
import { givenPath } from './given-path.ts';
import { pressLines, pressShowing } from './press.ts';
import { progressTo } from './progress.ts';
import { say, withAppContext } from './run.ts';

/** The first line of an export. The last one counts the entries and hashes every line before it. */
const HEADER = { type: 'ledger', version: 1 } as const;
/** Media travel in parts, so that no line is too long to read; in bytes. */
const PART = 512 * 1024;

interface MediaLine {
  type: 'media-part';
  digest: string;
  part: number;
  of: number;
  base64: string;
}

interface EndLine {
  type: 'end';
  entries: number;
  sha256: string;
}

export function command(): Command {
  return new Command('ledger')
    .description('take the whole ledger out, or into an empty database')
    .addCommand(
      new Command('export')
        .description('write every key, record, generation, airing and withdrawal as JSON Lines, oldest first')
        .argument('<file>')
        .action((file: string) =>
          withAppContext(async (app) => {
            const count = await exportLedger(app, givenPath(file));
            say(false, null, [`${counted(count, 'entry', 'entries')} in ${file}`]);
          }),
        ),
    )
    .addCommand(
      new Command('import')
        .description('rebuild the database from an export, after checking every receipt, and press it')
        .argument('<file>')
        .option('--no-press', 'leave the press to a later command')
        .action((file: string, options: { press: boolean }) =>
          withAppContext(async (app) => {
            const count = importLedger(app, givenPath(file));
            app.store.settleSearch();
            const reports = options.press ? await pressShowing(app, {}) : new Map();
            say(false, null, [
              `${counted(count, 'entry', 'entries')} entered`,
              ...(options.press ? pressLines(reports) : []),
            ]);
          }),
        ),
    );
}

/** Writes the ledger to a file, aside first. The door's secret key is never in it. Returns the number of entries. */
export async function exportLedger({ store, media }: AppContext, file: string): Promise<number> {
  const aside = `${file}.${process.pid}`;
  const out = await open(aside, 'w').catch((error: Error) => {
    throw new Fault('unavailable', `${file} cannot be written (${error.message}); name a file in a folder that can be`);
  });
  const sent = new Set<string>();
  const hash = createHash('sha256');
  let count = 0;
  try {
    const write = (line: unknown) => {
      const text = `${JSON.stringify(line)}\n`;
      hash.update(text);
      return out.appendFile(text);
    };
    await write(HEADER);
    for (const entry of store.entries()) {
      if (entry.type === 'record' && entry.kind === 'media') {
        const { digest } = entry.body as Media;
        if (!sent.has(digest)) for (const line of mediaLines(digest, media.pathOf(digest))) await write(line);
        sent.add(digest);
      }
      await write(entry);
      count++;
    }
    const end: EndLine = { type: 'end', entries: count, sha256: hash.digest('hex') };
    await out.appendFile(`${JSON.stringify(end)}\n`);
    await out.sync();
    renameSync(aside, file);
    syncFolder(dirname(file));
  } finally {
    await out.close();
    rmSync(aside, { force: true });
  }
  return count;
}

function* mediaLines(digest: string, path: string): Iterable<MediaLine> {
  if (!existsSync(path)) {
    throw new Fault('unavailable', `the media file ${path} is missing; put it back from a backup, or file it again`);
  }
  const bytes = readFileSync(path);
  const of = Math.max(1, Math.ceil(bytes.length / PART));
  for (let part = 0; part < of; part++) {
    const base64 = bytes.subarray(part * PART, (part + 1) * PART).toString('base64');
    yield { type: 'media-part', digest, part, of, base64 };
  }
}

/**
 * Enters an export into an empty database, all of it or nothing. Returns the
 * number of entries. Throws when the database is not empty, a line is damaged,
 * or a receipt does not hold.
 */
export function importLedger(app: AppContext, file: string): number {
  const { store: full, media, now } = app;
  // What is replayed was told when it happened.
  const store: Store = { ...full, tell() {} };
  if (!existsSync(file)) throw new Fault('not_found', `${file} is not there`);
  const keys: VerifyingKey[] = [];
  // A ledger travels as it is, also one that was written under a clock that was set back.
  const audit = generationAudit(keys, { clock: false });
  const clock = replayClock();
  const parts: Buffer[] = [];
  const progress = progressTo();
  const hash = createHash('sha256');
  let number = 0;
  let count = 0;
  let ended = false;
  store.transact(() => {
    for (const _ of store.entries()) {
      throw new Fault('conflict', 'the database is not empty; import into a new DATA_DIR');
    }
    for (const text of linesOf(file)) {
      const where = `${file}:${++number}`;
      const line = parseLine(text, where);
      if (ended) throw damaged(where, 'something stands behind the last line');
      if (number === 1) needHeader(line, where);
      else if (line.type === 'end') ended = needEnd(line, count, hash.digest('hex'), where);
      else if (line.type === 'media-part') keepPart(media, parts, line, where);
      else if (line.type !== 'ledger') {
        enterLine({ store, keys, audit, clock }, line, where);
        progress.step('ledger import', ++count, count, line.type);
      }
      if (!ended) hash.update(`${text}\n`);
    }
    if (!ended) throw damaged(`${file}:${number}`, 'the last line is missing: the file is cut short');
    airDue(store, now());
    // Whoever brings a ledger brings its papers with their addresses.
    for (const slug of store.paperSlugs()) giveOwnHost(app, slug);
  });
  progress.end();
  return count;
}

interface Replay {
  store: Store;
  keys: VerifyingKey[];
  audit: ReturnType<typeof generationAudit>;
  clock: ReturnType<typeof replayClock>;
}

function enterLine({ store, keys, audit, clock }: Replay, line: LedgerEntry, where: string): void {
  try {
    if (line.type === 'key') keys.push(verifyingKeyOf(line));
    const fault = audit.next(line)[0];
    if (fault !== undefined) throw damaged(where, fault);
    append(store, line, clock(line));
  } catch (error) {
    // A line that lost a member makes the rules or the tables fail wherever they first miss it.
    const fault = store.fault(error);
    throw fault instanceof Fault ? fault : damaged(where, (error as Error).message.split('\n')[0] ?? '');
  }
}

function damaged(where: string, why: string): Fault {
  return new Fault(
    'invalid_request',
    `${where}: ${why}; nothing was entered: export the ledger again, or take another copy`,
  );
}

function needHeader(line: Line, where: string): void {
  if (line.type === 'ledger' && line.version === HEADER.version) return;
  throw new Fault('invalid_request', `${where}: this is not a ledger export of version ${HEADER.version}`);
}

function needEnd(line: EndLine, count: number, sha: string, where: string): true {
  if (line.entries === count && line.sha256 === sha) return true;
  throw damaged(
    where,
    `the lines before it are not those that were written: it counts ${counted(line.entries, 'entry', 'entries')}, and here are ${count}`,
  );
}

function keepPart(media: MediaFiles, parts: Buffer[], line: MediaLine, where: string): void {
  parts.push(Buffer.from(String(line.base64), 'base64'));
  if (parts.length < line.of) return;
  const bytes = Buffer.concat(parts.splice(0));
  if (sha256(bytes) !== line.digest) throw damaged(where, `the media file ${line.digest} is damaged`);
  media.keepBytes(line.digest, bytes);
}

/** The lines of a file, read as they are asked for: a transaction must not wait for the disk's answers. */
function* linesOf(file: string): Iterable<string> {
  const input = openSync(file, 'r');
  const chunk = Buffer.alloc(1 << 20);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  try {
    for (let size = readSync(input, chunk); size > 0; size = readSync(input, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, size))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    closeSync(input);
  }
}

type Line = LedgerEntry | MediaLine | EndLine | { type: 'ledger'; version: number };

const TYPES = new Set([
  'ledger',
  'media-part',
  'end',
  'key',
  'retirement',
  'record',
  'generation',
  'airing',
  'withdrawal',
]);

function parseLine(text: string, where: string): Line {
  try {
    const value = JSON.parse(text) as Line;
    if (TYPES.has(value.type)) return value;
  } catch {
    // Told below, with the line's number.
  }
  throw damaged(where, 'the line is not a ledger entry');
}

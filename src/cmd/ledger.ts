import { closeSync, existsSync, openSync, readFileSync, readSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { Command } from 'commander';
import type { Entry } from '../desk/entry.ts';
import { airDue, enter } from '../desk/enter.ts';
import type { Media } from '../desk/media.ts';
import { Fault } from '../fault.ts';
import { sha256 } from '../ledger/basis.ts';
import type { DoorKey } from '../ledger/keyring.ts';
import type { MediaFiles } from '../store/media-files.ts';
import { generationAudit } from './audit.ts';
import { pressLines, pressShowing } from './press.ts';
import { progressTo } from './progress.ts';
import { say, withWorkshop } from './run.ts';
import type { Workshop } from '../works/workshop.ts';

/** The first line of an export. */
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

export function ledgerCommand(): Command {
  return new Command('ledger')
    .description('take the whole ledger out, or into an empty database')
    .addCommand(
      new Command('export')
        .description('write every key, record, generation, airing and withdrawal as JSON Lines, oldest first')
        .argument('<file>')
        .action((file: string) =>
          withWorkshop(async (shop) => {
            const count = await exportLedger(shop, file);
            say(false, null, [`${count} entries in ${file}`]);
          }),
        ),
    )
    .addCommand(
      new Command('import')
        .description('rebuild the database from an export, after checking every receipt, and press it')
        .argument('<file>')
        .option('--no-press', 'leave the press to a later command')
        .action((file: string, options: { press: boolean }) =>
          withWorkshop(async (shop) => {
            const count = importLedger(shop, file);
            const reports = options.press ? await pressShowing(shop, {}) : new Map();
            say(false, null, [`${count} entries entered`, ...(options.press ? pressLines(reports) : [])]);
          }),
        ),
    );
}

/** Writes the ledger to a file, aside first. The door's secret key is never in it. Returns the number of entries. */
export async function exportLedger({ store, media }: Workshop, file: string): Promise<number> {
  const aside = `${file}.new`;
  const out = await open(aside, 'w');
  const sent = new Set<string>();
  let count = 0;
  try {
    const write = (line: unknown) => out.appendFile(`${JSON.stringify(line)}\n`);
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
    await out.sync();
  } finally {
    await out.close();
  }
  renameSync(aside, file);
  return count;
}

function* mediaLines(digest: string, path: string): Iterable<MediaLine> {
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
export function importLedger({ store, media, now }: Workshop, file: string): number {
  if (!existsSync(file)) throw new Fault('not_found', `${file} is not there`);
  const keys: DoorKey[] = [];
  const audit = generationAudit(keys);
  const parts: Buffer[] = [];
  const progress = progressTo();
  let number = 0;
  let count = 0;
  store.transact(() => {
    for (const _ of store.entries()) {
      throw new Fault('conflict', 'the database is not empty; import into a new DATA_DIR');
    }
    for (const text of linesOf(file)) {
      const line = parseLine(text, ++number, file);
      if (number === 1) needHeader(line, file);
      else if (line.type === 'media-part') keepPart(media, parts, line, `${file}:${number}`);
      else if (line.type !== 'ledger') {
        if (line.type === 'key') {
          const publicKey = new Uint8Array(Buffer.from(line.public_key, 'base64'));
          keys.push({ kid: line.kid, name: line.name, publicKey, nbf: line.at, retired_at: null });
        }
        const fault = audit.next(line)[0];
        if (fault !== undefined) throw new Fault('invalid_request', `${file}:${number}: ${fault}; nothing was entered`);
        enter(store, line);
        progress.step('ledger import', ++count, count, line.type);
      }
    }
    airDue(store, now());
  });
  progress.end();
  return count;
}

function needHeader(line: Line, file: string): void {
  if (line.type === 'ledger' && line.version === HEADER.version) return;
  throw new Fault('invalid_request', `${file}:1: this is not a ledger export of version ${HEADER.version}`);
}

function keepPart(media: MediaFiles, parts: Buffer[], line: MediaLine, where: string): void {
  parts.push(Buffer.from(line.base64, 'base64'));
  if (parts.length < line.of) return;
  const bytes = Buffer.concat(parts.splice(0));
  if (sha256(bytes) !== line.digest) {
    throw new Fault('invalid_request', `${where}: the media file ${line.digest} is damaged; nothing was entered`);
  }
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

type Line = Entry | MediaLine | { type: 'ledger'; version: number };

function parseLine(text: string, number: number, file: string): Line {
  try {
    const value = JSON.parse(text) as Line;
    if (typeof value.type === 'string') return value;
  } catch {
    // Told below, with the line's number.
  }
  throw new Fault('invalid_request', `${file}:${number}: the line is not a ledger entry; the file is damaged or cut short, and nothing was entered`);
}

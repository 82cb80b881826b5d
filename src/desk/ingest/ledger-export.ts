import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { MediaFiles } from '../../media/media.ts';
import { Fault } from '../../shared/fault.ts';
import { syncFolder } from '../../shared/files/durable-file.ts';
import { type EvidenceBody, evidenceOf } from '../evidence.ts';
import type { Media } from '../papers/media.ts';
import type { Intake } from './intake.ts';
import { type EndLine, HEADER, logLines, type MediaLine } from './ledger-lines.ts';

const PART = 512 * 1024;

/**
 * Writes the ledger, its media and the desk's transparency log to a file, without any secret key. `vkey` is the log's
 * verifier key, if this machine signs the log. The store must not change meanwhile, so pass a snapshot. Returns the
 * number of entries. Throws `unavailable` when the file cannot be written or a media file is missing.
 */
export async function exportLedger(
  { store, media }: { store: Pick<Intake['store'], 'entries' | 'log'>; media: Pick<MediaFiles, 'pathOf'> },
  file: string,
  vkey: string | null = null,
): Promise<number> {
  const aside = `${file}.${process.pid}`;
  const out = await open(aside, 'w').catch((error: Error) => {
    throw new Fault(
      'unavailable',
      `${file} cannot be written (${error.message}); name a file in a folder that you may write to`,
    );
  });
  const sent = new Set<string>();
  const hash = createHash('sha256');
  let entries = 0;
  try {
    const write = (line: unknown) => {
      const text = `${JSON.stringify(line)}\n`;
      hash.update(text);
      return out.appendFile(text);
    };
    await write(HEADER);
    for (const entry of store.entries()) {
      if (entry.type === 'record' && entry.kind === 'media' && entry.body !== null) {
        const { digest } = entry.body as Media;
        if (!sent.has(digest)) for (const line of mediaLines(digest, media.pathOf(digest))) await write(line);
        sent.add(digest);
      }
      if (entry.type === 'record' && entry.kind === 'evidence') {
        // Only the newest text and archive of each fact are kept.
        for (const digest of [(entry.body as EvidenceBody).archive, evidenceOf(entry).text]) {
          if (digest === null || sent.has(digest) || !existsSync(media.pathOf(digest))) continue;
          for (const line of mediaLines(digest, media.pathOf(digest))) await write(line);
          sent.add(digest);
        }
      }
      await write(entry);
      entries++;
    }
    for (const line of logLines(store.log, vkey)) await write(line);
    const end: EndLine = { type: 'end', entries, sha256: hash.digest('hex') };
    await out.appendFile(`${JSON.stringify(end)}\n`);
    await out.sync();
    renameSync(aside, file);
    syncFolder(dirname(file));
  } finally {
    await out.close();
    rmSync(aside, { force: true });
  }
  return entries;
}

function* mediaLines(digest: string, path: string): Iterable<MediaLine> {
  if (!existsSync(path)) {
    throw new Fault('unavailable', `the media file ${path} is missing; restore it from a backup, or file it again`);
  }
  const bytes = readFileSync(path);
  const of = Math.max(1, Math.ceil(bytes.length / PART));
  for (let part = 0; part < of; part++) {
    const base64 = bytes.subarray(part * PART, (part + 1) * PART).toString('base64');
    yield { type: 'media-part', digest, part, of, base64 };
  }
}

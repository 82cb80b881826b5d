import type { Readable } from 'node:stream';
import { type Entry, openPromise } from 'yauzl';
import { ArchiveError, messageOf } from './archive-error.ts';

/** How many files an archive may list, and how many bytes of them may be read in one run. */
const ENTRIES_MAX = 200_000;

/** The files of a ZIP archive by their paths. */
export interface ZipArchive {
  paths: string[];
  open(path: string): Promise<Readable>;
  /** The text of a file of at most `max` bytes. Throws `ArchiveError` for one that is larger, or is not UTF-8. */
  text(path: string, max: number): Promise<string>;
  close(): void;
}

/**
 * Opens a ZIP archive. Nothing is unpacked to disk, so names in it cannot escape a folder; yauzl rejects absolute names
 * and names with `..`, and ends the stream of a file with more bytes than it claims. Throws `ArchiveError`.
 */
export async function openZip(file: string): Promise<ZipArchive> {
  const entries = new Map<string, Entry>();
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false, strictFileNames: false }).catch(
    damaged(file),
  );
  try {
    if (zip.entryCount > ENTRIES_MAX) {
      throw new ArchiveError(`${file} lists ${zip.entryCount} files, more than ${ENTRIES_MAX}; split it`);
    }
    for await (const entry of zip.eachEntry()) if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry);
  } catch (error) {
    zip.close();
    throw error instanceof ArchiveError ? error : faultOf(file, error);
  }
  const open = async (path: string): Promise<Readable> => {
    const entry = entries.get(path);
    if (entry === undefined) throw new ArchiveError(`${file} has no ${path}; get the export again`);
    if (entry.isEncrypted()) throw new ArchiveError(`${path} in ${file} is encrypted; export it without a password`);
    return zip.openReadStreamPromise(entry).catch(damaged(file));
  };
  return {
    paths: [...entries.keys()],
    open,
    async text(path, max) {
      const chunks: Buffer[] = [];
      let length = 0;
      try {
        for await (const chunk of (await open(path)) as AsyncIterable<Buffer>) {
          length += chunk.length;
          if (length > max) throw new ArchiveError(`${path} in ${file} has more than ${max} bytes; split it`);
          chunks.push(chunk);
        }
        return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
      } catch (error) {
        if (error instanceof TypeError) {
          throw new ArchiveError(`${path} in ${file} is not in UTF-8; save it in UTF-8`);
        }
        if (error instanceof ArchiveError) throw error;
        throw faultOf(file, error);
      }
    },
    close: () => zip.close(),
  };
}

function damaged(file: string) {
  return (error: unknown): never => {
    throw faultOf(file, error);
  };
}

function faultOf(file: string, error: unknown): ArchiveError {
  const message = `${file} is not a sound ZIP archive (${messageOf(error)}); get the export again`;
  return new ArchiveError(message);
}

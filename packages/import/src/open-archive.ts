import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { ArchiveError } from './archive-error.ts';
import { feedSource, xmlSystem } from './feed.ts';
import { GENERATORS, generatorOf } from './generators.ts';
import { ghostSource } from './ghost.ts';
import { folderSource } from './site-folder.ts';
import type { MarkdownProblem, Source } from './source.ts';
import { substackSource } from './substack.ts';
import { wordpressSource } from './wordpress.ts';
import { openZip } from './zip.ts';

/** The values of `--from`; without it, the system is recognized by the archive's content. */
export const SYSTEMS = ['json-lines', 'wordpress', 'ghost', 'substack', 'hugo', 'jekyll', 'eleventy', 'feed'] as const;
export type System = (typeof SYSTEMS)[number];

/**
 * The archive of another system at a path; null for one in JSON Lines. `problemOf` is asked of each text in Markdown before
 * it is parsed. Throws `ArchiveError`.
 */
export async function openArchive(
  path: string,
  system?: System,
  problemOf: MarkdownProblem = () => null,
): Promise<Source | null> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new ArchiveError(`${path} does not exist; name the file or the folder of an archive`);
  if (stat.isDirectory()) return openFolder(path, system, problemOf);
  // A pipe can be read only once, and recognizing the system would consume its start.
  if (!stat.isFile()) throw new ArchiveError(`${path} is neither a file nor a folder; save the archive to a file`);
  const start = startOf(path);
  if (start.startsWith('PK\x03\x04') || start.startsWith('PK\x05\x06')) return openZipped(path, problemOf);
  if (system === 'wordpress') return wordpressSource(path);
  if (system === 'feed') return feedSource(path);
  const text = start
    .replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '')
    .replaceAll('\0', '')
    .trimStart();
  if (system === 'ghost' || (system === undefined && /^\{\s*"(?:db|data|meta)"\s*:/.test(text))) {
    return ghostSource(path, async () => createReadStream(path), problemOf);
  }
  if (system === undefined && text.startsWith('<')) {
    return (await xmlSystem(path)) === 'wordpress' ? wordpressSource(path) : feedSource(path);
  }
  if (system === undefined || system === 'json-lines') return null;
  throw new ArchiveError(
    `${path} is a file, but ${system} has ${WANTED[system] ?? 'another form'}; name that, or leave --from out`,
  );
}

const WANTED: Record<string, string> = {
  substack: 'an export in ZIP',
  hugo: 'a folder',
  jekyll: 'a folder',
  eleventy: 'a folder',
};

function openFolder(path: string, system: System | undefined, problemOf: MarkdownProblem): Source {
  const name = system ?? generatorOf(path);
  const generator = Object.entries(GENERATORS).find(([key]) => key === name)?.[1];
  if (generator === undefined) throw new ArchiveError(`${path} is a folder, but ${name} exports a file; name the file`);
  return folderSource(path, generator, problemOf);
}

async function openZipped(path: string, problemOf: MarkdownProblem): Promise<Source> {
  const zip = await openZip(path);
  if (zip.paths.some((name) => /(?:^|\/)posts\.csv$/.test(name))) return substackSource(path, zip);
  const data = zip.paths.find(isGhostData);
  if (data !== undefined) {
    return ghostSource(`${path}/${data}`, () => zip.open(data), problemOf, {
      paths: new Set(zip.paths),
      open: zip.open,
      close: zip.close,
    });
  }
  zip.close();
  throw new ArchiveError(
    `${path} has no posts.csv of Substack and no JSON of Ghost; unpack it, and name the file or folder in it`,
  );
}

/** `old.ghost.2023-05-20.json`, or any JSON at the root or in `data/`. */
function isGhostData(path: string): boolean {
  if (!path.endsWith('.json')) return false;
  return path.includes('.ghost.') || !path.replace(/^data\//, '').includes('/');
}

function startOf(path: string): string {
  const input = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(1_000);
    return bytes.toString('latin1', 0, readSync(input, bytes));
  } finally {
    closeSync(input);
  }
}

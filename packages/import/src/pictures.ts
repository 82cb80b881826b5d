import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ArchiveError, messageOf } from './archive-error.ts';
import { decodedText } from './decoded-text.ts';
import type { Source } from './source.ts';

/** How many redirects are followed for one file. Podcasts are often behind several that count listeners. */
const REDIRECTS_MAX = 10;
/** The longest name that a picture keeps of its own, in characters. */
const NAME_MAX = 60;

/** After this many requests in a row without a response, a host is not asked again: each may take a minute. */
const SILENT_MAX = 5;

export type MediaKind = 'image' | 'audio';

/** A response to a request for a picture or a sound. */
export interface Fetched {
  /** Null when no response came. */
  status: number | null;
  /** A word for the error; null for a status of 2xx. */
  error: string | null;
  contentType: string | null;
  /** The whole body; null when it is not there, and `cut` says why. */
  bytes: Uint8Array | null;
  cut: string | null;
  /** Where a redirect leads, as the response says it. */
  location: string | null;
}

/**
 * Requests an address that an archive names. It may be any address, so the implementation must restrict which ones the
 * archive can reach. Follows no redirect, and never rejects.
 */
export type Fetch = (address: string, request: FetchRequest) => Promise<Fetched>;

interface FetchRequest {
  method: 'GET';
  headers: Record<string, string>;
  /** The most bytes of the body. */
  max: number;
}

/** The store of the paper's media files. */
export interface MediaStore {
  /** The media types of the pictures and sounds that the paper accepts, by extension: `.jpg`. */
  types: Readonly<Record<string, string>>;
  /** The most bytes of a file. */
  bytesMax: Record<MediaKind, number>;
  /** The words of the name of a file for its path, a–z and 0–9. */
  words(name: string): string[];
  /** Whether the paper has a file at a path, such as `media/archive/quay-0f3a9c1d.png`, with its bytes. */
  has(path: string): boolean;
  /** Stores a file under this path. Throws `ArchiveError` for a file that the paper does not accept. */
  keep(path: string, file: string): Promise<void>;
}

/** A picture or sound of an archive: the path of a media file of the paper, or why there is none. */
export type FoundPicture = { path: string } | { missing: string };

/**
 * The pictures and sounds of one archive. Each is read from the archive or fetched once, and is named after its
 * address, so that the next import finds it.
 */
export class Pictures {
  readonly #found = new Map<string, Promise<FoundPicture>>();
  readonly #source: Source;
  readonly #media: MediaStore;
  readonly #fetch: Fetch | null;
  /** For each host, how many requests got no response since the last one that did. */
  readonly #silent = new Map<string, number>();

  /** Without `fetch`, as in a dry run, every address counts as a file that will be there. */
  constructor(source: Source, media: MediaStore, fetch: Fetch | null) {
    this.#source = source;
    this.#media = media;
    this.#fetch = fetch;
  }

  /** `folder` is that of the piece's file in the archive. */
  find(address: string, folder: string, kind: MediaKind = 'image'): Promise<FoundPicture> {
    const key = /^https?:/.test(address) ? `${kind} ${address}` : `${folder}\n${address}`;
    let found = this.#found.get(key);
    if (found === undefined) {
      found = this.#look(address, folder, kind).catch((error: unknown) => {
        if (!(error instanceof ArchiveError)) throw error;
        return { missing: error.message };
      });
      this.#found.set(key, found);
    }
    return found;
  }

  async #look(address: string, folder: string, kind: MediaKind): Promise<FoundPicture> {
    const file = await this.#source.file(address, folder);
    const isWeb = /^https?:\/\//.test(address);
    if (file === null && !isWeb) return { missing: 'the archive has no such file' };
    const { has } = this.#media;
    const max = this.#media.bytesMax[kind];
    const types = Object.fromEntries(
      Object.entries(this.#media.types).filter(([, type]) => type.startsWith(`${kind}/`)),
    );
    const base = nameOf(address, folder, await this.#source.site(), this.#media.words);
    const given = extname(URL.parse(address, 'file:///')?.pathname ?? '').toLowerCase();
    for (const extension of new Set([given, ...Object.keys(types)])) {
      if (has(`${base}${extension}`)) return { path: `${base}${extension}` };
    }
    if (this.#fetch === null) return { path: `${base}${given in types ? given : Object.keys(types)[0]}` };
    // A folder for each file, so that a killed process leaves only the files in progress.
    const temporary = mkdtempSync(join(tmpdir(), 'broadsheet-import-'));
    const at = join(temporary, 'file');
    try {
      const type = file === null ? await this.#download(address, at, kind, max) : await save(file, at, max);
      const path = `${base}${extensionFor(given, type, types, kind)}`;
      await this.#media.keep(path, at);
      return { path };
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  }

  /** Returns the media type that the response names. */
  async #download(address: string, at: string, kind: MediaKind, max: number): Promise<string | null> {
    let url = address;
    for (let count = 0; count <= REDIRECTS_MAX; count++) {
      const host = URL.parse(url)?.host;
      if (host === undefined) throw new ArchiveError('it is no web address');
      const silent = this.#silent.get(host) ?? 0;
      if (silent >= SILENT_MAX) throw new ArchiveError(`${host} did not respond before`);
      const answer = await this.#fetch?.(url, { method: 'GET', headers: { Accept: `${kind}/*` }, max });
      if (answer === undefined) break;
      this.#silent.set(host, answer.status === null ? silent + 1 : 0);
      if (answer.location !== null && answer.status !== null && answer.status >= 300 && answer.status < 400) {
        const next = URL.parse(answer.location, url);
        if (next === null || !/^https?:$/.test(next.protocol)) throw new ArchiveError('it redirects to no web address');
        url = next.href;
        continue;
      }
      if (answer.error !== null)
        throw new ArchiveError(answer.status === null ? answer.error : `status ${answer.status}`);
      if (answer.bytes === null)
        throw new ArchiveError(answer.cut === 'too_long' ? tooLarge(max) : (answer.cut ?? 'closed'));
      await writeFile(at, answer.bytes);
      return answer.contentType?.split(';')[0]?.trim() ?? null;
    }
    throw new ArchiveError(`it redirects more than ${REDIRECTS_MAX} times`);
  }
}

const tooLarge = (max: number): string => `it has more than ${max / 1024 / 1024} MiB`;

/** Copies a file of the archive. Throws `ArchiveError` for errors of the archive, but not for those of this disk. */
async function save(open: () => Readable | Promise<Readable>, at: string, max: number): Promise<null> {
  await pipeline(async function* () {
    let length = 0;
    try {
      for await (const chunk of (await open()) as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length > max) throw new ArchiveError(tooLarge(max));
        yield chunk;
      }
    } catch (error) {
      throw error instanceof ArchiveError ? error : new ArchiveError(messageOf(error));
    }
  }, createWriteStream(at));
  return null;
}

/** The extension of a file, by the type in the response rather than by its name. */
function extensionFor(given: string, type: string | null, types: MediaStore['types'], kind: MediaKind): string {
  const named = type?.startsWith(`${kind}/`)
    ? Object.keys(types).find((extension) => types[extension] === type)
    : undefined;
  if (named !== undefined && types[given] !== type) return named;
  if (given in types) return given;
  const is = type === null ? `its name ends in ${JSON.stringify(given)}` : `it is of the type ${type}`;
  throw new ArchiveError(`${is}, which is not a ${kind === 'image' ? 'picture' : 'sound'} that papers accept`);
}

/**
 * The path of a picture without its extension: a part of its name, and a digest of its whole address. The digest of a
 * file in the archive includes the site, because another archive may have another file at this path.
 */
function nameOf(
  address: string,
  folder: string,
  { title, url: site }: { title: string; url: string | null },
  wordsOf: MediaStore['words'],
): string {
  const isWeb = /^https?:\/\//.test(address);
  const url = URL.parse(address, `file:///${encodeURI(folder)}/`);
  const whole = isWeb ? address : `${site ?? title}\n${url?.pathname ?? address}`;
  const last = (url?.pathname ?? address).split('/').at(-1) ?? '';
  const words = wordsOf(
    decodedText(last)
      .replace(/\.\w+$/, '')
      .toLowerCase(),
  ).join('-');
  const name = words.slice(0, NAME_MAX).replace(/-$/, '');
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `media/archive/${name === '' ? digest : `${name}-${digest}`}`;
}

import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MediaFiles } from '../../../media/media.ts';
import { extensionOf, formatOf, IMAGE_BYTES_MAX, MEDIA_FORMATS } from '../../../media/media-formats.ts';
import { Fault, messageOf } from '../../../shared/fault.ts';
import { clientOptions, type Inbound, type Outbound, outboundClient } from '../../../shared/net/outbound-client.ts';
import { VERSION } from '../../../shared/project.ts';
import type { Archive } from '../../archive.ts';
import { asciiWords, plainLetters } from '../../door/tag.ts';
import type { Media } from '../../papers/media.ts';
import { filedMedia } from '../filed-media.ts';
import type { Source } from './source.ts';

/** How many redirects are followed for one picture. */
const REDIRECTS_MAX = 3;
/** The longest name that a picture keeps of its own, in characters. */
const NAME_MAX = 60;

/** How long one picture may take to come, in ms. */
const PICTURE_WAIT = 60_000;

export type Fetch = (address: string, request: Outbound) => Promise<Inbound>;

/** Pictures are at addresses that the archive names, so they are fetched like other requests for third parties. */
export function pictureFetch(allowsPrivate: boolean): Fetch {
  const limits = { deadline: PICTURE_WAIT, answerMax: IMAGE_BYTES_MAX, answerWait: PICTURE_WAIT };
  return outboundClient({ ...clientOptions(`Broadsheet/${VERSION}`, allowsPrivate), ...limits });
}

/** A picture of an archive: a media file of the paper, or why there is none. */
export type FoundPicture = { path: string; media: Media | null } | { missing: string };

const EXTENSIONS = Object.keys(MEDIA_FORMATS).filter((extension) =>
  MEDIA_FORMATS[extension]?.media_type.startsWith('image/'),
);

/**
 * The pictures of one archive. Each is read from the archive or fetched once, and has a name that is made of its address,
 * so that the next import finds it. Bytes are kept at once; the ledger names them with the first piece that shows them.
 */
export class Pictures {
  readonly #found = new Map<string, Promise<FoundPicture>>();
  readonly #folder = mkdtempSync(join(tmpdir(), 'broadsheet-import-'));
  readonly #source: Source;
  readonly #fetch: Fetch | null;
  readonly #media: Pick<MediaFiles, 'keepFile' | 'has'>;
  readonly #archive: () => Archive | null;
  #files = 0;

  /** Without `fetch`, as in a dry run, every address counts as a picture that will be there. */
  constructor(
    source: Source,
    fetch: Fetch | null,
    media: Pick<MediaFiles, 'keepFile' | 'has'>,
    archive: () => Archive | null,
  ) {
    this.#source = source;
    this.#fetch = fetch;
    this.#media = media;
    this.#archive = archive;
  }

  /** `folder` is that of the piece's file in the archive. */
  find(address: string, folder: string): Promise<FoundPicture> {
    const key = /^https?:/.test(address) ? address : `${folder}\n${address}`;
    let found = this.#found.get(key);
    if (found === undefined) {
      found = this.#look(address, folder).catch((error: unknown) => {
        if (error instanceof Fault && error.code === 'unavailable') throw error;
        return { missing: messageOf(error) };
      });
      this.#found.set(key, found);
    }
    return found;
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #look(address: string, folder: string): Promise<FoundPicture> {
    const file = await this.#source.file(address, folder);
    const isWeb = /^https?:\/\//.test(address);
    if (file === null && !isWeb) return { missing: 'the archive has no such file' };
    const base = nameOf(address, folder);
    const given = extname(URL.parse(address, 'file:///')?.pathname ?? '').toLowerCase();
    for (const extension of new Set([given, ...EXTENSIONS])) {
      const path = `${base}${extension}`;
      const known = this.#archive()?.media(path) ?? null;
      if (known !== null && this.#media.has(known.digest)) return { path, media: null };
    }
    if (this.#fetch === null) return { path: `${base}${EXTENSIONS.includes(given) ? given : '.jpg'}`, media: null };
    const at = join(this.#folder, `${++this.#files}`);
    try {
      const type = file === null ? await this.#download(address, at) : await save(await file(), at);
      const extension = extensionFor(given, type);
      const path = `${base}${extension}`;
      const { media, changed } = await filedMedia(path, at);
      this.#media.keepFile(media.digest, at, changed ?? undefined);
      return { path, media };
    } finally {
      rmSync(at, { force: true });
    }
  }

  /** Returns the media type that the response names. */
  async #download(address: string, at: string): Promise<string | null> {
    let url = address;
    for (let count = 0; count <= REDIRECTS_MAX; count++) {
      const answer = await this.#fetch?.(url, { method: 'GET', headers: { Accept: 'image/*' } });
      if (answer === undefined) break;
      if (answer.location !== null && answer.status !== null && answer.status >= 300 && answer.status < 400) {
        const next = URL.parse(answer.location, url);
        if (next === null || !/^https?:$/.test(next.protocol)) throw new Error('it redirects to no web address');
        url = next.href;
        continue;
      }
      if (answer.error !== null) throw new Error(answer.status === null ? answer.error : `status ${answer.status}`);
      if (answer.bytes === null) throw new Error(answer.cut === 'too_long' ? TOO_LARGE : (answer.cut ?? 'closed'));
      await writeFile(at, answer.bytes);
      return answer.contentType?.split(';')[0]?.trim() ?? null;
    }
    throw new Error(`it redirects more than ${REDIRECTS_MAX} times`);
  }
}

const TOO_LARGE = `it has more than ${IMAGE_BYTES_MAX / 1024 / 1024} MiB`;

async function save(input: NodeJS.ReadableStream, at: string): Promise<null> {
  let length = 0;
  const bound = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      if (length > IMAGE_BYTES_MAX) done(new Error(TOO_LARGE));
      else done(null, chunk);
    },
  });
  await pipeline(input, bound, createWriteStream(at));
  return null;
}

/** What a picture is, by the response rather than by its name. */
function extensionFor(given: string, type: string | null): string {
  const named = type === null || !type.startsWith('image/') ? null : extensionOf(type);
  if (named !== null && formatOf(`x${given}`)?.media_type !== type) return named;
  if (EXTENSIONS.includes(given)) return given;
  throw new Error(
    `${type === null ? `its name ends in ${JSON.stringify(given)}` : `it is of the type ${type}`}, which is no picture that a paper holds`,
  );
}

/** The path of a picture without its extension: a part of its name, and a digest of its whole address. */
function nameOf(address: string, folder: string): string {
  const isWeb = /^https?:\/\//.test(address);
  const url = URL.parse(address, `file:///${encodeURI(folder)}/`);
  const whole = isWeb ? address : (url?.pathname ?? address);
  const last = (url?.pathname ?? address).split('/').at(-1) ?? '';
  const words = asciiWords(
    plainLetters(
      decoded(last)
        .replace(/\.\w+$/, '')
        .toLowerCase(),
    ),
  ).join('-');
  const name = words.slice(0, NAME_MAX).replace(/-$/, '');
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 8);
  return `media/archive/${name === '' ? digest : `${name}-${digest}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createZstdDecompress } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import { Fault, messageOf } from '../../shared/fault.ts';
import { MANIFEST_FILE, type Manifest, parseManifest, SUMS_FILE } from './manifest.ts';

/** The largest size of the two files that are read into memory, in bytes. */
const TEXT_MAX = 256 * 1024 * 1024;

/** The paths that a backup may hold. */
const PATH =
  /^(?:broadsheet\.db|[a-z][a-z-]{0,40}\.key(?:\.next)?|settings\/[A-Z_]{1,40}|media\/[0-9a-f]{2}\/[0-9a-f]{64})$/;

interface Unpacking {
  /** The backup's name in messages. */
  name: string;
  source: AsyncIterable<Uint8Array>;
  /** Called with the first file, before any other. Throws when the backup cannot be used here. */
  begin(manifest: Manifest): void;
  /** Takes one file. It must read `content` to its end. Throws only a Fault. */
  file(path: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void>;
}

/** Reads a whole backup and compares every digest. After a fault, discard all files that `file` received. */
export async function unpack({ name, source, begin, file }: Unpacking): Promise<Manifest> {
  const found = new Map<string, string>();
  let manifest: Manifest | null = null;
  let sums: string | null = null;
  try {
    for await (const { header, body } of entriesOf(source)) {
      const { name: path, size, type } = header;
      if (sums !== null || (type !== undefined && type !== 'file'))
        throw new Error(`${JSON.stringify(path)} is not part of a backup`);
      const hash = createHash('sha256');
      const content = hashed(body as unknown as AsyncIterable<Uint8Array>, hash);
      if (path === MANIFEST_FILE && manifest === null) {
        manifest = parseManifest(await textIn(content, size), name);
        begin(manifest);
      } else if (path === SUMS_FILE) {
        sums = (await textIn(content, size)).toString('utf8');
        continue;
      } else if (manifest === null || !PATH.test(path) || found.has(path)) {
        throw new Error(`${JSON.stringify(path)} is not part of a backup`);
      } else {
        await file(path, size, content);
      }
      found.set(path, hash.digest('hex'));
    }
    if (manifest === null || sums === null) throw new Error('it ends too early');
    requireSums(sums, found);
    return manifest;
  } catch (error) {
    if (error instanceof Fault) throw error;
    const reason = messageOf((error as Error).cause ?? error).split('\n', 1)[0];
    const message = `${name} is not a complete backup: it is truncated or altered (${reason}); use another copy`;
    throw new Fault('unavailable', message);
  }
}

async function* entriesOf(source: AsyncIterable<Uint8Array>): AsyncIterable<ParsedTarEntry> {
  let size = 0;
  const counted = async function* (): AsyncIterable<Uint8Array> {
    for await (const chunk of source) {
      size += chunk.length;
      yield chunk;
    }
  };
  const bytes = Readable.from(counted());
  const zstd = createZstdDecompress();
  // Thrown instead of the error that it causes downstream.
  let ofSource: unknown = null;
  bytes.on('error', (error) => {
    ofSource = error;
    zstd.destroy(error);
  });
  const tar = Readable.toWeb(bytes.pipe(zstd)) as ReadableStream<Uint8Array<ArrayBuffer>>;
  try {
    yield* tar.pipeThrough(createTarDecoder({ strict: true })) as unknown as AsyncIterable<ParsedTarEntry>;
    // Checked here, because Node ignores bytes after the last frame.
    if (zstd.bytesWritten !== size) throw new Error('there are more bytes after its end');
  } catch (error) {
    throw ofSource ?? error;
  } finally {
    bytes.destroy();
    zstd.destroy();
  }
}

async function* hashed(
  content: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncIterable<Uint8Array> {
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
}

function textIn(content: AsyncIterable<Uint8Array>, size: number): Promise<Buffer> {
  if (size > TEXT_MAX) throw new Error('its list of files is too long');
  return buffer(content);
}

function requireSums(text: string, found: ReadonlyMap<string, string>): void {
  const lines = text.split('\n').slice(0, -1);
  const named = new Map(lines.map((line): [string, string] => [line.slice(66), line.slice(0, 64)]));
  if (!text.endsWith('\n') || named.size !== lines.length || named.size !== found.size) {
    throw new Error('its list of digests does not name its files');
  }
  for (const [path, digest] of found) {
    if (named.get(path) !== digest) throw new Error(`the digest of ${path} is another`);
  }
}

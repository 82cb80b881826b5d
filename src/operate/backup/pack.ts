import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { constants, createZstdCompress } from 'node:zlib';
import { createTarPacker, type TarPackController } from 'modern-tar';
import { SUMS_FILE } from './manifest.ts';

export interface PackedFile {
  path: string;
  /** In bytes: exactly what `content` yields. */
  size: number;
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** With zstd's own checksum, which finds damage anywhere in the compressed bytes. */
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } };

/** Node ends a zstd stream twice. The second end is an empty frame, which would look like bytes after the backup. */
const EMPTY_FRAME = Buffer.from('28b52ffd240001000099e9d851', 'hex');

/** The bytes of a backup. Holds a few MB of them in memory, whatever the size. */
export async function* pack(
  files: AsyncIterable<PackedFile> | Iterable<PackedFile>,
  madeAt: number,
): AsyncIterable<Uint8Array> {
  const { readable, controller } = createTarPacker();
  const packing = packAll(controller, files, new Date(madeAt)).catch((error: unknown) => controller.error(error));
  const zstd = createZstdCompress(COMPRESSION);
  const compressing = pipeline(Readable.fromWeb(readable as ReadableStream<Uint8Array>), zstd);
  // The loop below throws the errors of both.
  compressing.catch(() => {});
  let held = Buffer.alloc(0);
  for await (const chunk of zstd) {
    const bytes = Buffer.concat([held, chunk]);
    held = bytes.subarray(-EMPTY_FRAME.length);
    yield bytes.subarray(0, bytes.length - held.length);
  }
  if (!held.equals(EMPTY_FRAME)) yield held;
  await Promise.all([packing, compressing]);
}

async function packAll(
  controller: TarPackController,
  files: AsyncIterable<PackedFile> | Iterable<PackedFile>,
  mtime: Date,
): Promise<void> {
  const sums: string[] = [];
  const add = async ({ path, size, content }: PackedFile): Promise<void> => {
    // Mode 0600 for all files: the database has readers' addresses, which are as secret as the keys.
    const writer = controller.add({ name: path, size, mtime, mode: 0o600, type: 'file' }).getWriter();
    const hash = createHash('sha256');
    for await (const chunk of content) {
      hash.update(chunk);
      await writer.write(chunk);
    }
    await writer.close();
    sums.push(`${hash.digest('hex')}  ${path}\n`);
  };
  for await (const file of files) await add(file);
  const text = Buffer.from(sums.join(''));
  await add({ path: SUMS_FILE, size: text.length, content: [text] });
  controller.finalize();
}

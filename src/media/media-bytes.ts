import { open } from 'node:fs/promises';

/** Reads at most `length` bytes of a file at an offset; fewer only at its end. */
export type Read = (offset: number, length: number) => Promise<Buffer>;

/** Gives `work` a function that reads a media file, from memory or from its path on disk, never loading it whole. */
export async function reading<T>(source: Uint8Array | string, work: (read: Read) => Promise<T>): Promise<T> {
  if (typeof source !== 'string') {
    const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
    return work(async (offset, length) => bytes.subarray(offset, offset + length));
  }
  const file = await open(source);
  try {
    return await work(async (offset, length) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    });
  } finally {
    await file.close();
  }
}

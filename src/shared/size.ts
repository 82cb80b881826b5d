/** A number of bytes for people: `131 kB`, `12.3 MB`, `63107 MB`. */
export function sizeText(bytes: number): string {
  const mega = bytes / 1e6;
  if (mega < 1) return `${Math.round(bytes / 1e3)} kB`;
  return `${Number(mega.toFixed(mega < 1_000 ? 1 : 0))} MB`;
}

/** The same for progress, which counts whole megabytes. */
export function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}

/** Reads all chunks. Throws the error from `tooLong`, and so closes the connection, after more than `most` bytes. */
export async function readWithin(
  chunks: AsyncIterable<Uint8Array> | readonly never[],
  most: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) throw tooLong();
    read.push(chunk);
  }
  return Buffer.concat(read);
}

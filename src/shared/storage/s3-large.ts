import { Fault } from '../fault.ts';
import type { Bucket, ObjectHead } from './bucket.ts';
import { type Answer, etagOf, type S3Bucket } from './s3-bucket.ts';
import { errorOf, uploadIdOf } from './s3-documents.ts';

// Objects that do not fit into memory are sent in parts and read in ranges, each with retries of its own.

const MB = 1024 * 1024;
/** The size of the first parts, which doubles after each thousand: S3 takes ten thousand. */
const PART = 16 * MB;
const PARTS_PER_SIZE = 1_000;
const RANGE = 4 * MB;

/** Writes an object whole or not at all. Returns its size. */
export async function writeLarge(
  bucket: S3Bucket,
  key: string,
  content: AsyncIterable<Uint8Array>,
  headers: Record<string, string> = {},
): Promise<number> {
  const begun = await bucket.ask('POST', { key, query: { uploads: '' }, headers });
  const uploadId = uploadIdOf(begun.body);
  try {
    const etags: string[] = [];
    let size = 0;
    for await (const body of inParts(content)) {
      const query = { partNumber: String(etags.length + 1), uploadId };
      const answer = await bucket.ask('PUT', { key, query, body });
      if (answer.status === 404) throw lost(bucket, key);
      etags.push(etagOf(answer));
      size += body.length;
    }
    await complete(bucket, { key, uploadId, etags, size, since: begun });
    return size;
  } catch (error) {
    // The store would keep, and charge for, orphaned parts.
    await bucket.ask('DELETE', { key, query: { uploadId } }).catch(() => {});
    throw error;
  }
}

async function complete(
  bucket: S3Bucket,
  upload: { key: string; uploadId: string; etags: string[]; size: number; since: Answer },
): Promise<void> {
  const { key, uploadId, etags } = upload;
  const parts = etags.map((etag, n) => `<Part><PartNumber>${n + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`);
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  const answer = await bucket.ask('POST', {
    key,
    query: { uploadId },
    headers: { 'content-type': 'application/xml' },
    body,
  });
  // The first response may have been lost: then the upload is gone, and the object is there.
  if (answer.status === 404 && isFrom(upload, await bucket.head(key))) return;
  // S3 may answer 200 and fail afterwards.
  if (answer.status !== 200 || errorOf(answer.body) !== null) throw lost(bucket, key);
}

/** Whether an object is the one that was uploaded, rather than an older one of the same name. By the store's clock. */
function isFrom({ size, since }: { size: number; since: Answer }, head: ObjectHead | null): boolean {
  if (head === null || head.size !== size) return false;
  return Date.parse(head.headers['last-modified'] ?? '') >= Date.parse(since.headers.get('date') ?? '');
}

/** The bytes of an object; null when there is none. Throws when it is replaced meanwhile. */
export async function readLarge(bucket: S3Bucket, key: string): Promise<AsyncIterable<Uint8Array> | null> {
  // Listed first, because a response to HEAD cannot say that the bucket is missing.
  const head = (await first(bucket.list(key))) === key ? await bucket.head(key) : null;
  return head === null ? null : rangesOf(bucket, key, head);
}

async function* rangesOf(
  bucket: S3Bucket,
  key: string,
  { size, etag }: { size: number; etag: string },
): AsyncIterable<Uint8Array> {
  for (let at = 0; at < size; at += RANGE) {
    const headers = { range: `bytes=${at}-${Math.min(size, at + RANGE) - 1}`, 'if-match': `"${etag}"` };
    const { status, body } = await bucket.ask('GET', { key, headers });
    if (status !== 206) {
      throw new Fault('unavailable', `${bucket.name}: ${key} was replaced while it was read; try again`);
    }
    yield body;
  }
}

async function first(objects: ReturnType<Bucket['list']>): Promise<string | null> {
  for await (const { key } of objects) return key;
  return null;
}

async function* inParts(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let parts = 0;
  for await (const chunk of content) {
    chunks.push(chunk);
    size += chunk.length;
    if (size < PART * 2 ** Math.floor(parts / PARTS_PER_SIZE)) continue;
    yield Buffer.concat(chunks);
    chunks = [];
    size = 0;
    parts++;
  }
  if (size > 0 || parts === 0) yield Buffer.concat(chunks);
}

function lost(bucket: S3Bucket, key: string): Fault {
  return new Fault('unavailable', `${bucket.name} has lost the parts of ${key}; try again`);
}

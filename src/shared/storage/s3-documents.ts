import { SaxesParser } from 'saxes';
import type { BucketObject } from './bucket.ts';

/** An error as S3 reports it. */
export interface S3Error {
  code: string;
  message: string;
}

/** A page of a listing (ListObjectsV2); null for any other response. */
export function pageOf(xml: Buffer): { objects: BucketObject[]; next: string | null } | null {
  const rows: { key: string; size: number; etag: string }[] = [];
  let root: ReadonlyMap<string, string> | null = null;
  for (const { name, fields } of elementsOf(xml, ['Contents', 'ListBucketResult'])) {
    if (name === 'ListBucketResult') root = fields;
    else {
      const etag = (fields.get('ETag') ?? '').replaceAll('"', '');
      rows.push({ key: fields.get('Key') ?? '', size: Number(fields.get('Size')), etag });
    }
  }
  if (root === null) return null;
  const isTruncated = root.get('IsTruncated') === 'true';
  const next = isTruncated ? root.get('NextContinuationToken') || null : null;
  if (isTruncated && next === null) return null;
  const isEncoded = root.get('EncodingType') === 'url';
  return { objects: isEncoded ? rows.map((row) => ({ ...row, key: decodeKey(row.key) })) : rows, next };
}

/** Non-UTF-8 keys, which a store over a file system may have, are left as they are: Broadsheet never creates them. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return key;
  }
}

/** The keys that DeleteObjects could not remove; null for any other response. */
export function failuresIn(xml: Buffer): (S3Error & { key: string })[] | null {
  const elements = elementsOf(xml, ['Error', 'DeleteResult']);
  if (elements.length === 0) return null;
  return elements
    .filter(({ name }) => name === 'Error')
    .map(({ fields }) => ({ key: fields.get('Key') ?? '', ...errorFrom(fields) }));
}

/** The id of an upload in parts that has begun. */
export function uploadIdOf(xml: Buffer): string {
  return elementsOf(xml, ['InitiateMultipartUploadResult'])[0]?.fields.get('UploadId') ?? '';
}

/** The error that a response describes; null when it describes none. */
export function errorOf(xml: Buffer): S3Error | null {
  const fields = elementsOf(xml, ['Error'])[0]?.fields;
  return fields === undefined ? null : errorFrom(fields);
}

function errorFrom(fields: ReadonlyMap<string, string>): S3Error {
  return { code: fields.get('Code') ?? '', message: fields.get('Message') ?? '' };
}

/** The elements of these names, each with the texts of its children. Empty for anything but XML. */
function elementsOf(xml: Buffer, names: readonly string[]): { name: string; fields: Map<string, string> }[] {
  const found: { name: string; fields: Map<string, string> }[] = [];
  const open: { name: string; fields: Map<string, string>; text: string }[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name }) => open.push({ name, fields: new Map(), text: '' }));
  parser.on('text', (text) => {
    const inner = open.at(-1);
    if (inner !== undefined) inner.text += text;
  });
  parser.on('closetag', () => {
    const element = open.pop();
    if (element === undefined) return;
    open.at(-1)?.fields.set(element.name, element.text);
    if (names.includes(element.name)) found.push({ name: element.name, fields: element.fields });
  });
  try {
    parser.write(xml.toString('utf8')).close();
  } catch {
    return [];
  }
  return found;
}

import { createHash, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Exchange } from '../../shared/net/outbound-client.ts';
import { VERSION } from '../../shared/project.ts';

// WARC 1.1 (ISO 28500:2017): each record is a separate gzip member, so that readers can seek to it.

/** The archived data of one reading. */
export interface Archived {
  /** The instrument that was read: the first address, before redirects. */
  instrument: string;
  /** ISO 8601, UTC, milliseconds. */
  readAt: string;
  /** All requests with their responses, in order. The last response is the source. */
  exchanges: readonly (Exchange & { url: string; body: Uint8Array })[];
}

/** The archive of a reading, as the bytes of a `.warc.gz`. */
export function warcOf({ instrument, readAt, exchanges }: Archived): Buffer {
  const about = fields({ software: `Broadsheet/${VERSION}`, format: 'WARC File Format 1.1', robots: 'classic' });
  const records = [
    record({ type: 'warcinfo', date: readAt, contentType: 'application/warc-fields' }, Buffer.from(about)),
  ];
  for (const { url, request, response, address, body } of exchanges) {
    const id = newId();
    const ip: Record<string, string> = address === null ? {} : { 'WARC-IP-Address': address };
    const of = { date: readAt, uri: url, more: ip };
    records.push(
      record(
        {
          ...{ ...of, type: 'response', id, contentType: 'application/http; msgtype=response' },
          more: { ...ip, 'WARC-Payload-Digest': digest(body) },
        },
        Buffer.concat([Buffer.from(response, 'latin1'), body]),
      ),
      record(
        {
          ...{ ...of, type: 'request', contentType: 'application/http; msgtype=request' },
          more: { ...ip, 'WARC-Concurrent-To': id },
        },
        Buffer.from(request, 'latin1'),
      ),
    );
    if (url !== instrument) {
      const more = { 'WARC-Concurrent-To': id };
      const via = Buffer.from(fields({ via: instrument }));
      records.push(record({ ...of, type: 'metadata', contentType: 'application/warc-fields', more }, via));
    }
  }
  return Buffer.concat(records);
}

interface Header {
  type: 'warcinfo' | 'response' | 'request' | 'metadata';
  date: string;
  contentType: string;
  id?: string;
  uri?: string;
  more?: Record<string, string>;
}

function record({ type, date, contentType, id = newId(), uri, more = {} }: Header, block: Buffer): Buffer {
  const head = fields({
    'WARC-Type': type,
    'WARC-Record-ID': id,
    'WARC-Date': date,
    ...(uri === undefined ? {} : { 'WARC-Target-URI': uri }),
    ...more,
    'WARC-Block-Digest': digest(block),
    'Content-Type': contentType,
    'Content-Length': `${block.length}`,
  });
  return gzipSync(Buffer.concat([Buffer.from(`WARC/1.1\r\n${head}\r\n`), block, Buffer.from('\r\n\r\n')]));
}

const fields = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

const newId = (): string => `<urn:uuid:${randomUUID()}>`;

/** A digest in the form that other tools write, so that they can check it. */
function digest(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

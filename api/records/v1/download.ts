import { setImmediate } from 'node:timers/promises';
import type { RecordsContext } from '../context.ts';

/** The media type of CSV with a header row (RFC 4180, section 3). */
export const CSV = 'text/csv; charset=utf-8; header=present';

/** Characters that are gathered into one chunk. */
const CHUNK = 64 * 1024;

/** Sends a download, produced chunk by chunk as the client reads. Other requests run between two chunks. */
export function sendChunks(c: RecordsContext, name: string, type: string, make: () => Iterator<string>): Response {
  const headers = {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
  };
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  const lines = make();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await setImmediate();
        let text = '';
        while (text.length < CHUNK) {
          const { value, done } = lines.next();
          if (done) {
            if (text !== '') controller.enqueue(Buffer.from(text));
            return controller.close();
          }
          text += value;
        }
        controller.enqueue(Buffer.from(text));
      },
    },
    { highWaterMark: 0 },
  );
  return c.body(body, 200, headers);
}

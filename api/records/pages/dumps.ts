import { join } from 'node:path';
import { z } from '@hono/zod-openapi';
import { everywhere } from '../../../src/desk/press/feeds/headers.ts';
import { DUMP_TYPES, type DumpEntry, dumpIndex, dumpNamed, dumpOf } from '../../../src/records/dumps.ts';
import type { DumpDay, RecordsPages } from '../../../src/records/views.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Busy, Fault } from '../../../src/shared/fault.ts';
import { plainFile } from '../../../src/shared/files/plain-file.ts';
import { sizeText } from '../../../src/shared/size.ts';
import { DUMP_AGE } from '../../../src/shared/storage/dump-place.ts';
import { logProver } from '../../../src/shared/transparency/log-tree.ts';
import { LogProofBody, ok } from '../../openapi/responses.ts';
import { respond, setHeader } from '../../responses/headers.ts';
import { ResponseCache } from '../../responses/response-cache.ts';
import { sendFile } from '../../responses/send-file.ts';
import { operation, type RecordsContext } from '../route.ts';
import { CSP, type PageSender } from './page.ts';

const Leaf = z.object({
  index: z.int().min(0).nullable().describe('Its number in the log of the records, from 0.'),
  hash: z.string().describe('Its leaf hash in hex: SHA-256 of a zero byte and the note (RFC 9162).'),
});
const Why = z.enum(['new', 'late', 'clock', 'opted_out', 'opted_in', 'lost']);

const Dump = z
  .object({
    day: z.iso.date().describe('UTC.'),
    generation: z.int().min(1).describe('Counts the dumps of this day: a later one replaces those before.'),
    why: Why.describe(
      'Why it was made: `new`; observations came `late`; a wrong `clock` was corrected; a name `opted_out` or `opted_in`; files were `lost`.',
    ),
    rows: z.int().min(0).describe('Observations in each file.'),
    made_at: z.iso.datetime(),
    files: z.array(
      z.object({
        format: z.enum(['parquet', 'ndjson']),
        name: z.string(),
        url: z.url(),
        bytes: z.int(),
        sha256: z.string().describe('Of the whole file, in hex.'),
      }),
    ),
    note: z.string().describe('The signed note `dump/v1`, verbatim: a leaf of the log.'),
    leaf: Leaf,
    replaced: z
      .array(z.object({ generation: z.int().min(1), made_at: z.iso.datetime(), why: Why, leaf: Leaf }))
      .describe('The dumps of this day that this one replaced, newest first, and why. Their files are gone.'),
  })
  .openapi('Dump');

const Dumps = z
  .object({
    v: z.literal(1),
    days: z.array(Dump).describe('Newest first.'),
    withheld: z.array(z.iso.date()).describe('Days whose files are being made again, without a name that opted out.'),
  })
  .openapi('Dumps');

const listSpec = {
  operationId: 'listDumps',
  tags: ['Public'],
  summary: 'The public dumps: two files of each closed UTC day',
  description:
    'Parquet, sorted by reversed hostname, for engines and for reads by range; and NDJSON, gzipped, a preview a line. The files are at their `url`, with ranges, for every origin. Where the operator publishes none, 404.',
  responses: { 200: ok(Dumps, 'All days that have a dump.') },
};

const proofSpec = {
  operationId: 'readDumpProof',
  tags: ['Public'],
  summary: 'Proves that the hashes of a day’s files are in the transparency log',
  request: {
    params: z.object({
      day: z.iso
        .date()
        .openapi({ param: { name: 'day', in: 'path' }, description: 'A UTC day.', example: '2026-11-20' }),
    }),
  },
  responses: {
    200: ok(
      z
        .object({
          day: z.iso.date(),
          note: z.string().describe('The signed note `dump/v1`, verbatim.'),
          keys_url: z.url().describe('The public keys that verify its signature.'),
          log: LogProofBody,
        })
        .openapi('DumpProof'),
      'The note of the newest dump, with its proof; `log` is null until witnesses have cosigned it.',
    ),
  },
};

/** Headers of the files: programs and pages of every origin read them, in ranges. */
const OPEN_FILES = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Accept-Ranges, Content-Length, Content-Range, ETag, Last-Modified, Repr-Digest, Retry-After',
};

const WHY: Record<DumpEntry['why'], string | null> = {
  new: null,
  late: 'observations came late',
  clock: 'a clock was corrected',
  opted_out: 'a name opted out',
  opted_in: 'a name opted in again',
  lost: 'files were lost',
};

/** A day on the page. The page reads files from the host at which it was requested, whatever its name. */
function dayView({ day, rows, why, leaf, files }: DumpEntry, root: string): DumpDay {
  return {
    ...{ day, rows, why: WHY[why], leaf: leaf.index },
    files: files.map((file) => ({
      ...file,
      url: file.url.startsWith(`${root}/`) ? file.url.slice(root.length) : file.url,
      size: sizeText(file.bytes),
    })),
  };
}

/** `/dumps/`: the page, the list, the proofs and the files. Without DUMPS_URL all of it is 404. */
export function dumpHandlers(app: AppContext, pages: PageSender) {
  const { store, settings } = app;
  const { dumps } = store.records;
  const cache = new ResponseCache();
  const prove = logProver(store.database.log, 'records');
  const requireDumps = () => {
    if (settings.dumps === null) throw new Fault('not_found', 'this service publishes no dumps');
    return settings.dumps;
  };
  const state = () => `${dumps.state()} ${store.database.log.isFilled('records')}`;
  const requireDump = (day: string): DumpEntry => {
    requireDumps();
    const dump = dumpOf(app, day);
    if (dump !== null) return dump;
    if (dumps.day(day)?.due === 'opted_out') throw new Busy(`the dump of ${day} is being made again; try again soon`);
    throw new Fault('not_found', `there is no dump of ${day}; GET /dumps/index.json lists those there are`);
  };

  return {
    list: operation(listSpec, (_c) => {
      requireDumps();
      return cache.load('index', state(), () => JSON.stringify(dumpIndex(app)));
    }),
    proof: operation(proofSpec, (c) => {
      const { day, note } = requireDump(c.req.valid('param').day);
      const keys_url = `${settings.dataOrigin}/.well-known/records-keys.json`;
      const now = `${state()} ${store.database.log.cosignedSize('records')}`;
      return cache.load(`proof ${day}`, now, () => JSON.stringify({ day, note, keys_url, log: prove(note) }));
    }),
    async page(c: RecordsContext): Promise<Response> {
      const { publicUrl, days: kept } = requireDumps();
      const frame = pages.frame(c, {
        title: 'Public dumps · Domain Records',
        description:
          'Each closed day as Parquet and NDJSON: what previews show of every observation, with its signed receipt. Look a name up by ranges, in your browser.',
        path: '/dumps/',
      });
      const view = (): RecordsPages['/records/dumps'] => {
        const { days, withheld } = dumpIndex(app);
        const bytes = days.flatMap(({ files }) => files).reduce((sum, file) => sum + file.bytes, 0);
        return {
          frame,
          kept,
          withheld,
          size: sizeText(bytes),
          days: days.map((day) => dayView(day, settings.dataOrigin)),
        };
      };
      const own = {
        'Content-Security-Policy':
          publicUrl === null
            ? CSP
            : CSP.replace("connect-src 'self'", `connect-src 'self' ${new URL(publicUrl).origin}`),
      };
      if (frame.signed_in !== null) return pages.send(c, '/records/dumps', view(), { headers: own });
      return pages.sendShared(c, await cache.load('page', state(), () => pages.render('/records/dumps', view())), own);
    },
    withoutSlash: (c: RecordsContext) => c.redirect('/dumps/', 301),
    async file(c: RecordsContext): Promise<Response> {
      for (const [name, value] of Object.entries(OPEN_FILES)) setHeader(c, name, value);
      const name = c.req.param('file') ?? '';
      const named = dumpNamed(name);
      if (named === null)
        throw new Fault('not_found', 'no dump has a file of this name; GET /dumps/index.json lists them');
      const { files, generation } = requireDump(named.day);
      const file = files.find((one) => one.name === name);
      if (file === undefined) {
        const now = files.map((one) => one.name).join(' and ');
        throw new Fault('not_found', `the newest dump of ${named.day} is number ${generation}: read ${now}`);
      }
      const { format, url, bytes, sha256 } = file;
      const folder = settings.dumps?.publicUrl == null ? (app.dumps?.folder ?? null) : null;
      if (folder === null) return respond(c, null, 302, { Location: url, 'Cache-Control': 'no-store' });
      if (plainFile(folder, name)?.size !== bytes) throw new Busy(`${name} is being made again; try again soon`);
      const headers = {
        ...everywhere({ root: settings.dataOrigin, embed_scripts: [] }),
        'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
        'Cross-Origin-Resource-Policy': 'cross-origin',
        'Content-Type': DUMP_TYPES[format],
        'Cache-Control': `public, max-age=${DUMP_AGE}`,
        'Repr-Digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
      };
      return sendFile(c, { file: join(folder, name), status: 200, headers });
    },
  };
}

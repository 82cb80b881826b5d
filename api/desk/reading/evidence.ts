import { createReadStream, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { z } from '@hono/zod-openapi';
import { republishes } from '../../../src/desk/evidence.ts';
import { FactToReviseRow, toReviseRow } from '../../../src/desk/to-revise.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { PaperContext } from '../../env.ts';
import { ok } from '../../openapi/responses.ts';
import { fileHeaders } from '../../responses/files.ts';
import { limitParam } from '../../responses/paging.ts';
import { PRIVATE } from '../../responses/send.ts';
import { archiveOf } from '../context.ts';
import { listOf, listSchema, operationsUnder } from '../route.ts';

// A copy, because a schema that was made before `@hono/zod-openapi` was loaded has no `openapi`.
const Row = FactToReviseRow.extend({}).openapi('FactToRevise', {
  example: {
    claim_key: 'largest-signed-second',
    piece: null,
    n: null,
    version: 1,
    status: 'gone',
    read_at: '2026-12-20T07:06:00.000Z',
    instrument: 'https://www.rfc-editor.org/rfc/rfc3339',
    statement: 'A signed count of 32 bits ends in January 2038.',
    reason: null,
    changes: [],
  },
});

const toRevise = {
  operationId: 'listFactsToRevise',
  summary: 'Facts on air whose sources no longer support them',
  description:
    'The source is gone, no longer says what it said when it was first read, does not contain the quote, or is a signed observation that is not valid or whose hostname gives another answer now. Most recently read first. Empty for a paper that does not read its sources.',
  request: { query: z.object({ limit: limitParam(100, 1_000) }) },
  responses: { 200: ok(listSchema('FactsToRevise', 'evidence', Row), 'The facts.') },
};

/** The sources that a paper's server read. */
export function evidenceHandlers(app: AppContext) {
  const operation = operationsUnder('Reading');
  return {
    toRevise: operation(toRevise, (c) =>
      listOf(c, 'evidence', archiveOf(app, c).factsToRevise(c.req.valid('query').limit).map(toReviseRow)),
    ),
    /** The text that the desk read from a source, by its SHA-256: see docs/evidence.md. */
    archived: (c: PaperContext) => {
      const file = c.req.path.split('/').at(-1) ?? '';
      const [, hex = '', ending = ''] = /^([0-9a-f]{64})\.(txt|warc\.gz)$/.exec(file) ?? [];
      const digest = `sha256:${hex}`;
      const path = app.store.media.pathOf(digest);
      const archive = archiveOf(app, c);
      const isWarc = ending === 'warc.gz';
      const isNamed = hex !== '' && (isWarc ? archive.showsArchive(digest) : archive.showsText(digest));
      const isShown = isNamed && republishes(archive.paper());
      const size = isShown ? statSync(path, { throwIfNoEntry: false })?.size : undefined;
      if (size === undefined) throw new Fault('not_found', `this paper shows no source ${JSON.stringify(file)}`);
      const warc = { 'Content-Type': 'application/warc', 'Content-Disposition': `attachment; filename="${file}"` };
      const headers = {
        ...fileHeaders(`/evidence/${file}`, c.get('site').root, []),
        ...(archive.paper().paper_public ? {} : { 'Cache-Control': PRIVATE }),
        ...(isWarc ? warc : {}),
        'Content-Length': `${size}`,
      };
      const body = c.req.method === 'HEAD' ? null : (Readable.toWeb(createReadStream(path)) as ReadableStream);
      return new Response(body, { headers: { ...headers, ETag: `"${hex}"` } });
    },
  };
}

import { createRoute, z } from '@hono/zod-openapi';
import { requireHost } from '../../../src/records/require-host.ts';
import { provenanceRow } from '../../../src/records/wire-rows.ts';
import { faults, ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { listOf, sendList } from '../answers.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { domainParam } from './params.ts';
import { DomainName } from './record-schemas.ts';

export const Provenance = listOf(
  'Provenance',
  z
    .object({
      seq: z.int().min(1),
      observed_at: z.iso.datetime(),
      record_root: z.string().openapi({ description: 'The Merkle root that was signed: `sha256:` and hex.' }),
      receipt: z.string().openapi({ description: 'The signed note, verbatim.' }),
    })
    .openapi('ProvenanceItem'),
  { domain: DomainName, keys_url: z.url().openapi({ description: 'Whose signatures these are.' }) },
);

const route = createRoute({
  method: 'get',
  path: '/v1/domains/{domain}/provenance',
  operationId: 'listProvenance',
  tags: ['Domains'],
  summary: 'The receipts of all observations of a domain, newest first',
  description: 'Each names by `prev` the hash of the one before: together they are a chain without gaps.',
  request: { params: domainParam, query: z.object({ limit: limitParam(100, 1_000), cursor: cursorParam }) },
  responses: { 200: ok(Provenance, 'Newest first.'), ...faults() },
});

/** A domain's receipts. */
export function provenanceDoor(doors: RecordsDoors): void {
  const { store, settings } = doors.app;
  const { records } = store;
  register(doors, 'read', route, (c) => {
    const host = requireHost(records, c.req.valid('param').domain);
    const { limit, cursor } = c.req.valid('query');
    const [before] = readCursor(z.tuple([z.int().min(1)]), cursor);
    const { rows, next } = pageOf(records.provenance(host.id, limit + 1, before), limit, ({ seq }) => cursorOf([seq]));
    return sendList(doors, c, {
      domain: host.hostname,
      keys_url: `${settings.dataOrigin}/.well-known/records-keys.json`,
      items: rows.map(provenanceRow),
      total: records.observationCount(host.id),
      next_cursor: next,
    });
  });
}

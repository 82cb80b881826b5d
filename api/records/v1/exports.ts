import { createRoute, z } from '@hono/zod-openapi';
import { CHANGE_COLUMNS, OBSERVATION_COLUMNS } from '../../../src/records/export-rows.ts';
import { faults } from '../../openapi/responses.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { exportFiles } from './export-files.ts';
import { domainParam, sinceParam, untilParam } from './params.ts';

const csv = (description: string) => ({ description, content: { 'text/csv': { schema: z.string() } } });

const changes = createRoute({
  method: 'get',
  path: '/v1/exports/changes.csv',
  operationId: 'exportChanges',
  tags: ['Exports'],
  summary: 'The change wire as CSV, oldest first',
  description: `Columns: ${CHANGE_COLUMNS.join(', ')}; lists of values are JSON. A cell that a spreadsheet would take for a formula begins with an apostrophe.`,
  request: { query: z.object({ since: sinceParam, until: untilParam }) },
  responses: { 200: csv('RFC 4180, with a header.'), ...faults() },
});

const observations = createRoute({
  method: 'get',
  path: '/v1/exports/domains/{file}',
  operationId: 'exportDomain',
  tags: ['Exports'],
  summary: 'Every observation of a domain as CSV, oldest first',
  description: `A line for each value, and one for a type without any. Columns: ${OBSERVATION_COLUMNS.join(', ')}. A cell that a spreadsheet would take for a formula begins with an apostrophe.`,
  request: {
    params: z.object({
      file: z.string().openapi({
        param: { name: 'file', in: 'path' },
        description: 'A hostname and `.csv`.',
        example: 'example.com.csv',
      }),
    }),
  },
  responses: { 200: csv('RFC 4180, with a header.'), ...faults() },
});

const evidence = createRoute({
  method: 'get',
  path: '/v1/exports/domains/{domain}/evidence.json',
  operationId: 'exportEvidence',
  tags: ['Exports'],
  summary: 'Every signed observation of a domain with the keys that sign: to be verified offline',
  description: 'The command `verify` of Broadsheet and the page /verify check it: records, signatures, and the chain.',
  request: { params: domainParam },
  responses: {
    200: {
      description: 'The whole chain, oldest first.',
      content: {
        'application/json': {
          schema: z
            .object({
              evidence: z.literal('domain-evidence/v1'),
              domain: z.string(),
              records: z.array(z.looseObject({ preview: z.literal(false), seq: z.int(), receipt: z.string() })),
              keys: z.array(z.looseObject({ kid: z.string(), vkey: z.string() })),
            })
            .openapi('Evidence'),
        },
      },
    },
    ...faults(),
  },
});

/** Exports, for accounts. */
export function exportDoors(doors: RecordsDoors): void {
  const files = exportFiles(doors.app);
  register(doors, 'export', changes, (c) => files.changes(c, c.req.valid('query')));
  register(doors, 'export', observations, (c) => files.observations(c, c.req.valid('param').file));
  register(doors, 'export', evidence, (c) => files.evidence(c, c.req.valid('param').domain));
}

import { z } from '@hono/zod-openapi';
import { CHANGE_COLUMNS, OBSERVATION_COLUMNS } from '../../../src/records/export-rows.ts';
import { LogProofBody } from '../../openapi/log-proof.ts';
import { faults } from '../../openapi/responses.ts';
import { operation } from '../route.ts';
import type { ExportFiles } from './export-files.ts';
import { domainParam, sinceParam, untilParam } from './params.ts';

const csv = (description: string) => ({ description, content: { 'text/csv': { schema: z.string() } } });

const changes = {
  operationId: 'exportChanges',
  tags: ['Exports'],
  summary: 'Every change as CSV, oldest first',
  description: `Columns: ${CHANGE_COLUMNS.join(', ')}; lists of values are JSON. Cells that a spreadsheet would read as a formula start with an apostrophe.`,
  request: { query: z.object({ since: sinceParam, until: untilParam }) },
  responses: { 200: csv('RFC 4180, with a header row.'), ...faults() },
};

const observations = {
  operationId: 'exportDomain',
  tags: ['Exports'],
  summary: 'Every observation of a domain as CSV, oldest first',
  description: `One row per value, and one for each type without values. Columns: ${OBSERVATION_COLUMNS.join(', ')}. Cells that a spreadsheet would read as a formula start with an apostrophe.`,
  request: {
    params: z.object({
      file: z.string().openapi({
        param: { name: 'file', in: 'path' },
        description: 'A hostname followed by `.csv`.',
        example: 'example.com.csv',
      }),
    }),
  },
  responses: { 200: csv('RFC 4180, with a header row.'), ...faults() },
};

const evidence = {
  operationId: 'exportEvidence',
  tags: ['Exports'],
  summary: 'Every signed observation of a domain with the signing keys, for offline verification',
  description:
    'Check it with the command `verify` of Broadsheet or on the page /verify: records, signatures and the chain.',
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
              records: z.array(
                z.looseObject({ preview: z.literal(false), seq: z.int(), receipt: z.string(), log: LogProofBody }),
              ),
              keys: z.array(z.looseObject({ kid: z.string(), vkey: z.string() })),
            })
            .openapi('Evidence'),
        },
      },
    },
    ...faults(),
  },
};

export const exportChanges = (files: ExportFiles) => operation(changes, (c) => files.changes(c, c.req.valid('query')));

export const exportDomain = (files: ExportFiles) =>
  operation(observations, (c) => files.observations(c, c.req.valid('param').file));

export const exportEvidence = (files: ExportFiles) =>
  operation(evidence, (c) => files.evidence(c, c.req.valid('param').domain));

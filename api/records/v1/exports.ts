import { z } from '@hono/zod-openapi';
import { CATALOG_COLUMNS, CHANGE_COLUMNS, OBSERVATION_COLUMNS } from '../../../src/records/export-rows.ts';
import { LogProofBody } from '../../openapi/log-proof.ts';
import { faults } from '../../openapi/responses.ts';
import type { RecordsContext } from '../context.ts';
import { operation } from '../route.ts';
import type { ExportFiles } from './export-files.ts';
import { facetColumns } from './facets.ts';
import { domainParam, sinceParam, untilParam } from './params.ts';

const csv = (description: string) => ({ description, content: { 'text/csv': { schema: z.string() } } });

const CSV_ROWS = 'RFC 4180, with a header row.';

const changes = {
  operationId: 'exportChanges',
  tags: ['Exports'],
  summary: 'Every change as CSV, oldest first',
  description: `Columns: ${CHANGE_COLUMNS.join(', ')}; lists of values are JSON. Cells that a spreadsheet would read as a formula start with an apostrophe.`,
  request: { query: z.object({ since: sinceParam, until: untilParam }) },
  responses: { 200: csv(CSV_ROWS), ...faults() },
};

const catalog = {
  operationId: 'exportCatalog',
  tags: ['Exports'],
  summary: 'The catalog as CSV, by name',
  description: `Columns: ${CATALOG_COLUMNS.join(', ')}.`,
  responses: { 200: csv(CSV_ROWS), ...faults() },
};

/** The lists by value as CSV, by the name of the file. */
const LISTS = {
  'services.csv': { kind: 'service', operationId: 'exportServices', nouns: 'Services that records point to' },
  'issuers.csv': { kind: 'issuer', operationId: 'exportIssuers', nouns: 'Certificate issuers' },
  'mail-hosts.csv': { kind: 'mailhost', operationId: 'exportMailHosts', nouns: 'Mail hosts' },
  'dns-hosts.csv': { kind: 'nameserver', operationId: 'exportDnsHosts', nouns: 'DNS hosts' },
} as const;

export type ListFile = keyof typeof LISTS;

const listSpec = (file: ListFile) => {
  const { kind, operationId, nouns } = LISTS[file];
  return {
    operationId,
    tags: ['Exports'],
    summary: `${nouns} as CSV, by number of hostnames`,
    description: `Columns: ${facetColumns(kind).join(', ')}. Cells that a spreadsheet would read as a formula start with an apostrophe.`,
    responses: { 200: csv(CSV_ROWS), ...faults() },
  };
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
  responses: { 200: csv(CSV_ROWS), ...faults() },
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

export const exportCatalog = (files: ExportFiles) => operation(catalog, (c) => files.catalog(c));

export const exportList = (files: ExportFiles, file: ListFile) =>
  operation(listSpec(file), (c) => files.list(c, file, LISTS[file].kind));

/** The same list for a route outside the API. */
export const sendList = (files: ExportFiles, file: ListFile) => (c: RecordsContext) =>
  files.list(c, file, LISTS[file].kind);

export const exportDomain = (files: ExportFiles) =>
  operation(observations, (c) => files.observations(c, c.req.valid('param').file));

export const exportEvidence = (files: ExportFiles) =>
  operation(evidence, (c) => files.evidence(c, c.req.valid('param').domain));

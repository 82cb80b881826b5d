import { z } from '@hono/zod-openapi';
import { SIGNAL_TYPES } from '../../../src/proof/records/signal.ts';
import type { ToolText } from '../../mcp/server.ts';
import { ChangeList } from '../v1/changes.ts';
import { Catalog } from '../v1/domains.ts';
import { History } from '../v1/history.ts';
import { Provenance } from '../v1/provenance.ts';
import { FullRecord, Preview, SignIn } from '../v1/record-schemas.ts';

/** A tool of the MCP server: one read of the data API, and its description for agents. */
export interface Tool extends ToolText {
  /** The path and query of the route for these arguments. */
  path(given: Record<string, unknown>): string;
}

/** Every tool only reads the service's own records. */
const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** A tool whose `path` knows the types of its arguments. */
function tool<I extends z.ZodObject, O extends z.ZodType>(
  parts: Omit<Tool, 'input' | 'output' | 'annotations' | 'path'> & {
    input: I;
    output: O;
    path(given: z.output<I>): string;
  },
): Tool {
  return { ...parts, annotations: ANNOTATIONS } as never;
}

/** A path with the defined members of a query. */
function withQuery(path: string, query: Record<string, unknown>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

// Arguments of the tools. They are passed to the query unchanged; the route validates them and reports problems.
const Hostname = z.string().max(1_000).regex(/[^.]/, 'must be a hostname, such as example.com');
const Time = z.string().max(40);

const domain = Hostname.describe(
  'The hostname, such as example.com or www.example.org. Unicode is allowed; no scheme, path or port.',
);
const onlyDomain = Hostname.optional().describe('Only this hostname.');
const type = z
  .enum([...SIGNAL_TYPES, 'CERTIFICATE'])
  .optional()
  .describe(
    'Only this type. TLSA is queried at _443._tcp., DMARC is TXT at _dmarc., WWW_… is at www. in front of the hostname.',
  );
const words = z
  .string()
  .max(1_000)
  .optional()
  .describe('Only hostnames in which each of these words is the start of a label; all hostnames without it.');
const asOf = Time.optional().describe(
  'As of the end of this UTC day (2026-11-20), or as of this time (2026-11-20T09:30:00Z). The latest without it.',
);
const pay = z
  .boolean()
  .optional()
  .describe('true asks for the price instead of a preview, to be paid with x402. Without effect beside a key.');
const since = Time.optional().describe('From this UTC day (2026-11-01) or time (2026-11-01T09:30:00Z).');
const until = Time.optional().describe('Until the end of this UTC day, or until this time.');
const order = z.enum(['newest', 'oldest']).optional().describe('Which come first; newest by default.');
const limit = z.int().min(1).max(1_000).optional().describe('Maximum number of rows in this response; 100 by default.');
const cursor = z
  .string()
  .max(4_000)
  .optional()
  .describe('next_cursor of the previous response; keep the other arguments unchanged.');

const atDomain = (name: string) => `/v1/domains/${encodeURIComponent(name)}`;

/** The tools, in list order. */
export const TOOLS: readonly Tool[] = [
  tool({
    name: 'get_domain',
    title: 'Get one domain',
    description:
      'The latest signed observation of a watched hostname, or the latest as of a given time: DNS records by type with status and TTL, certificate, recognized services, receipt. Without a key: a reduced preview with the same receipt, or with pay: true the price of the full record.',
    input: z.strictObject({ domain, as_of: asOf, pay }),
    output: z.union([FullRecord, Preview, SignIn]),
    path: ({ domain, pay, ...query }) => withQuery(atDomain(domain), { ...query, ...(pay === true ? { pay: 1 } : {}) }),
  }),
  tool({
    name: 'list_domains',
    title: 'List domains',
    description:
      'The watched hostnames, sorted by name or searched by the start of their labels, with the time of their latest observation. Use it to find the exact hostname before calling get_domain.',
    input: z.strictObject({ q: words, limit, cursor }),
    output: Catalog,
    path: (query) => withQuery('/v1/domains', query),
  }),
  tool({
    name: 'list_changes',
    title: 'List changes',
    description:
      'What changed between observations, for all watched hostnames or one: each change has the hostname, the type, added, removed or changed, and the values before and after. To follow changes, use order oldest and continue from the last cursor.',
    input: z.strictObject({ domain: onlyDomain, type, since, until, order, limit, cursor }),
    output: ChangeList,
    path: (query) => withQuery('/v1/changes', query),
  }),
  tool({
    name: 'get_domain_history',
    title: 'Get the history of one domain',
    description:
      'Every value ever observed at a watched hostname, by type, with when it was first and last seen and in how many observations. Answers what a hostname pointed to in the past, and since when.',
    input: z.strictObject({ domain, type, since, until, limit, cursor }),
    output: History,
    path: ({ domain, ...query }) => withQuery(`${atDomain(domain)}/history`, query),
  }),
  tool({
    name: 'get_provenance',
    title: 'Get the provenance of one domain',
    description:
      'The Ed25519-signed receipts of every observation of a watched hostname, newest first. Each contains the hash of the previous one; together they prove what was observed, when, and that nothing is missing.',
    input: z.strictObject({ domain, limit, cursor }),
    output: Provenance,
    path: ({ domain, ...query }) => withQuery(`${atDomain(domain)}/provenance`, query),
  }),
];

import { z } from '@hono/zod-openapi';
import { ChangeList } from '../records/v1/changes.ts';
import { Catalog } from '../records/v1/domains.ts';
import { History } from '../records/v1/history.ts';
import { Provenance } from '../records/v1/provenance.ts';
import { FullRecord, Preview, SignIn } from '../records/v1/record-schemas.ts';
import { asOf, cursor, domain, limit, onlyDomain, order, pay, since, type, until, words } from './arguments.ts';
import type { Tool } from './tool.ts';
import { tool, withQuery } from './tool.ts';

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

import { setImmediate as othersTurn } from 'node:timers/promises';
import { z } from '@hono/zod-openapi';
import { present } from '../../../src/proof/narrow.ts';
import type { Hostname } from '../../../src/records/hostname.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { requireOwn } from '../../../src/records/nodes.ts';
import { optOutReason, REASON_MAX, requireHost } from '../../../src/records/require-host.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { caught, Fault } from '../../../src/shared/fault.ts';
import type { Problem } from '../../../src/shared/shape.ts';
import type { Store } from '../../../src/store/store.ts';

import { body, faults, ok } from '../../openapi/responses.ts';
import { wholeList } from '../list.ts';
import { operation } from '../route.ts';
import { domainParam } from '../v1/params.ts';

const DOMAINS_MAX = 5_000;
/** Hostnames in one transaction, which blocks other requests. */
const BATCH = 100;
const PROBLEMS_MAX = 100;

const Domains = z.object({ domains: z.array(z.string()).min(1).max(DOMAINS_MAX) }).openapi('DomainList');

const WatchOutcome = z.object({
  domain: z.string(),
  unicode: z.string(),
  registrable_domain: z.string().nullable(),
  outcome: z.enum(['added', 'already', 'resumed', 'opted_out']),
});

const watchSpec = {
  operationId: 'watchDomains',
  tags: ['Operator'],
  summary: 'Watch hostnames; they are due at once',
  description:
    'All or nothing: if any hostname is invalid, `problems` lists the invalid ones and nothing is added. Paused hostnames are resumed; opt-outs stay in force.',
  request: { body: body(Domains) },
  responses: {
    200: ok(
      z
        .object({
          items: z.array(WatchOutcome).describe('In request order.'),
          total: z.int(),
          next_cursor: z.null(),
        })
        .openapi('WatchOutcomes'),
      'The outcome for each hostname.',
    ),
    ...faults(421),
  },
};

const pauseSpec = {
  operationId: 'pauseDomain',
  tags: ['Operator'],
  summary: 'Stop probing a hostname; its records stay visible',
  description: 'POST /v1/domains resumes it.',
  request: { params: domainParam },
  responses: {
    200: ok(
      z.object({ domain: z.string(), outcome: z.enum(['paused', 'already']) }).openapi('Paused'),
      'The hostname is paused.',
    ),
  },
};

const optOutSpec = {
  operationId: 'optOut',
  tags: ['Operator'],
  summary: 'Hide a hostname and everything below it, immediately and permanently',
  description: 'It is never probed again; its receipts are kept. Idempotent.',
  request: {
    body: body(
      z
        .object({
          domain: z.string(),
          reason: z.string().describe(`The reason: one line of 1 to ${REASON_MAX} characters.`),
        })
        .openapi('OptOut'),
    ),
  },
  responses: {
    200: ok(
      z
        .object({
          domain: z.string(),
          hidden: z.array(z.string()).describe('Watched hostnames that this opt-out hid.'),
        })
        .openapi('OptedOut'),
      'The hostname is hidden.',
    ),
    ...faults(421),
  },
};

/** Adds hostnames in batches, so that a long list does not block other requests. */
export const watchDomains = (app: AppContext) =>
  operation(watchSpec, async (c) => {
    const {
      store: { records },
      clock: { now },
    } = app;
    const hosts = parseHostnames(c.req.valid('json').domains);
    for (const [index, host] of hosts.entries()) requireOwn(app, host, `domains[${index}]`);
    const items: z.infer<typeof WatchOutcome>[] = [];
    for (let at = 0; at < hosts.length; at += BATCH) {
      if (at > 0) await othersTurn();
      const batch = hosts.slice(at, at + BATCH);
      for (const [index, { outcome }] of records.watch(batch, now()).entries()) {
        const { hostname, unicode, registrable_domain } = present(batch[index]);
        items.push({ domain: hostname, unicode, registrable_domain, outcome });
      }
    }
    return wholeList(items);
  });

export const pauseDomain = ({ records }: Store) =>
  operation(pauseSpec, (c) => {
    const { hostname } = requireHost(records, c.req.valid('param').domain, 'operator');
    return { domain: hostname, outcome: records.pause(hostname) ? ('paused' as const) : ('already' as const) };
  });

export const optOutDomain = (app: AppContext) =>
  operation(optOutSpec, (c) => {
    const { domain, reason } = c.req.valid('json');
    const host = parseHostname(domain);
    requireOwn(app, host, 'domain');
    const { store, clock } = app;
    const by = `key:${c.get('key')?.id}`;
    const hidden = store.records.optOut(host, optOutReason(reason, 'reason'), by, clock.now());
    return { domain: host.hostname, hidden };
  });

/** Parses every hostname of a request. Throws `invalid_request` with a problem for each invalid one. */
function parseHostnames(texts: string[]): Hostname[] {
  const problems: Problem[] = [];
  const hosts = texts.flatMap((text, index) => {
    const host = caught(Fault, () => parseHostname(text));
    if (!(host instanceof Fault)) return [host];
    problems.push({ field: `domains[${index}]`, rule: 'not_a_hostname', message: host.message });
    return [];
  });
  const [first] = problems;
  if (first === undefined) return hosts;
  const more = problems.length > 1 ? `; ${problems.length - 1} more are invalid` : '';
  throw new Fault('invalid_request', `${first.field}: ${first.message}${more}. Nothing was added`, {
    field: first.field,
    problems: problems.slice(0, PROBLEMS_MAX),
  });
}

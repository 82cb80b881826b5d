import { setImmediate as othersTurn } from 'node:timers/promises';
import { createRoute, z } from '@hono/zod-openapi';
import type { Problem } from '../../../src/fault.ts';
import { Fault } from '../../../src/fault.ts';
import type { Hostname } from '../../../src/records/hostname.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { optOutReason, REASON_MAX } from '../../../src/records/opt-out.ts';
import { requireHost } from '../../../src/records/require-host.ts';
import { jsonBody, limitBody } from '../../middleware/json-body.ts';
import { body, faults, ok } from '../../openapi/responses.ts';
import { privateJson } from '../../responses/send.ts';
import type { RecordsDoors } from '../route.ts';
import { register } from '../route.ts';
import { domainParam } from '../v1/params.ts';

/** Hostnames in one request. */
const MOST = 5_000;
/** Hostnames entered in one transaction: others wait for no more than these. */
const TOGETHER = 100;
/** How many names that are none are told of at once. */
const PROBLEMS_MAX = 100;

const Domains = z.object({ domains: z.array(z.string()).min(1).max(MOST) }).openapi('DomainList');

const watchRoute = createRoute({
  method: 'post',
  path: '/v1/domains',
  operationId: 'watchDomains',
  tags: ['Operator'],
  summary: 'Put hostnames under watch; they are due at once',
  description:
    'All or none: when one of them is no hostname, `problems` names every such one and nothing is entered. What was paused goes on; an opt-out stands.',
  middleware: [limitBody, jsonBody()],
  request: { body: body(Domains) },
  responses: {
    200: ok(
      z
        .object({
          items: z
            .array(
              z.object({
                domain: z.string(),
                unicode: z.string(),
                registrable_domain: z.string().nullable(),
                outcome: z.enum(['added', 'already', 'resumed', 'opted_out']),
              }),
            )
            .openapi({ description: 'In the order sent.' }),
          total: z.int(),
          next_cursor: z.null(),
        })
        .openapi('WatchOutcomes'),
      'What became of each.',
    ),
    ...faults(413, 415),
  },
});

const pauseRoute = createRoute({
  method: 'delete',
  path: '/v1/domains/{domain}',
  operationId: 'pauseDomain',
  tags: ['Operator'],
  summary: 'Look at a hostname no more; what was seen stays shown',
  description: 'POST /v1/domains takes it up again.',
  request: { params: domainParam },
  responses: {
    200: ok(
      z.object({ domain: z.string(), outcome: z.enum(['paused', 'already']) }).openapi('Paused'),
      'It is not looked at any more.',
    ),
    ...faults(),
  },
});

const optOutRoute = createRoute({
  method: 'post',
  path: '/v1/opt-out',
  operationId: 'optOut',
  tags: ['Operator'],
  summary: 'Hide a hostname and all below it everywhere, at once and for good',
  description: 'It is looked at no more, now and later; receipts are kept. Doing it again changes nothing.',
  middleware: [limitBody, jsonBody()],
  request: {
    body: body(
      z
        .object({
          domain: z.string(),
          reason: z.string().openapi({ description: `Why: one line of 1 to ${REASON_MAX} characters.` }),
        })
        .openapi('OptOut'),
    ),
  },
  responses: {
    200: ok(
      z
        .object({
          domain: z.string(),
          hidden: z.array(z.string()).openapi({ description: 'Hostnames that went out of sight by it.' }),
        })
        .openapi('OptedOut'),
      'It is out of sight.',
    ),
    ...faults(413, 415),
  },
});

/** What is watched and what must not be: doors for operators alone. */
export function operatorDoors(doors: RecordsDoors): void {
  const { store, now } = doors.app;
  const { records } = store;
  register(doors, 'operator', watchRoute, async (c) => {
    const names = readNames(c.req.valid('json').domains);
    const items: object[] = [];
    for (let at = 0; at < names.length; at += TOGETHER) {
      if (at > 0) await othersTurn();
      const part = names.slice(at, at + TOGETHER);
      for (const [index, { outcome }] of records.watch(part, now()).entries()) {
        const { hostname, unicode, registrable_domain } = part[index] as Hostname;
        items.push({ domain: hostname, unicode, registrable_domain, outcome });
      }
    }
    return privateJson(c, { items, total: items.length, next_cursor: null });
  });
  register(doors, 'operator', pauseRoute, (c) => {
    const { hostname } = requireHost(records, c.req.valid('param').domain);
    return privateJson(c, { domain: hostname, outcome: records.pause(hostname) ? 'paused' : 'already' });
  });
  register(doors, 'operator', optOutRoute, (c) => {
    const { domain, reason } = c.req.valid('json');
    const host = parseHostname(domain);
    const hidden = records.optOut(host, optOutReason(reason, 'reason'), `key:${c.get('key')?.id}`, now());
    return privateJson(c, { domain: host.hostname, hidden });
  });
}

/** The names of a request. Throws `invalid_request` with every one that is none. */
function readNames(texts: string[]): Hostname[] {
  const problems: Problem[] = [];
  const names = texts.flatMap((text, index) => {
    try {
      return [parseHostname(text)];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      problems.push({ field: `domains[${index}]`, rule: 'not_a_hostname', message: error.message });
      return [];
    }
  });
  const [first] = problems;
  if (first === undefined) return names;
  const more = problems.length > 1 ? `; ${problems.length - 1} more are none either` : '';
  throw new Fault('invalid_request', `${first.field}: ${first.message}${more}. Nothing was entered`, {
    field: first.field,
    problems: problems.slice(0, PROBLEMS_MAX),
  });
}

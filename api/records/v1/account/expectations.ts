import { z } from '@hono/zod-openapi';
import { DAY } from '../../../../src/proof/time.ts';
import type { Account } from '../../../../src/records/accounts/account.ts';
import {
  eventRow,
  expectationRow,
  knownNames,
  NOTE_MAX,
  namesIn,
  PLANS_MAX,
  planChange,
  planRow,
  putExpectations,
  removeExpectations,
  requirePlan,
  WINDOW_MAX,
} from '../../../../src/records/declared-expectations.ts';
import {
  DOCUMENT_MAX,
  NAMES_MAX,
  NAMES_TEXT,
  RuleBody,
  readNames,
} from '../../../../src/records/expectation-document.ts';
import { EVENT_KINDS } from '../../../../src/records/expectations.ts';
import type { AppContext } from '../../../../src/server/context.ts';
import { newId } from '../../../../src/shared/new-id.ts';
import { body, faults, IDEMPOTENCY, ok } from '../../../openapi/responses.ts';
import { reply } from '../../../responses/reply.ts';
import { listOf, wholeList } from '../../list.ts';
import { operation } from '../../route.ts';
import { accountOf, accountOperations, changeOnce, idParam } from './change.ts';

const EVENTS = 50;

const time = z.iso.datetime();
const Seq = z.int().min(1).nullable();
const Rule = z
  .strictObject(RuleBody.shape)
  .openapi('ExpectationRule', { example: { values: ['192.0.2.1', '192.0.2.2'] } });
const NamesBody = z.record(z.string(), z.record(z.string(), z.unknown())).openapi({
  type: 'object',
  description: NAMES_TEXT,
  additionalProperties: {
    type: 'object',
    additionalProperties: { $ref: '#/components/schemas/ExpectationRule' },
  },
});
const names = z.record(z.string(), z.record(z.string(), Rule)).describe('The document, to be changed and PUT again.');
const Row = z
  .object({
    hostname: z.string(),
    signal: z.string(),
    expected: Rule,
    state: z.enum(['unknown', 'expected', 'unexpected']).describe('Unknown until the first known answer.'),
    since: time.nullable(),
    seen: z.array(z.string()).nullable().describe('What was answered then.'),
    observation_seq: Seq,
    is_alerted: z.boolean().describe('Whether an alert of the account covers the hostname; without one, look here.'),
  })
  .openapi('Expectation');
export const ExpectationEvent = z
  .object({
    seq: z.int(),
    at: time,
    domain: z.string(),
    signal: z.string(),
    kind: z.enum(EVENT_KINDS),
    expected: Rule,
    seen: z.array(z.string()).nullable(),
    observation_seq: Seq,
    plan: z.string().nullable().describe('The planned change that it ends.'),
    line: z.string().describe('The same in one line of plain text.'),
    receipt: z.string().nullable().describe('The receipt of the observation that shows it; null without one.'),
  })
  .openapi('ExpectationEvent');
const Plan = z
  .object({
    ...{ id: z.string(), made_at: time, from: time, until: time, note: z.string() },
    items: z.array(
      z.object({
        ...{ hostname: z.string(), signal: z.string(), expected: Rule },
        state: z.enum(['waiting', 'done', 'missed']),
        settled_at: time.nullable(),
        observation_seq: Seq,
        receipt: z.string().nullable().describe('Of what is done: the receipt of the observation that shows it.'),
      }),
    ),
  })
  .openapi('PlannedChange');
const Expectations = listOf('Expectations', Row, {
  names,
  plans: z.array(Plan).describe('Planned changes, newest first.'),
  events: z.array(ExpectationEvent).describe(`The newest ${EVENTS}, newest first.`),
});
const Removed = z.object({ expectations: z.int(), plans: z.int() }).openapi('RemovedExpectations');
const params = idParam('planned change');

export function expectationOperations(app: AppContext) {
  const { store, settings, clock } = app;
  const { reads, changes } = accountOperations(app);
  const { expectations, changeQueue } = store.records;
  const known = knownNames(app);
  const Document = z
    .strictObject({ names: NamesBody })
    .transform(({ names }, context) => ({ names: readNames(names, known, context) }))
    .openapi('ExpectationsBody', {
      example: { names: { 'example.com': { A: { values: ['192.0.2.1'] }, MX: { providers: ['Google Workspace'] } } } },
    });
  const PlanBody = z
    .strictObject({
      names: NamesBody,
      from: z.iso.datetime({ offset: true }).optional().describe('When the window opens; now without it.'),
      until: z.iso.datetime({ offset: true }).describe(`When it closes, at most ${WINDOW_MAX / DAY} days later.`),
      note: z.string().max(NOTE_MAX).default('').describe('For yourself, such as the commit.'),
    })
    .transform(({ names, from, until, note }, context) => ({
      names: readNames(names, known, context),
      from: from === undefined ? undefined : Date.parse(from),
      until: Date.parse(until),
      note,
    }))
    .openapi('PlannedChangeBody', {
      example: { names: { 'example.com': { A: { values: ['192.0.2.2'] } } }, until: '2026-11-28T12:00:00Z' },
    });
  const read = ({ id }: Account) => {
    const all = expectations.ofAccount(id);
    const isAlerted = new Map(
      [...new Set(all.map(({ hostname }) => hostname))].map((hostname) => [
        hostname,
        changeQueue.alertsFor(hostname, clock.now(), '').some(({ account }) => account === id),
      ]),
    );
    return {
      names: namesIn(all),
      ...wholeList(
        all.map((one) => ({ ...expectationRow(app, one), is_alerted: isAlerted.get(one.hostname) ?? false })),
      ),
      plans: expectations.plans(id).map((plan) => planRow(app, plan)),
      events: expectations.events(id, EVENTS).map((event) => eventRow(app, event)),
    };
  };
  return {
    list: reads(
      {
        operationId: 'readExpectations',
        summary: 'What the account expects names to answer, and whether they do',
        responses: { 200: ok(Expectations, 'By hostname and type.') },
      },
      read,
    ),
    put: changes(
      {
        operationId: 'putExpectations',
        summary: 'Declare what names should answer',
        description: `Replaces all expectations of the account; those that stay keep their state. A name that is under watch may be named, up to ${NAMES_MAX} of them, in ${DOCUMENT_MAX / 1024} KiB. What is as expected is quiet: changes of a type with an expectation reach no alert of the account, but what is not as expected does, once until it changes again, and once when it is as expected again. An unknown answer says nothing. A rule that matches everything is refused.`,
        request: { body: body(Document) },
        responses: { 200: ok(Expectations, 'The expectations, compared with the newest answers.') },
      },
      (account, c) => {
        putExpectations(app, account.id, c.req.valid('json').names);
        return read(account);
      },
    ),
    remove: changes(
      {
        operationId: 'removeExpectations',
        summary: 'End all expectations and planned changes of the account',
        responses: { 200: ok(Removed, 'How many there were.') },
      },
      ({ id }) => removeExpectations(app, id),
    ),
    plan: operation(
      {
        tags: ['Account'],
        operationId: 'planChange',
        summary: 'Announce a change of what names answer',
        description: `A change within the window is quiet: one \`done_as_planned\` with the receipt of the observation that shows it, and from then on it is what is expected. Other answers stay loud, and a window that ends without the change is told once. What a name answers now is expected until then, where nothing else is. Names are probed every ten minutes while a window is open. Windows of the same type of a name must not overlap (409). They may be of as many names as the account may watch. An account has at most ${PLANS_MAX} planned changes; of more, the oldest settled one is forgotten.`,
        request: { headers: IDEMPOTENCY, body: body(PlanBody) },
        responses: { 201: ok(Plan, 'The planned change.'), ...faults(409) },
      },
      async (c) => {
        const { body: row } = await changeOnce(app, c, 201, () =>
          planRow(app, planChange(app, accountOf(app, c).id, c.req.valid('json'), newId())),
        );
        const headers = { Location: `${settings.dataOrigin}/v1/account/expectations/${row.id}` };
        return reply(row, { status: 201, headers });
      },
    ),
    show: reads(
      {
        operationId: 'readPlannedChange',
        summary: 'One planned change, and what became of it',
        request: { params },
        responses: { 200: ok(Plan, 'The planned change.') },
      },
      ({ id }, c) => planRow(app, requirePlan(app, id, c.req.valid('param').id)),
    ),
    cancel: changes(
      {
        operationId: 'removePlannedChange',
        summary: 'Remove a planned change',
        request: { params },
        responses: { 200: ok(Plan, 'The planned change as it was.') },
      },
      ({ id: account }, c) => {
        const plan = requirePlan(app, account, c.req.valid('param').id);
        const row = planRow(app, plan);
        expectations.removePlan(account, plan.id);
        return row;
      },
    ),
  };
}

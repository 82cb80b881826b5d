import { z } from '@hono/zod-openapi';
import { ACTIONS, activityRow, SUBJECTS, WAYS } from '../../../src/desk/activity.ts';
import { STATES } from '../../../src/desk/archive.ts';
import { LEVELS } from '../../../src/desk/papers/keys.ts';
import type { AppContext } from '../../../src/server/context.ts';
import { ok } from '../../openapi/responses.ts';
import { cursorOf, cursorParam, limitParam, pageOf, readCursor } from '../../responses/paging.ts';
import { reply } from '../../responses/reply.ts';
import { listOf, listSchema, operationsUnder } from '../route.ts';

const ActivityRow = z
  .object({
    id: z.string(),
    at: z.iso.datetime(),
    who: z
      .object({
        id: z.string().openapi({ description: 'The id of the key that acted, `cli` or `folder`.' }),
        name: z.string().nullable().openapi({ description: 'The name of the key.' }),
        level: z.enum(LEVELS).nullable(),
        seat: z.string().nullable().openapi({ description: 'Whose seat the key is.' }),
      })
      .openapi({ description: 'Who acted: a key, a command of the operator, or the folder of content.' }),
    action: z.enum(ACTIONS),
    outcome: z.enum(['done', 'refused']).openapi({
      description: '`refused`: the filing door refused it to an agent, and nothing was changed.',
    }),
    subject: z
      .object({
        kind: z.enum(SUBJECTS),
        id: z.string().nullable().openapi({ description: 'Null for a piece that was refused and so has none.' }),
        slug: z.string().nullable(),
        title: z.string().nullable().openapi({
          description: 'What it is called; a piece by its newest headline, and null once that is withheld.',
        }),
        state: z.enum(STATES).nullable().openapi({ description: 'The state of the piece now.' }),
      })
      .nullable(),
    from: z.object({
      way: z.enum(WAYS),
      network: z.string().nullable().openapi({ description: 'An IPv4 /24 or an IPv6 /48; null for a command.' }),
    }),
    detail: z.looseObject({}).openapi({
      description: 'Details: the names of the settings that changed, a reason, the fields and rules of a refusal.',
    }),
  })
  .openapi('Activity', {
    example: {
      id: '01kq3vd2m6w2d5c8z4n0r9t1b6',
      at: '2026-11-20T06:30:00.000Z',
      who: { id: '01kq3vb2m6w2d5c8z4n0r9t1b6', name: 'Mara Vell', level: 'admin', seat: 'mara@example.org' },
      action: 'config.changed',
      outcome: 'done',
      subject: null,
      from: { way: 'console', network: '192.0.2.0/24' },
      detail: { changed: ['motto'] },
    },
  });

const Cursor = z.tuple([z.number().int().min(-8.64e15).max(8.64e15), z.string().max(40)]);

const list = {
  operationId: 'listActivity',
  summary: 'Who changed what, when, and from where',
  description:
    'Written in the transaction of each change, and never changed. What the door refused to an agent is here too: sixty refusals of a key in an hour are listed; further ones are only counted in the key’s row.',
  request: {
    query: z.object({
      limit: limitParam(50, 200),
      cursor: cursorParam,
      who: z
        .string()
        .max(40)
        .optional()
        .openapi({ description: 'Only what this key did, by its id; or `cli`, or `folder`.' }),
      action: z.enum(ACTIONS).optional().openapi({ description: 'Only these.' }),
      subject: z
        .string()
        .max(1_000)
        .optional()
        .openapi({ description: 'Only what was done to the piece, key, page … of this id.' }),
      outcome: z
        .enum(['done', 'refused'])
        .optional()
        .openapi({ description: 'Only what was done, or only what was refused.' }),
      since: z.iso
        .datetime({ offset: true, error: 'must be a time, such as 2026-11-20T06:30:00Z' })
        .optional()
        .openapi({ description: 'Only since this time.' }),
    }),
  },
  responses: { 200: ok(listSchema('ActivityList', 'activity', ActivityRow), 'Newest first.') },
};

/** The log of a paper's activity. */
export function listActivity({ store }: Pick<AppContext, 'store'>) {
  return operationsUnder('Desk')(list, (c) => {
    const { limit, cursor, outcome, since, ...of } = c.req.valid('query');
    const [at, id] = readCursor(Cursor, cursor);
    const found = store.desk.activity.list(c.get('site').slug, {
      ...of,
      limit: limit + 1,
      after: at === undefined || id === undefined ? undefined : { at, id },
      refused: outcome === undefined ? undefined : outcome === 'refused',
      since: since === undefined ? undefined : Date.parse(since),
    });
    const { rows, next } = pageOf(found, limit, (last) => cursorOf([last.at, last.id]));
    return reply(listOf(c, 'activity', rows.map(activityRow), next), {
      page: { limit, cursor, outcome, since, ...of },
    });
  });
}

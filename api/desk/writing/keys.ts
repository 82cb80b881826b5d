import { randomBytes } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { keyChange } from '../../../src/desk/activity.ts';
import {
  type AccessKey,
  KeyBody,
  type KeyWork,
  keyRow,
  LEVELS,
  makeKey,
  PAPER_KEY_STATES,
  pauseKey,
} from '../../../src/desk/papers/keys.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { Fault } from '../../../src/shared/fault.ts';
import type { KeyDays } from '../../../src/shared/key-life.ts';
import { newId } from '../../../src/shared/new-id.ts';
import { body, created, faults, ok } from '../../openapi/responses.ts';
import { reply } from '../../responses/reply.ts';
import { archiveOf } from '../context.ts';
import { listOf, listSchema, operationsUnder, pathParam, writes } from '../route.ts';
import { Pressing, type Writer, write } from './write.ts';

const operation = operationsUnder('Keys');

const time = z.iso.datetime().nullable();
const by = z.string().nullable();

const KeyRow = z
  .object({
    id: z.string(),
    level: z.enum(LEVELS),
    name: z.string(),
    seat: z.string().nullable().openapi({ description: 'Whose seat it is.' }),
    persona: z.string().nullable().openapi({ description: 'The one persona that an agent’s key signs as.' }),
    state: z.enum(PAPER_KEY_STATES).openapi({ description: '`paused`: it can read but not write.' }),
    made_at: z.iso.datetime(),
    made_by: by.openapi({
      description:
        'Who made it: `cli` is the operator, `key:<id>` another key, `link:<id>` the link for the first seat; null for keys older than this record.',
    }),
    expires_at: time.openapi({ description: 'When it expires; null if it never does.' }),
    used_at: time.openapi({ description: 'The last recorded use, which may lag by a few seconds.' }),
    uses: z
      .object({ days: z.int().min(0), first_day: z.iso.date().nullable(), last_day: z.iso.date().nullable() })
      .openapi({ description: 'On how many UTC days it was used, and the first and the last of them.' }),
    revoked_at: time,
    revoked_by: by,
    paused_at: time,
    paused_by: by,
    work: z
      .object({
        filed: z.int().min(0).openapi({ description: 'Pieces and revisions that it filed.' }),
        refused: z.int().min(0).openapi({ description: 'Filings that the door refused to an agent’s key.' }),
        last_at: time.openapi({ description: 'The last change that it made, or that was refused.' }),
      })
      .openapi('KeyWork'),
  })
  .openapi('Key');

const Rate = z.object({ filed: z.int().min(0), refused: z.int().min(0) });

const ListedKey = KeyRow.safeExtend({
  rate: z
    .object({ hour: Rate, day: Rate })
    .openapi({ description: 'Of the last hour and the last 24 hours; refusals up to sixty an hour.' }),
}).openapi('ListedKey');

const ReadKey = ListedKey.safeExtend({
  on_air: z.int().min(0).openapi({ description: 'How many pieces that it filed, or revised, are on air.' }),
}).openapi('ReadKey');

const NewKey = KeyRow.safeExtend({
  key: z.string().openapi({ description: 'The key itself, shown this one time.' }),
  ...Pressing,
}).openapi('NewKey');

const list = {
  operationId: 'listKeys',
  summary: 'The paper’s keys and seats',
  responses: { 200: ok(listSchema('KeyList', 'keys', ListedKey), 'Revoked ones too.') },
};

const read = {
  operationId: 'readKey',
  summary: 'One key, and what it has done',
  description: '`GET /api/v1/activity?who={id}` lists what it filed, and what was refused and why.',
  request: { params: pathParam('id', 'The key’s id.') },
  responses: { 200: ok(ReadKey, 'The key.') },
};

const pause = writes({
  operationId: 'pauseKey',
  summary: 'Pause a key, or resume it',
  description:
    'A paused key can read, but its writes are refused with 403 `key_paused`. The same holds for its sessions.',
  request: {
    params: pathParam('id', 'The key’s id.'),
    body: body(z.strictObject({ paused: z.boolean() }).openapi('KeyPause', { example: { paused: true } })),
  },
  responses: { 200: ok(KeyRow.safeExtend(Pressing).openapi('ChangedKey'), 'The key as it is now.'), ...faults(409) },
});

const make = writes({
  operationId: 'makeKey',
  summary: 'Make a key; it is shown this one time',
  description:
    'With `seat` it is a person’s. Sent again under the same Idempotency-Key, no second key is made: the answer is 409 and names the first.',
  request: { body: body(KeyBody) },
  responses: { 201: created(NewKey, 'The key.'), ...faults(409) },
});

const revoke = writes({
  operationId: 'revokeKey',
  summary: 'Revoke a key; a seat goes with its key',
  request: { params: pathParam('id', 'The key’s id.') },
  responses: { 200: ok(KeyRow.safeExtend(Pressing).openapi('RevokedKey'), 'The key as it is now.') },
});

/** Creating, listing and revoking keys. */
export function keyHandlers(writer: Writer) {
  const { app } = writer;
  const { keys } = app.store.desk;
  const { now } = app.clock;
  const { activity } = app.store.desk;
  const rowOf = (key: AccessKey & Partial<KeyDays & KeyWork>) => keyRow(key, keys.hasExpired(key, now()));
  const ratesOf = (paper: string) => {
    const of = (span: number) => new Map(activity.since(paper, now() - span).map(({ who, ...did }) => [who, did]));
    const [hour, day] = [of(HOUR), of(DAY)];
    const none = { filed: 0, refused: 0 };
    return (id: string) => ({ hour: hour.get(id) ?? none, day: day.get(id) ?? none });
  };
  return {
    list: operation(list, (c) => {
      const { slug } = c.get('site');
      const rateOf = ratesOf(slug);
      return listOf(
        c,
        'keys',
        keys.list(slug).map((key) => ({ ...rowOf(key), rate: rateOf(key.id) })),
      );
    }),
    read: operation(read, (c) => {
      const { slug } = c.get('site');
      const { id } = c.req.valid('param');
      const key = keys.list(slug).find((one) => one.id === id);
      if (key === undefined) {
        const named = JSON.stringify(id.slice(0, 80));
        throw new Fault('not_found', `this paper has no key ${named}; see GET /api/v1/keys`);
      }
      return { ...rowOf(key), rate: ratesOf(slug)(id), on_air: activity.onAir(id) };
    }),
    pause: operation(pause, (c) => {
      const { id } = c.req.valid('param');
      const { paused } = c.req.valid('json');
      return write(writer, c, (own) => {
        if (own.id === id && paused) {
          throw new Fault('conflict', 'a key cannot pause itself, because it could not resume itself; use another one');
        }
        const by = `key:${own.id}`;
        const { key, changed } = pauseKey({ keys, now: now() }, c.get('site').slug, id, { paused, by });
        const did = changed ? [keyChange(paused ? 'paused' : 'resumed', key)] : [];
        return { status: 200, body: rowOf(key), did };
      });
    }),
    make: operation(make, async (c) => {
      let shown: string | null = null;
      const maker = { keys, archive: archiveOf(app, c), now, newId, random: randomBytes };
      const work = (own: AccessKey) => {
        const by = `key:${own.id}`;
        const { key, made: row } = makeKey({ ...maker, by }, c.get('site').slug, c.req.valid('json'));
        shown = key;
        // The response that is stored for retries contains no key.
        return { status: 201, body: rowOf(row), did: [keyChange('made', row)] } as const;
      };
      const { body: row, init } = await write(writer, c, work, { addressOf: ({ id }) => `keys/${id}` });
      if (shown !== null) return reply({ ...row, key: shown }, init);
      throw new Fault(
        'conflict',
        `key ${row.id} was made under this Idempotency-Key, and a key is shown once; if it was lost, revoke it and make another`,
      );
    }),
    revoke: operation(revoke, (c) => {
      const { id } = c.req.valid('param');
      return write(writer, c, (own) => {
        const { slug } = c.get('site');
        const by = `key:${own.id}`;
        const known = keys.list(slug).find((key) => key.id === id);
        const at = now();
        if (known === undefined || !keys.revoke(slug, id, at, by)) {
          const named = JSON.stringify(id.slice(0, 80));
          throw new Fault('not_found', `this paper has no key ${named} in force; see GET /api/v1/keys`);
        }
        const did = [keyChange('revoked', known)];
        return { status: 200, body: rowOf({ ...known, revoked_at: at, revoked_by: by }), did };
      });
    }),
  };
}

import { z } from '@hono/zod-openapi';
import { BEGINNINGS, endSession, sessionChange, sessionRow } from '../../../src/desk/console/session.ts';
import { ok } from '../../openapi/responses.ts';
import { listOf, listSchema, operationsUnder, pathParam, writes } from '../route.ts';
import { Pressing, type Writer, write } from './write.ts';

const operation = operationsUnder('Keys');

const SessionRow = z
  .object({
    id: z.string(),
    key: z.string().openapi({ description: 'The id of the key that it was started with; it ends with the key.' }),
    name: z.string().openapi({ description: 'The name of that key.' }),
    seat: z.string().nullable().openapi({ description: 'Whose seat it is.' }),
    began: z.enum(BEGINNINGS).openapi({
      description:
        'How it began: with a key, a mailed link, a link printed for an operator, a passkey, or the first seat.',
    }),
    browser: z
      .string()
      .openapi({ description: 'The name that the browser gives itself.', example: 'Firefox on Linux' }),
    network: z.string().openapi({ description: 'Where it signed in: an IPv4 /24 or an IPv6 /48.' }),
    made_at: z.iso.datetime(),
    seen_at: z.iso.datetime().openapi({ description: 'The last recorded use, which may lag by an hour.' }),
    expires_at: z.iso.datetime().openapi({ description: 'When it ends if it is not used.' }),
  })
  .openapi('Session');

const list = {
  operationId: 'listSessions',
  summary: 'Browsers that are signed in to the console',
  responses: { 200: ok(listSchema('SessionList', 'sessions', SessionRow), 'Newest first, at most 500.') },
};

const end = writes({
  operationId: 'endSession',
  summary: 'Sign a browser out of the console',
  request: { params: pathParam('id', 'The session’s id.') },
  responses: { 200: ok(SessionRow.safeExtend(Pressing).openapi('EndedSession'), 'The session as it was.') },
});

/** Listing and ending sessions of the console. */
export function sessionHandlers(writer: Writer) {
  const { store, clock } = writer.app;
  const { consoleSessions: sessions, keys } = store.desk;
  const tables = { sessions, now: clock.now };
  return {
    list: operation(list, (c) => {
      const { slug } = c.get('site');
      const known = keys.list(slug);
      const rows = sessions.list(slug, clock.now()).map((session) => sessionRow(session, known));
      return listOf(c, 'sessions', rows);
    }),
    end: operation(end, (c) => {
      const { id } = c.req.valid('param');
      return write(writer, c, (own) => {
        const session = endSession(tables, own, id);
        return { status: 200, body: sessionRow(session, keys.list(own.paper)), did: [sessionChange('ended', session)] };
      });
    }),
  };
}

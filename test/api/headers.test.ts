import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { KeyUses } from '../../api/middleware/key-uses.ts';
import { deskRouter } from '../../api/server.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { enterPapers } from '../support/small-papers.ts';

/** What Node hands to the router with a request; nothing can be set on its response. */
const bindings = () => ({
  incoming: { headers: {}, rawHeaders: [], socket: { remoteAddress: '127.0.0.1' } },
  outgoing: Object.freeze({ headersSent: false }),
});

test('the headers of a response are on the response, however it is made', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'the-open' }]);
  const app = appContextIn(t, folder, { now: Date.parse('2026-11-20T12:00:00Z') });
  const uses = new KeyUses(app.store.desk.keys, assert.ifError);
  t.after(() => uses.close());
  const router = await deskRouter({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) }, uses);
  const ask = (path: string, init: RequestInit = {}) =>
    router.fetch(new Request(new URL(path, app.settings.origin), init), bindings());

  const open = { 'access-control-allow-origin': '*' };
  const json = { ...open, 'content-type': 'application/json' };
  const cases: [what: string, path: string, status: number, headers: Record<string, string>, init?: RequestInit][] = [
    ['JSON from the cache', '/the-open/api/v1/stories', 200, json],
    ['a text', '/the-open/api/v1/playground', 200, { ...open, 'content-type': 'text/html; charset=utf-8' }],
    ['a redirect', '/the-open/api/v1/playground/', 308, { ...open, location: '../playground' }],
    ['a fault', '/the-open/api/v1/stories/none', 404, { ...json, vary: 'Accept' }],
    [
      'a preflight',
      '/the-open/api/v1/stories',
      204,
      { ...open, allow: 'GET, HEAD, OPTIONS, POST' },
      { method: 'OPTIONS' },
    ],
    ['a page', '/nothing', 404, { 'content-type': 'text/html; charset=UTF-8' }, { headers: { accept: 'text/html' } }],
  ];
  for (const [what, path, status, headers, init = {}] of cases) {
    const named = { ...init, headers: { 'x-request-id': 'asked', ...init.headers } };
    const response = await ask(path, named);
    assert.equal(response.status, status, what);
    for (const [name, value] of Object.entries({ ...headers, 'x-request-id': 'asked' })) {
      assert.equal(response.headers.get(name), value, `${name} of ${what}`);
    }
  }

  const first = await ask('/the-open/api/v1/stories');
  const etag = first.headers.get('etag') ?? '';
  const again = await ask('/the-open/api/v1/stories', { headers: { 'if-none-match': etag } });
  assert.equal(again.status, 304);
  assert.equal(again.headers.get('etag'), etag);
  assert.equal(again.headers.get('access-control-allow-origin'), '*');
  assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'));
});

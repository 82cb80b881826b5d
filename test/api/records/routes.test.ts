import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { KeyUses } from '../../../api/middleware/key-uses.ts';
import { recordsApi } from '../../../api/records/api.ts';
import { PageSender } from '../../../api/records/pages/page.ts';
import { ChangeFeed } from '../../../api/records/stream/feed.ts';
import { appContextIn, tempFolder } from '../../support/app-context.ts';
import { ask } from '../../support/http.ts';
import { recordsStand } from '../../support/records-fixture.ts';

test('the router has the routes of the URL map, and no others', async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: 0 });
  const uses = new KeyUses(app.store.records.serviceKeys, () => {});
  t.after(() => uses.close());
  const { router, routes } = await recordsApi({
    app,
    uses,
    pages: new PageSender(async () => '', app.settings),
    logger: pino({ level: 'silent' }),
    feed: new ChangeFeed(app.store.records, () => {}),
    asset: () => null,
    ask: () => new Response(),
  });
  const mapped = routes.map(([method, path]) => `${method} ${path.replaceAll(/\/\{(.+?)\}/g, '/:$1')}`);
  const registered = router.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual([...new Set(registered)], mapped);
});

test('a path without parameters takes its own methods alone, also where a pattern would match it', async (t) => {
  const { url, keyOf } = await recordsStand(t);
  const headers = { 'x-service-key': keyOf('operator') };
  for (const [path, allow] of [
    ['/v1/queue/lease', 'OPTIONS, POST'],
    ['/v1/queue/stats', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const answer = await ask(url, path, headers, 'DELETE');
    assert.equal(answer.status, 405, path);
    assert.equal(answer.headers.allow, allow);
    assert.equal((await ask(url, path, {}, 'OPTIONS')).headers.allow, allow);
  }
  assert.equal((await ask(url, '/v1/queue/stats', headers)).status, 200);
});

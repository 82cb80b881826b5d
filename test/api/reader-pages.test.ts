import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import pino from 'pino';
import { KeyUses } from '../../api/middleware/key-uses.ts';
import { deskRouter } from '../../api/server.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { manageToken, tokenIn } from '../../src/desk/readers/link.ts';
import { DiskFault } from '../../src/shared/fault.ts';
import { linkKey } from '../../src/shared/files/data-folder.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { confirmedReader } from '../support/readers.ts';
import { enterPapers } from '../support/small-papers.ts';

test('a full disk is reported to readers of a private paper and reveals the paper to nobody else', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'quiet', isPublic: false }]);
  const app = appContextIn(t, folder, { now: Date.now() });
  const { tokens } = app.store.desk.readers;
  const { reader } = confirmedReader(app, 'reader@example.org', {}, 'quiet');
  const own = manageToken(tokens, linkKey(app.settings, 'readers'), 'quiet', reader);
  const uses = new KeyUses(app.store.desk.keys, assert.ifError);
  t.after(() => uses.close());
  const router = await deskRouter({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) }, uses);
  const post = async (name: string, body: Record<string, unknown>, paper = 'quiet') => {
    const headers = { 'content-type': 'application/json' };
    const request = new Request(`${app.settings.origin}/${paper}/subscribe/${name}`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify(body),
    });
    const response = await router.fetch(request, {
      incoming: { headers: {}, rawHeaders: [], socket: { remoteAddress: '127.0.0.1' } },
      outgoing: { headersSent: false },
    });
    return { status: response.status, retry: response.headers.get('retry-after'), text: await response.text() };
  };

  const disk = mock.method(app.store.desk, 'transact', () => {
    throw new DiskFault('full', 'the database cannot be written');
  });
  for (const [name, body] of [
    ['unsubscribe', { token: own }],
    ['manage', { token: own, cadence: 'weekly' }],
  ] as const) {
    const { status, retry, text } = await post(name, body);
    assert.equal(status, 503, name);
    assert.ok(Number(retry) > 0, name);
    assert.match(text, /the server’s disk is full; nothing was saved/, name);
  }
  for (const name of ['confirm', 'manage', 'unsubscribe']) {
    const hidden = await post(name, { token: 'x' });
    assert.equal(hidden.status, 404, name);
    assert.deepEqual(hidden, await post(name, { token: 'x' }, 'absent'), name);
  }
  disk.mock.restore();
  assert.equal((await post('unsubscribe', { token: own })).status, 200);
  assert.equal(tokenIn(tokens, 'quiet', 'manage', own, app.clock.now()).reader, reader);
  assert.equal(app.store.desk.readers.subscribers.of('quiet', reader), null);
});

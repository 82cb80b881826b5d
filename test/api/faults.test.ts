import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hono } from 'hono';
import pino from 'pino';
import { answerFault } from '../../api/middleware/fault.ts';
import { carryHeaders } from '../../api/responses/headers.ts';
import { Busy, Fault } from '../../src/shared/fault.ts';

test('transient faults are public, faults of the machine stay in the log', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const router = new Hono();
  router.use(carryHeaders);
  router.onError(answerFault(logger, (error) => error));
  router.get('/busy', () => {
    throw new Busy('too many long pieces are waiting to be parsed; send it again soon');
  });
  router.get('/broken', () => {
    throw new Fault('unavailable', '/srv/var/door.key cannot be read');
  });

  const busy = await router.request('/busy', {}, { incoming: {} });
  assert.equal(busy.status, 503);
  assert.deepEqual(await busy.json(), {
    error: 'unavailable',
    message: 'too many long pieces are waiting to be parsed; send it again soon',
  });
  const broken = await router.request('/broken', {}, { incoming: {} });
  assert.equal(broken.status, 503);
  assert.notEqual(broken.headers.get('retry-after'), null);
  assert.doesNotMatch(await broken.text(), /door\.key/);
  assert.match(lines.join(''), /door\.key cannot be read/);
});

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { HttpBindings } from '@hono/node-server';
import pino from 'pino';
import { KeyUses } from '../../api/middleware/key-uses.ts';
import { deskRouter } from '../../api/server.ts';
import type { activityRow } from '../../src/desk/activity.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from './app-context.ts';
import { enterPapers, type Keys } from './small-papers.ts';

/** A row of `GET /api/v1/activity`. */
export type ActivityRow = ReturnType<typeof activityRow>;

interface Sent {
  key?: string;
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  env?: object;
}

/** A desk with two small papers, `tides` and the private `quiet`, whose routes are called in process. The test sets its clock. */
export async function deskInProcess(t: TestContext, more: Record<string, string> = {}) {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'tides' }, { slug: 'quiet', isPublic: false }]);
  const clock = { now: Date.now() };
  const app = openAppContext(readSettings(envIn(folder, { TRUSTED_PROXIES: '10.0.0.1', ...more })), () => clock.now);
  const uses = new KeyUses(app.store.desk.keys, assert.ifError);
  t.after(() => {
    uses.close();
    app.close();
  });
  const router = await deskRouter({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) }, uses);
  const ask = async (path: string, { key, method = 'GET', body, headers, env }: Sent = {}) => {
    const init: RequestInit = {
      method,
      headers: {
        ...(key === undefined ? {} : { 'x-nrf-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const response = await router.fetch(new Request(new URL(path, app.settings.origin), init), {
      incoming: {
        headers: { 'x-forwarded-for': '198.51.100.77' },
        rawHeaders: [],
        socket: { remoteAddress: '10.0.0.1' },
      },
      outgoing: { headersSent: false },
      ...env,
    } as unknown as HttpBindings);
    const text = await response.text();
    return { status: response.status, text, json: /^[[{]/.test(text) ? JSON.parse(text) : null };
  };
  const of = (paper: string): Keys => keys.get(paper) ?? assert.fail();
  const api = (path: string, { method = 'POST', ...sent }: Sent = {}) =>
    ask(`/tides/api/v1/${path}`, { key: of('tides').admin, method, ...sent });
  const log = async (query = ''): Promise<ActivityRow[]> => {
    const { json, text } = await api(`activity?limit=200&${query}`, { method: 'GET' });
    assert.ok(Array.isArray(json.activity), text);
    return json.activity;
  };
  return { folder, clock, app, ask, api, log, of };
}

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { makeServiceKey } from '../../src/records/accounts/service-key.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { newId } from '../../src/shared/new-id.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { probe } from '../support/probes.ts';
import { serve, until } from '../support/program.ts';
import { send } from '../support/send.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { type Call, NO_STRACE, type Trace, traced } from '../support/strace.ts';

// A power cut takes back whatever was not synced. The system's own log of calls shows that no answer goes out before that.

const WAL = /broadsheet\.db-wal>/;

const isAnswer = ({ text }: Call) => text.includes('HTTP/1.1 2');
const isWrite = ({ name, text }: Call) => /^p?write/.test(name) && WAL.test(text);
/** The end of a sync, on whatever thread. */
const isSync = ({ name, text }: Call) =>
  WAL.test(text) && /^f(?:data)?sync/.test(name) && (name.endsWith('resumed') || !text.endsWith('<unfinished ...>'));

/** From a place in the trace up to the answer: the calls of the thread that answered, and every sync. */
async function upToAnswer(trace: Trace, from: number): Promise<Call[]> {
  return until(() => {
    const calls = trace.calls().slice(from);
    const end = calls.findIndex(isAnswer);
    if (end < 0) return null;
    return calls.slice(0, end).filter((call) => call.thread === calls[end]?.thread || isSync(call));
  });
}

function assertSynced(calls: Call[], what: string): void {
  const written = calls.findLastIndex(isWrite);
  assert.ok(written >= 0, `${what}: nothing was written`);
  assert.ok(calls.slice(written).some(isSync), `${what}: it was answered before what it wrote was synced`);
}

test('no write is answered before it is on the disk', { skip: NO_STRACE }, async (t) => {
  const folder = tempFolder(t);
  const desk = (await enterPapers(folder, [{ slug: 'tide-table' }])).get('tide-table')?.admin ?? '';
  const app = appContextIn(t, folder, { now: Date.now() });
  const maker = { keys: app.store.records.serviceKeys, now: Date.now, newId, random: randomBytes, by: 'cli' };
  const { id: account } = app.store.records.accounts.ofEmail('ada@example.org', {
    id: newId(),
    plan: 'daily',
    made_at: 0,
  });
  const keyed = makeServiceKey(maker, { account, level: 'account', name: 'Ada' }).key;
  const scanner = makeServiceKey(maker, { account: null, level: 'scanner', name: 'A scanner' }).key;
  app.store.records.watch([parseHostname('harbor.example'), parseHostname('quay.example')], Date.now());
  const { url, records, child } = await serve(t, folder);
  const trace = await traced(t, child.pid ?? 0);

  const asked = async (what: string, base: string, request: Parameters<typeof send>[1]) => {
    const from = trace.calls().length;
    const { status, text } = await send(base, request);
    assert.ok(status < 300, `${what}: ${status} ${text}`);
    assertSynced(await upToAnswer(trace, from), what);
    return JSON.parse(text) as Record<string, unknown>;
  };
  await asked('a piece that is filed and put on air', url, {
    method: 'POST',
    path: '/tide-table/api/v1/stories',
    headers: { authorization: `Bearer ${desk}` },
    body: { ...storyBody('spring-tide'), air: true },
  });
  const headers = { 'x-service-key': scanner };
  const { lease, hostnames } = await asked('a lease', records, {
    method: 'POST',
    path: '/v1/queue/lease',
    headers,
    body: { max: 2 },
  });
  const looks = (hostnames as string[]).map((name) => probe(name, Date.now(), { A: ['192.0.2.1'] }));
  await asked('looks that are handed in', records, {
    method: 'POST',
    path: `/v1/queue/${lease}/results`,
    headers,
    body: { looks },
  });
  await asked('a read that is charged', records, {
    path: '/v1/domains/harbor.example',
    headers: { 'x-service-key': keyed },
  });
  await asked('a keyless read that is counted', records, { path: '/v1/domains/harbor.example' });
  await asked('a piece that is filed after them', url, {
    method: 'POST',
    path: '/tide-table/api/v1/stories',
    headers: { authorization: `Bearer ${desk}` },
    body: storyBody('neap-tide'),
  });
});

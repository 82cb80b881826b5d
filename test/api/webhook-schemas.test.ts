import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAppContext } from '../../src/server/context.ts';
import { readSettings } from '../../src/server/env.ts';
import { envIn, tempFolder } from '../support/app-context.ts';
import { Contract, type Document } from '../support/contract.ts';
import { ask } from '../support/http.ts';
import { until } from '../support/program.ts';
import { type Received, receiver } from '../support/receiver.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { webhookMismatch } from '../support/webhook-contract.ts';

const PAPER = 'tide-table';

test('webhook payloads of every type match the document', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: PAPER }]);
  const { url } = await serveHere(t, folder, { WEBHOOK_PRIVATE: 'allow' });
  const at = await receiver(t);
  const write = async (method: string, path: string, body?: object): Promise<Record<string, string>> => {
    const headers = { 'x-nrf-key': keys.get(PAPER)?.admin ?? '' };
    const answer = await send(url, { method, path: `/${PAPER}/api/v1/${path}`, headers, ...(body && { body }) });
    assert.ok(answer.status < 300, answer.text);
    return JSON.parse(answer.text) as Record<string, string>;
  };
  const { id = '' } = await write('POST', 'webhooks', { url: at.url });
  await write('POST', 'stories', { ...storyBody('spring-tide'), air: true });
  const { stories } = JSON.parse((await ask(url, `/${PAPER}/api/v1/stories`)).text) as { stories: { id: string }[] };
  const piece = `stories/${stories[0]?.id}`;
  await write('PUT', piece, { ...storyBody('spring-tide'), headline: 'Another', revision: 1 });
  await write('PUT', 'facts/sp811-another', { version: 1, statement: 'Another was so.', note: 'A tense.' });
  await write('DELETE', `${piece}/airing`, { reason: 'It was wrong.' });
  const today = new Date().toISOString().slice(0, 10);
  const media = { video: 'media/cast/2026-11-16.mp4', poster: 'media/cast/2026-11-16.jpg' };
  await write('PUT', `cast/${today}`, { title: 'Today', ...media });
  await write('POST', `webhooks/${id}/test`);
  // No source is read here: their servers are on the network.
  const app = openAppContext(readSettings(envIn(folder)));
  t.after(() => app.close());
  const subject = `${stories[0]?.id}/1`;
  const said = {
    version: 1,
    state: 'gone',
    read_at: 0,
    instrument: 'https://iho.int/',
    statement: 'It was so.',
  } as const;
  const [found, about] = [
    { subject, ...said, reason: null, changes: [] },
    { slug: 'spring-tide', sections: ['Tides'] },
  ];
  app.store.database.transact(() =>
    app.store.desk.emit({ type: 'fact.to_revise', paper: PAPER, at: app.clock.now(), found, ...about }),
  );

  const { text } = await ask(url, `/${PAPER}/api/v1/openapi.json`);
  const contract = new Contract(JSON.parse(text) as Document);
  const types = Object.keys(contract.document.webhooks ?? {}).sort();
  const ofStories = ['story.aired', 'story.revised', 'story.withdrawn'];
  assert.deepEqual(types, ['cast.published', 'fact.corrected', 'fact.to_revise', ...ofStories, 'webhook.test']);
  const typeOf = ({ body }: Received) => (JSON.parse(body) as { type: string }).type;
  const told = await until(() => (new Set(at.got.map(typeOf)).size === types.length ? at.got : null));
  for (const received of told) assert.equal(webhookMismatch(contract, received), null, received.body);

  // The schemas are no formality.
  const [aired] = told.filter((one) => typeOf(one) === 'story.aired');
  assert.ok(aired);
  for (const [from, to] of [
    ['"declared_ai":true', '"declared_ai":false'],
    ['"type":"story.aired"', '"type":"story.revised.twice"'],
    ['"revision":1', '"revision":"1"'],
    ['"headline"', '"Headline"'],
  ] as const) {
    assert.ok(aired.body.includes(from), from);
    assert.notEqual(webhookMismatch(contract, { ...aired, body: aired.body.replace(from, to) }), null, from);
  }
  const { 'webhook-signature': _, ...unsigned } = aired.headers;
  assert.match(webhookMismatch(contract, { ...aired, headers: unsigned }) ?? '', /webhook-signature/);
});

test('the index lists every route that a key reaches, with its methods', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: PAPER }]);
  const { url } = await serveHere(t, folder);
  const document = JSON.parse((await ask(url, `/${PAPER}/api/v1/openapi.json`)).text) as Document;
  const { operations } = new Contract(document);
  const reached = { public: ['public'], read: ['public', 'read'], agent: ['public', 'read', 'agent'], admin: null };
  for (const [level, levels] of Object.entries(reached)) {
    const key = level === 'public' ? undefined : keys.get(PAPER)?.[level as 'read'];
    const { text } = await ask(url, `/${PAPER}/api/v1`, key === undefined ? {} : { 'x-nrf-key': key });
    const { endpoints } = JSON.parse(text) as { endpoints: Record<string, string> };
    const wanted = operations
      .filter(({ security }) => levels?.includes(security[0]?.bearer?.[0] ?? 'public') ?? true)
      .map(({ method, path }) => [`${method} ${path}`, `${url}/${PAPER}${path}`]);
    const listed = Object.entries(endpoints).filter(([name]) => name.includes(' '));
    assert.deepEqual(listed.sort(), key === undefined ? [] : wanted.sort(), level);
    // The short names lead to the same addresses.
    const addresses = new Set(wanted.map(([, address]) => address));
    for (const [name, address] of Object.entries(endpoints)) assert.ok(addresses.has(address), name);
  }
});

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Access } from '../../../src/records/meter/lane.ts';
import { type Answer, ask } from '../../support/http.ts';
import { transcriptStand } from '../../support/records-transcript.ts';
import { type Exchange, play, readTranscript } from '../../support/transcript.ts';

const FOLDER = fileURLToPath(new URL('../../transcripts', import.meta.url));
const THEMES = readdirSync(FOLDER).flatMap((file) => (file.startsWith('records-') ? file.replace(/\.txt$/, '') : []));

/** So many seconds pass before a request: a line of the transcript, and no header. */
const LATER = 'Later';

test('every route of the data API matches its transcript', async (t) => {
  const played: Exchange[] = [];
  let document = '';
  for (const theme of THEMES) {
    await t.test(theme, async (t) => {
      const { stand, words } = await transcriptStand(t, theme);
      const { url, clock } = stand;
      document ||= (await ask(url, '/v1/openapi.json')).text;
      for (const exchange of readTranscript(join(FOLDER, `${theme}.txt`))) {
        await t.test(`${theme}.txt:${exchange.line} ${exchange.method} ${exchange.path}`, async () => {
          const [, later] = exchange.headers.find(([name]) => name === LATER) ?? [];
          clock.now += Number(later ?? 0) * 1_000;
          const headers = exchange.headers.filter(([name]) => name !== LATER);
          assertCareful(exchange, await play({ ...exchange, headers }, { url, prefix: '', words }));
          played.push(exchange);
        });
      }
    });
  }

  await t.test('every operation of the OpenAPI document and its errors are covered', () => {
    const { paths } = JSON.parse(document) as { paths: Record<string, Record<string, { 'x-access': Access }>> };
    for (const [path, operations] of Object.entries(paths)) {
      // Other addresses fit `{lease}` too; each has its own line.
      const form = new RegExp(
        `^${path.replaceAll('.', '\\.').replace(/\\?\{\w+\\?\}/g, '(?!stats|changes)[^/?]+')}(\\?|$)`,
      );
      for (const [method, { 'x-access': access }] of Object.entries(operations)) {
        const of = played.filter((one) => one.method === method.toUpperCase() && form.test(one.path));
        const statuses = new Set(of.map(({ status }) => status));
        const what = `${method} ${path}, played with ${[...statuses].join(', ')}`;
        // What is sold is sold on a real chain, by a test of its own.
        assert.ok(
          ['/v1/credits', '/v1/plans/{name}'].includes(path)
            ? statuses.has(402)
            : statuses.has(200) || statuses.has(201),
          what,
        );
        if (access === 'read') assert.ok(statuses.has(402), `${what}: without a key`);
        if (['export', 'usage', 'queue', 'operator'].includes(access)) assert.ok(statuses.has(401), `${what}: no key`);
        if (['usage', 'queue', 'operator'].includes(access)) assert.ok(statuses.has(403), `${what}: too low a key`);
      }
    }
  });
});

/** What holds of every answer (protocol 8). */
function assertCareful({ method, path, headers: sent }: Exchange, { status, headers, text }: Answer): void {
  assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.doesNotMatch(text, /\bat .+\.[mc]?[jt]s:\d+|node_modules|SQLITE/);
  if (!path.startsWith('/v1')) return;
  assert.equal(headers['access-control-allow-origin'], '*');
  const isKeyed = sent.some(([name]) => name === 'X-Service-Key');
  if (status >= 400) assert.equal(headers['cache-control'], 'no-store');
  else if (isKeyed) assert.equal(headers['cache-control'], 'private, no-store');
  if (method === 'HEAD' || status === 304) assert.equal(text, '');
  if (status < 400 || method === 'HEAD') return;
  const { error, message } = JSON.parse(text) as { error: string; message: string };
  assert.match(error, /^[a-z_]+$/);
  assert.ok(message.length > 10 && message.length < 1_000, message);
}

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tempFolder } from '../../support/app-context.ts';
import { ask } from '../../support/http.ts';
import { GENERATIONS, type Given, mcpUser } from '../../support/mcp.ts';
import { send } from '../../support/send.ts';
import { serveHere } from '../../support/serve-here.ts';
import { enterPapers, storyBody } from '../../support/small-papers.ts';

const PUBLIC = ['search_stories', 'read_story', 'read_front', 'find_facts'];
const READ = [...PUBLIC, 'list_drafts', 'read_terms'];
const AGENT = [...READ, 'check_piece', 'file_piece', 'revise_piece', 'schedule_piece', 'upload_media'];
const ADMIN = [...AGENT, 'withdraw_piece'];

const POSTER = readFileSync(fileURLToPath(new URL('../../fixtures/poster.jpg', import.meta.url)));
const OWN = 'http://tides.example';
const ACCEPT = 'application/json, text/event-stream';

/** The structured content of a result, which the text repeats. */
function dataOf({ content, structuredContent, isError }: Given, isRefusal = false) {
  assert.equal(isError ?? false, isRefusal, content[0]?.text);
  assert.deepEqual(JSON.parse(content[0]?.text ?? ''), structuredContent);
  // biome-ignore lint/suspicious/noExplicitAny: the client has checked it against the schema of its tool.
  return structuredContent as any;
}

const faultOf = (given: Given) => dataOf(given, true);

test('a paper’s tools', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [
    { slug: 'shared' },
    { slug: 'own', url: OWN },
    { slug: 'quiet', isPublic: false },
  ]);
  const { url } = await serveHere(t, folder);
  const keysOf = (paper: string) => keys.get(paper) ?? assert.fail();
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const user = (generation: (typeof GENERATIONS)[number], key?: string, paper = 'shared') =>
    mcpUser(t, generation, url, key === undefined ? {} : bearer(key), `/${paper}/mcp`);
  const post = (path: string, body: object | string, headers: Record<string, string> = {}) =>
    send(url, {
      method: 'POST',
      path,
      body,
      headers: { accept: ACCEPT, 'content-type': 'application/json', ...headers },
    });

  await t.test('are those of the caller’s level, with schemas and annotations', async (t) => {
    const { read, agent, admin } = keysOf('shared');
    const levels = [
      [undefined, PUBLIC],
      [read, READ],
      [agent, AGENT],
      [admin, ADMIN],
    ] as const;
    for (const [key, names] of levels) {
      const tools = await (await user('2026', key)).tools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        names,
      );
    }
    for (const generation of GENERATIONS) {
      await t.test(generation, async () => {
        const client = await user(generation, admin);
        for (const name of PUBLIC) assert.ok(client.instructions?.includes(name), name);
        for (const { name, title, description, inputSchema, outputSchema, annotations } of await client.tools()) {
          assert.ok(title && description);
          const { properties, ...input } = inputSchema as { properties: Record<string, object> };
          assert.partialDeepStrictEqual(input, { type: 'object', additionalProperties: false }, name);
          assert.partialDeepStrictEqual(outputSchema, { type: 'object' }, name);
          const isWrite = !READ.includes(name) && name !== 'check_piece';
          assert.equal('idempotency_key' in properties, isWrite, name);
          assert.partialDeepStrictEqual(annotations, {
            readOnlyHint: !isWrite,
            destructiveHint: ['revise_piece', 'withdraw_piece'].includes(name),
            openWorldHint: isWrite,
          });
        }
      });
    }
  });

  for (const generation of GENERATIONS) {
    await t.test(`a client of ${generation} looks up, drafts, checks, files and corrects`, async () => {
      const paper = generation === '2026' ? 'shared' : 'own';
      const { agent, admin } = keysOf(paper);
      const client = await user(generation, agent, paper);
      await client.tools();

      const { stories } = dataOf(await client.call('search_stories', { q: 'high water' }));
      assert.equal(stories.length, 1);
      const door = JSON.parse((await ask(url, `/${paper}/api/v1/stories/${stories[0].id}`, bearer(agent))).text);
      assert.deepEqual(dataOf(await client.call('read_story', { id: stories[0].id })), door);
      const { newsroom } = dataOf(await client.call('read_front'));
      const byline = newsroom[0].slug;

      const { facts: recorded } = dataOf(await client.call('find_facts', { q: 'another so', source: 'nist' }));
      assert.equal(recorded.length, 1);
      const fact = { claim_key: 'sp811-another', version: 1, source: 'NIST', instrument: 'SP 811', status: 'standing' };
      assert.partialDeepStrictEqual(recorded[0], fact);
      const words = { q: 'another so', source: 'nist', scope: 'pieces' };
      const { facts, searched } = dataOf(await client.call('find_facts', words));
      assert.deepEqual([facts.length, searched], [3, 3]);
      assert.partialDeepStrictEqual(facts[0], { n: 2, source: 'NIST', claim_key: 'sp811-another' });

      const draft = { ...storyBody('by-an-agent'), byline };
      assert.equal(dataOf(await client.call('read_terms')).signed, false);
      const unsigned = faultOf(await client.call('file_piece', draft));
      assert.equal(unsigned.error, 'terms_unsigned');
      const { version } = dataOf(await client.call('read_terms'));
      const accepted = await post(
        `/${paper}/api/v1/agent/terms/accept`,
        { version, signed_by: 'Mara Vell' },
        bearer(admin),
      );
      assert.equal(accepted.status, 200);

      const wrong = { ...draft, category: 'Nowhere', prose: 'One thing.[^1] A third.[^3]' };
      const { problems, html } = dataOf(await client.call('check_piece', wrong));
      assert.equal(html, undefined, 'an agent has no use for the page');
      const rules = problems.map(({ rule }: { rule: string }) => rule);
      const refusal = faultOf(await client.call('file_piece', { ...wrong, idempotency_key: 'first' }));
      assert.equal(refusal.error, 'refused_by_door');
      assert.deepEqual(
        refusal.problems.map(({ rule }: { rule: string }) => rule),
        rules,
        'the door names the same problems',
      );
      assert.ok(rules.includes('marker_without_entry') && rules.length >= 3, String(rules));
      const misshapen = faultOf(await client.call('file_piece', { ...wrong, colour: 'red' }));
      assert.equal(misshapen.error, 'invalid_request');
      assert.ok(misshapen.problems.length > rules.length, 'the shape’s problems, and those of the door');
      assert.deepEqual(dataOf(await client.call('check_piece', draft)).problems, []);

      const picture = {
        data: `data:image/jpeg;base64,${POSTER.toString('base64')}`,
        path: `media/art/${generation}.jpg`,
      };
      const media = dataOf(await client.call('upload_media', { ...picture, alt: 'Zwei Fähren, 渡し船' }));
      assert.partialDeepStrictEqual(media, { path: picture.path, bytes: POSTER.length, media_type: 'image/jpeg' });
      assert.ok((await ask(url, `/${paper}/${picture.path}`)).body.equals(POSTER));

      const named = { ...draft, image: picture.path, idempotency_key: 'second' };
      const filed = dataOf(await client.call('file_piece', named));
      assert.partialDeepStrictEqual(filed.story, { state: 'draft', revision: 1, slug: 'by-an-agent' });
      assert.deepEqual(dataOf(await client.call('file_piece', named)), filed, 'the same key files nothing twice');
      const other = faultOf(await client.call('file_piece', { ...named, dek: 'Another.' }));
      assert.equal(other.error, 'idempotency_key_reused');
      const { drafts } = dataOf(await client.call('list_drafts', { limit: 1 }));
      assert.equal(drafts[0].id, filed.story.id);

      const { id } = filed.story;
      const early = faultOf(await client.call('schedule_piece', { id, at: '2020-01-01T00:00:00Z' }));
      assert.equal(early.field, 'at');
      const later = dataOf(await client.call('schedule_piece', { id, at: '2099-01-01T00:00:00Z' }));
      assert.equal(later.story.state, 'scheduled');
      const aired = dataOf(await client.call('schedule_piece', { id: 'by-an-agent' }));
      assert.partialDeepStrictEqual([aired.story.state, aired.pressed], ['on_air', true]);

      const { slug: _slug, ...body } = draft;
      const correction = 'The dek was wrong.';
      const again = dataOf(await client.call('revise_piece', { ...body, id, dek: 'Right.', revision: 1, correction }));
      assert.partialDeepStrictEqual(again.story, { revision: 2, dek: 'Right.', state: 'on_air' });
      assert.equal(again.story.corrections[0].note, correction);
      assert.equal(faultOf(await client.call('revise_piece', { ...body, id, revision: 1 })).error, 'conflict');

      const editor = await user(generation, admin, paper);
      await editor.tools();
      const gone = dataOf(await editor.call('withdraw_piece', { id, reason: 'It was a test.' }));
      assert.equal(gone.story.state, 'withdrawn');
      const withdrawn = faultOf(await client.call('read_story', { id }));
      assert.partialDeepStrictEqual(withdrawn, { error: 'withdrawn', reason: 'It was a test.' });
    });
  }

  await t.test('uploads that are none, and arguments of no tool', async () => {
    const client = await user('2026', keysOf('shared').agent);
    await client.tools();
    for (const [given, error, field] of [
      [{ data: 'not base64!' }, 'invalid_request', 'data'],
      [{ data: 'data:image/png,plain' }, 'invalid_request', 'data'],
      [{ data: POSTER.toString('base64') }, 'unsupported_media_type', undefined],
      [{ data: POSTER.toString('base64'), media_type: 'image/jpeg\r\nX-Evil: 1' }, 'invalid_request', undefined],
      [
        { data: POSTER.toString('base64'), media_type: 'image/jpeg', path: '../x.jpg' },
        'invalid_request',
        'X-Media-Path',
      ],
      [{ data: Buffer.from('<svg/>').toString('base64'), media_type: 'image/jpeg' }, 'refused_by_door', undefined],
    ] as const) {
      const fault = faultOf(await client.call('upload_media', given));
      assert.deepEqual([fault.error, fault.field], [error, field], fault.message);
    }
    const large = faultOf(await client.call('upload_media', { data: 'A'.repeat(5_592_412) }));
    assert.deepEqual([large.error, large.field], ['too_large', 'data']);
    for (const [name, given] of [
      ['read_story', {}],
      ['read_story', { id: '' }],
      ['revise_piece', { headline: 'x' }],
      ['find_facts', { limit: 1_000 }],
      ['list_drafts', { cursor: 7 }],
    ] as const) {
      const { isError, content } = await client.call(name, given);
      assert.equal(isError, true);
      assert.match(content[0]?.text ?? '', new RegExp(`${name}: .*(?:id|limit|cursor)`));
    }
    assert.equal(faultOf(await client.call('find_facts', { cursor: 'nonsense' })).field, 'cursor');
    assert.equal(faultOf(await client.call('read_story', { id: '../keys' })).error, 'not_found');
  });

  await t.test('what a level forbids is refused before a tool runs, with where to sign in', async () => {
    const { read, agent } = keysOf('shared');
    const call = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });
    for (const [message, headers, status, error, path] of [
      [call('file_piece'), {}, 401, 'key_required', '/shared/mcp'],
      [call('list_drafts'), {}, 401, 'key_required', '/shared/mcp'],
      [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }, {}, 401, 'key_required', '/shared/mcp?scope=write'],
      [call('read_front'), bearer('nrf_nothing'), 401, 'key_invalid', '/shared/mcp'],
      [call('file_piece'), bearer(read), 403, 'level_too_low', '/shared/mcp'],
      [call('withdraw_piece'), bearer(agent), 403, 'level_too_low', '/shared/mcp'],
      [call('read_front'), bearer(keysOf('own').read), 403, 'wrong_paper', '/shared/mcp'],
      // A private paper looks like one that does not exist, and its clients find where to sign in.
      [call('read_front'), {}, 401, 'key_required', '/quiet/mcp'],
      [call('read_front'), {}, 401, 'key_required', '/no-such-paper/mcp'],
    ] as const) {
      const answer = await post(path, message, headers);
      assert.deepEqual([answer.status, JSON.parse(answer.text).error], [status, error], answer.text);
      const challenge = answer.headers['www-authenticate'];
      const metadata = `${url}/.well-known/oauth-protected-resource${path.replace(/\?.*/, '')}`;
      if (status === 401) assert.ok(challenge?.includes(`resource_metadata="${metadata}"`), challenge);
      else assert.equal(challenge, undefined);
    }
    assert.equal((await post('/quiet/mcp', call('read_front'), bearer(keysOf('quiet').read))).status, 200);
    const unknown = await post('/shared/mcp', call('burn'));
    assert.match(unknown.text, /burn/);
  });

  await t.test('large messages take a key, and other methods are 405', async () => {
    const filler = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { filler: 'x'.repeat(70_000) } };
    assert.equal((await post('/shared/mcp', filler)).status, 413);
    assert.equal((await post('/shared/mcp', filler, bearer(keysOf('shared').read))).status, 200);
    const huge = JSON.stringify({ ...filler, params: { filler: 'x'.repeat(6_500_000) } });
    assert.equal((await post('/shared/mcp', huge, bearer(keysOf('shared').read))).status, 413);
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers } = await send(url, { method, path: '/shared/mcp', headers: { accept: ACCEPT } });
      assert.equal(status, 405, method);
      assert.match(String(headers.allow), /POST/);
    }
    // Not the endpoint, though its path ends like it.
    const long = JSON.stringify({ filler: 'x'.repeat(1_100_000) });
    const put = { method: 'PUT', path: '/shared/api/v1/stories/mcp', body: long };
    const headers = { 'content-type': 'application/json', ...bearer(keysOf('shared').admin) };
    assert.equal((await send(url, { ...put, headers })).status, 413);
  });

  await t.test('are on the paper’s own domain, whose card says so', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'read_front', arguments: {} } };
    const answer = await post('/mcp', message, { host: 'tides.example' });
    assert.equal(answer.status, 200);
    assert.match(answer.text, /"desk\\?":\\?"own/);
    for (const [path, host, at] of [
      ['/mcp/server-card', 'tides.example', `${OWN}/mcp`],
      ['/.well-known/mcp/server-card.json', 'tides.example', `${OWN}/mcp`],
      ['/shared/mcp/server-card', new URL(url).host, `${url}/shared/mcp`],
    ] as const) {
      const card = await ask(url, path, { host });
      assert.equal(card.status, 200, path);
      const { description, remotes } = JSON.parse(card.text);
      assert.ok(description.length <= 100);
      assert.partialDeepStrictEqual(remotes, [{ type: 'streamable-http', url: at }]);
    }
  });

  await t.test('answer curl', async () => {
    const file = join(folder, 'message.json');
    writeFileSync(
      file,
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'search_stories', arguments: { q: 'water' } },
      }),
    );
    const args = ['-sS', '--json', `@${file}`, '-H', `Accept: ${ACCEPT}`, `${url}/shared/mcp`];
    const { stdout } = await promisify(execFile)('curl', args, { timeout: 10_000 });
    assert.match(stdout, /high-water/);
  });
});

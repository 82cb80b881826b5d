import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask } from '../../support/http.ts';
import { GENERATIONS, type Given, mcpUser } from '../../support/mcp.ts';
import { HOUR, probe } from '../../support/probes.ts';
import { type RecordsStand, recordsStand } from '../../support/records-fixture.ts';
import { send } from '../../support/send.ts';

const NAMES = ['get_domain', 'list_domains', 'list_changes', 'get_domain_history', 'get_provenance'];
const NS = ['ns1.example.net.', 'ns2.example.net.'];

function entered({ enter, clock }: RecordsStand): void {
  enter(probe('example.org', clock.now, { A: ['192.0.2.1'], NS }));
  enter(probe('example.org', clock.now + 24 * HOUR, { A: ['192.0.2.2'], NS }));
  enter(probe('xn--bcher-kva.example', clock.now, { A: ['192.0.2.9'] }));
}

const unitsUsed = async ({ url }: RecordsStand, key: string): Promise<string | undefined> => {
  const { headers } = await ask(url, '/v1/changes', { 'x-service-key': key });
  return String(Number(headers['x-service-usage-day']) - 1);
};

const meterOf = ({ _meta }: Pick<Given, '_meta'>) => (_meta?.['records/meter'] ?? {}) as Record<string, string>;

const faultOf = ({ isError, content, structuredContent }: Given) => {
  assert.equal(isError, true);
  assert.equal(structuredContent, undefined);
  return JSON.parse(content[0]?.text ?? '');
};

for (const generation of GENERATIONS) {
  test(`a client of ${generation} finds five read-only tools with instructions`, async (t) => {
    const { url } = await recordsStand(t);
    const user = await mcpUser(t, generation, url);
    const tools = await user.tools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      NAMES,
    );
    for (const { annotations, title, description, inputSchema, outputSchema } of tools) {
      assert.partialDeepStrictEqual(annotations, {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
      assert.ok(title && description);
      assert.partialDeepStrictEqual(inputSchema, { type: 'object', additionalProperties: false });
      assert.partialDeepStrictEqual(outputSchema, { type: 'object' });
      const { properties } = inputSchema as { properties: Record<string, { description?: string }> };
      for (const [name, about] of Object.entries(properties)) assert.ok(about.description, `${name} is told of`);
    }
    for (const name of NAMES) assert.ok(user.instructions?.includes(name), `the instructions name ${name}`);
  });

  test(`each call of ${generation} returns the route’s own response for one unit; listing and failing are free`, async (t) => {
    const stand = await recordsStand(t);
    entered(stand);
    const key = stand.keyOf('account');
    const user = await mcpUser(t, generation, stand.url, { 'x-service-key': key });
    await user.tools();
    assert.equal(await unitsUsed(stand, key), '0');
    const domain = 'example.org';
    const paths: [tool: string, given: object, path: string][] = [
      ['get_domain', { domain }, '/v1/domains/example.org'],
      ['get_domain', { domain, as_of: '2026-11-21' }, '/v1/domains/example.org?as_of=2026-11-21'],
      ['get_domain', { domain: 'Bücher.example' }, '/v1/domains/xn--bcher-kva.example'],
      ['list_domains', {}, '/v1/domains'],
      ['list_domains', { q: 'exam', limit: 1 }, '/v1/domains?q=exam&limit=1'],
      ['list_changes', { type: 'A', order: 'oldest' }, '/v1/changes?type=A&order=oldest'],
      ['list_changes', { domain, since: '2026-11-22T00:00:00Z' }, '/v1/changes?domain=example.org&since=2026-11-22'],
      ['get_domain_history', { domain, type: 'A' }, '/v1/domains/example.org/history?type=A'],
      ['get_provenance', { domain, limit: 1 }, '/v1/domains/example.org/provenance?limit=1'],
    ];
    const service = stand.keyOf('service');
    for (const [name, given, path] of paths) {
      const { structuredContent, content, isError, _meta } = await user.call(name, given);
      assert.ok(!isError, content[0]?.text);
      const door = JSON.parse((await ask(stand.url, path, { 'x-service-key': service })).text);
      assert.deepEqual(structuredContent, door, path);
      assert.deepEqual(JSON.parse(content[0]?.text ?? ''), door, 'the text is the same, for clients that read text');
      assert.ok(meterOf({ _meta })['x-service-daily-remaining']);
    }
    const first = await user.call('get_provenance', { domain, limit: 1 });
    const cursor = first.structuredContent?.next_cursor;
    const second = await user.call('get_provenance', { domain, limit: 1, cursor });
    assert.equal(second.structuredContent?.next_cursor, null, 'a cursor leads on, to the end');
    // One asking of `unitsUsed` is among them.
    const spent = String(paths.length + 3);
    assert.equal(await unitsUsed(stand, key), spent);

    assert.equal(faultOf(await user.call('get_domain', { domain: 'nobody.example' })).error, 'not_watched');
    assert.equal(faultOf(await user.call('get_domain', { domain: 'a..b' })).error, 'invalid_request');
    assert.equal(faultOf(await user.call('list_changes', { cursor: 'nonsense' })).field, 'cursor');
    assert.equal(faultOf(await user.call('list_changes', { since: 'yesterday' })).field, 'since');
    for (const given of [{}, { domain: 7 }, { domain, asof: '2026-11-21' }, { domain: '..' }, { domain: '' }]) {
      const { isError, content } = await user.call('get_domain', given);
      assert.equal(isError, true);
      assert.match(content[0]?.text ?? '', /get_domain: .*(?:domain|asof)/, JSON.stringify(given));
    }
    await assert.rejects(user.call('delete_domain', { domain }), /delete_domain/);
    assert.equal(await unitsUsed(stand, key), String(Number(spent) + 1), 'nothing of this was charged');
  });

  test(`without a key a client of ${generation} has the preview, the throttle and the menu in band`, async (t) => {
    const stand = await recordsStand(t, { KEYLESS_DAILY: '2' });
    entered(stand);
    const user = await mcpUser(t, generation, stand.url);
    const domain = 'example.org';
    const { structuredContent } = await user.call('get_domain', { domain });
    assert.partialDeepStrictEqual(structuredContent, { preview: true, signed: false, domain });
    const soon = await user.call('get_domain', { domain });
    assert.equal(faultOf(soon).error, 'throttled');
    assert.equal(meterOf(soon)['retry-after'], '15');
    // The tools share the lane with the door itself.
    assert.equal((await ask(stand.url, `/v1/domains/${domain}`)).status, 429);
    const menu = faultOf(await user.call('list_changes'));
    assert.equal(menu.x402Version, 1);
    assert.ok(Array.isArray(menu.accepts));
    stand.clock.now += 15_000;
    assert.ok(!(await user.call('get_domain', { domain })).isError);
    stand.clock.now += 15_000;
    const closed = await user.call('get_domain', { domain });
    assert.ok(!closed.isError, 'past the ceiling it is an answer, not an error');
    assert.equal(closed.structuredContent?.sign_in, true);
  });

  test(`an invalid payment in _meta is reported in band by ${generation}`, async (t) => {
    const { url } = await recordsStand(t);
    const user = await mcpUser(t, generation, url);
    for (const payment of ['eyJ4NDAyVmVyc2lvbiI6MX0=', [], 7]) {
      const { field } = faultOf(await user.call('list_changes', {}, { 'x402/payment': payment }));
      assert.equal(field, 'x402/payment');
    }
  });
}

const MESSAGE = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const ACCEPT = 'application/json, text/event-stream';

test('messages outside the protocol are rejected and cost nothing', async (t) => {
  const stand = await recordsStand(t);
  const { url } = stand;
  const post = (body: object | string, headers: Record<string, string> = {}) =>
    send(url, {
      method: 'POST',
      path: '/mcp',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { accept: ACCEPT, 'content-type': 'application/json', ...headers },
    });
  assert.equal((await post(MESSAGE)).status, 200);

  await t.test('a batch', async () => {
    for (const batch of [[], [MESSAGE], [MESSAGE, MESSAGE]]) {
      const { status, text } = await post(batch);
      assert.equal(status, 400);
      assert.equal(JSON.parse(text).error.code, -32600);
    }
  });

  await t.test('bodies that are not JSON, or not JSON-RPC', async () => {
    for (const [body, code] of [
      ['', -32700],
      ['{"jsonrpc":', -32700],
      [`${'['.repeat(5_000)}`, -32700],
      ['null', -32600],
      ['7', -32600],
      [{ jsonrpc: '1.0', id: 1, method: 'tools/list' }, -32600],
      [{ hello: 'there' }, -32600],
    ] as const) {
      const { status, text } = await post(body);
      assert.equal(status, 400, text);
      assert.equal(JSON.parse(text).error.code, code, JSON.stringify(body).slice(0, 40));
    }
    assert.equal(
      JSON.parse((await post({ ...MESSAGE, method: 'records/burn' })).text.replace(/^.*data: /s, '')).error.code,
      -32601,
    );
  });

  await t.test('other methods, types and sizes', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers } = await send(url, { method, path: '/mcp', headers: { accept: ACCEPT } });
      assert.equal(status, 405, method);
      assert.match(String(headers.allow), /POST/);
    }
    assert.equal((await post(MESSAGE, { 'content-type': 'text/plain' })).status, 415);
    assert.equal((await post(MESSAGE, { accept: 'text/html' })).status, 406);
    const large = await post({ ...MESSAGE, params: { filler: 'x'.repeat(70_000) } });
    assert.equal(large.status, 413);
    assert.equal(JSON.parse(large.text).error, 'too_large');
  });

  await t.test('an invalid key, and a page of another origin on a local server', async () => {
    const { status, text, headers } = await post(MESSAGE, { 'x-service-key': 'drs_nothing' });
    assert.equal(status, 401);
    assert.equal(JSON.parse(text).error, 'key_invalid');
    assert.equal(headers['www-authenticate'], 'Bearer');
    assert.equal((await post(MESSAGE, { origin: 'https://attacker.example' })).status, 403);
    assert.equal((await post(MESSAGE, { origin: 'http://localhost:6274' })).status, 200);
  });

  await t.test('a version of the protocol that there is not', async () => {
    assert.equal((await post(MESSAGE, { 'mcp-protocol-version': '1999-01-01' })).status, 400);
    assert.equal((await post(MESSAGE, { 'mcp-protocol-version': '2026-07-28' })).status, 400, 'without its envelope');
  });
});

test('pages of any origin may use a public server, and its card says where it is', async (t) => {
  const { url } = await recordsStand(t, { DATA_ORIGIN: 'https://records.example.org' });
  const { status, headers } = await send(url, {
    method: 'POST',
    path: '/mcp',
    body: MESSAGE,
    headers: { accept: ACCEPT, origin: 'https://inspector.example' },
  });
  assert.equal(status, 200);
  assert.equal(headers['access-control-allow-origin'], '*');
  for (const [path, type] of [
    ['/mcp/server-card', 'application/mcp-server-card+json'],
    ['/.well-known/mcp/server-card.json', 'application/json'],
  ] as const) {
    const card = await ask(url, path);
    assert.equal(card.status, 200);
    assert.equal(card.headers['content-type'], type);
    assert.equal(card.headers['access-control-allow-origin'], '*');
    const { name, description, remotes } = JSON.parse(card.text);
    assert.equal(name, 'org.example.records/records');
    assert.ok(description.length <= 100, 'as long as the extension allows');
    assert.partialDeepStrictEqual(remotes, [{ type: 'streamable-http', url: 'https://records.example.org/mcp' }]);
  }
});

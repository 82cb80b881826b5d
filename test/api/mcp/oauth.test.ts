import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { Client as ClientBefore } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportBefore } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { tempFolder } from '../../support/app-context.ts';
import { type Seat, seatAt } from '../../support/console-seat.ts';
import { ask } from '../../support/http.ts';
import { send } from '../../support/send.ts';
import { serveHere } from '../../support/serve-here.ts';
import { enterPapers, storyBody } from '../../support/small-papers.ts';

const CALLBACK = 'http://127.0.0.1:49152/callback';
const ME = { name: 'a test', version: '1.0.0' };

/** What a client keeps between its requests, as a program on a desktop does. */
function provider(more: Partial<OAuthClientProvider> = {}) {
  const kept: { info?: object; tokens?: Record<string, string>; verifier?: string; asked?: URL } = {};
  const own: OAuthClientProvider = {
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: 'Desk assistant', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
    state: () => 'a state & more',
    clientInformation: () => kept.info as never,
    saveClientInformation: (info) => {
      kept.info = info;
    },
    tokens: () => kept.tokens as never,
    saveTokens: (tokens) => {
      kept.tokens = tokens as never;
    },
    redirectToAuthorization: (url) => {
      kept.asked = url;
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier ?? '',
    ...more,
  };
  return { own, kept };
}

/** What the seat sees of a request, and where its decision leads. */
async function decide(seat: Seat, asked: URL, choice: Record<string, string>) {
  const page = await seat.get(`authorize${asked.search}`);
  assert.equal(page.status, 200, page.html.slice(0, 500));
  const { status, location, html } = await seat.post('authorize', { asked: asked.search.slice(1), ...choice });
  assert.equal(status, 303, html.slice(0, 500));
  return { page: page.html, to: new URL(location ?? '') };
}

test('clients without a key sign in for a seat', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'shared' }, { slug: 'quiet', isPublic: false }]);
  const { url } = await serveHere(t, folder, { WEBHOOK_PRIVATE: 'allow' });
  const root = `${url}/shared`;
  const admin = keys.get('shared')?.admin ?? '';
  const editor = seatAt(url, folder, 'shared', 'admin');
  const reader = seatAt(url, folder, 'shared', 'read');
  const post = (path: string, form: Record<string, string>) =>
    send(url, {
      method: 'POST',
      path,
      body: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const register = async (metadata: object) =>
    JSON.parse((await send(url, { method: 'POST', path: '/shared/oauth/register', body: metadata })).text);
  const listed = async () => JSON.parse((await ask(url, '/shared/api/v1/keys', { 'x-nrf-key': admin })).text).keys;

  /** A client that went through the page, with its code. */
  const withCode = async (seat: Seat, scope = 'write') => {
    const { client_id } = await register({ redirect_uris: [CALLBACK] });
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const asked = new URL(`${root}/console/authorize`);
    const query = { response_type: 'code', client_id, redirect_uri: CALLBACK, code_challenge: challenge };
    asked.search = new URLSearchParams({ ...query, code_challenge_method: 'S256', scope: `read ${scope}` }).toString();
    const { to } = await decide(seat, asked, { decision: 'allow', scope });
    return {
      grant_type: 'authorization_code',
      client_id,
      code: to.searchParams.get('code') ?? '',
      code_verifier: verifier,
    };
  };
  const tokensOf = async (form: Record<string, string>, path = '/shared/oauth/token') => {
    const { status, text } = await post(path, form);
    return { status, ...JSON.parse(text) };
  };
  const driven = (token: string, path = '/shared/api/v1/agent') => ask(url, path, { authorization: `Bearer ${token}` });

  await t.test('a client of 2026 finds its way, writes as the seat allowed, and refreshes', async () => {
    const { own, kept } = provider();
    const open = async () => {
      const transport = new StreamableHTTPClientTransport(new URL(`${root}/mcp?scope=write`), { authProvider: own });
      const client = new Client(ME, { versionNegotiation: { mode: 'auto' } });
      return { transport, client };
    };
    const first = await open();
    await assert.rejects(first.client.connect(first.transport), UnauthorizedError);
    assert.ok(kept.asked);
    assert.equal(kept.asked.href.startsWith(`${root}/console/authorize?`), true);
    assert.equal(kept.asked.searchParams.get('resource'), `${root}/mcp`);
    const { page, to } = await decide(editor, kept.asked, { decision: 'allow', scope: 'write', persona: 'ibo-sand' });
    for (const text of ['Desk assistant', 'a program on this computer', 'Ibo Sand'])
      assert.ok(page.includes(text), text);
    assert.equal(to.origin + to.pathname, CALLBACK);
    assert.equal(to.searchParams.get('state'), 'a state & more');
    assert.equal(to.searchParams.get('iss'), root);
    await first.transport.finishAuth(to.searchParams);

    const { client, transport } = await open();
    await client.connect(transport);
    t.after(() => client.close());
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === 'file_piece') && !tools.some(({ name }) => name === 'withdraw_piece'));
    const call = async (name: string, given: object) =>
      (await client.callTool({ name, arguments: { ...given } })) as {
        structuredContent?: { [member: string]: unknown };
      };
    const { version } = JSON.parse((await ask(url, '/shared/api/v1/agent/terms', { 'x-nrf-key': admin })).text);
    const accepted = { version, signed_by: 'Mara Vell' };
    await send(url, {
      method: 'POST',
      path: '/shared/api/v1/agent/terms/accept',
      body: accepted,
      headers: { 'x-nrf-key': admin },
    });
    const other = await call('file_piece', storyBody('as-another'));
    assert.partialDeepStrictEqual(other.structuredContent, { problems: [{ field: 'byline', rule: 'persona_of_key' }] });
    const filed = await call('file_piece', { ...storyBody('as-allowed'), byline: 'ibo-sand' });
    assert.partialDeepStrictEqual(filed.structuredContent, { story: { slug: 'as-allowed', state: 'draft' } });

    const key = (await listed()).find(({ name }: { name: string }) => name === 'Desk assistant');
    assert.partialDeepStrictEqual(key, { level: 'agent', persona: 'ibo-sand', state: 'in_force', seat: null });
    assert.match(key.made_by, /^key:/);
    const { activity } = JSON.parse((await ask(url, '/shared/api/v1/activity?limit=10', { 'x-nrf-key': admin })).text);
    const rows = activity.map(({ action, from }: { action: string; from: { way: string } }) => `${action} ${from.way}`);
    assert.ok(rows.includes('piece.filed mcp') && rows.includes('key.made mcp'), String(rows));

    const before = kept.tokens?.access_token ?? '';
    kept.tokens = { ...kept.tokens, access_token: `${before.slice(0, -1)}x` };
    await call('list_drafts', {});
    assert.notEqual(kept.tokens?.access_token, before, 'the client refreshed');
    assert.equal((await driven(before)).status, 401, 'the token before is replaced');
    // The key is revoked as any key is, and its tokens with it.
    await send(url, { method: 'DELETE', path: `/shared/api/v1/keys/${key.id}`, headers: { 'x-nrf-key': admin } });
    assert.equal((await driven(kept.tokens?.access_token ?? '')).status, 401);
    assert.equal(
      (
        await tokensOf({
          grant_type: 'refresh_token',
          client_id: (kept.info as { client_id: string }).client_id,
          refresh_token: kept.tokens?.refresh_token ?? '',
        })
      ).error,
      'invalid_grant',
    );
  });

  await t.test('a client of 2025 of a private paper does, and a read seat lets it read alone', async () => {
    const seat = seatAt(url, folder, 'quiet', 'read');
    const { own, kept } = provider();
    const address = new URL(`${url}/quiet/mcp`);
    const transport = new TransportBefore(address, { authProvider: own as never });
    await assert.rejects(new ClientBefore(ME).connect(transport as never), /Unauthorized/);
    assert.ok(kept.asked);
    const { to } = await decide(seat, kept.asked, { decision: 'allow', scope: 'read' });
    await transport.finishAuth(to.searchParams.get('code') ?? '');
    const client = new ClientBefore(ME);
    await client.connect(new TransportBefore(address, { authProvider: own as never }) as never);
    t.after(() => client.close());
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.ok(names.includes('list_drafts') && !names.includes('file_piece'), String(names));
    assert.equal(kept.tokens?.scope, 'read');
    const forbidden = await seat.post('authorize', {
      asked: kept.asked.search.slice(1),
      decision: 'allow',
      scope: 'write',
    });
    assert.equal(forbidden.status, 400);
    // More than the token allows is asked for again (RFC 6750, section 3.1).
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'file_piece', arguments: {} } };
    const headers = {
      authorization: `Bearer ${kept.tokens?.access_token}`,
      accept: 'application/json, text/event-stream',
    };
    const refused = await send(url, { method: 'POST', path: '/quiet/mcp', body: call, headers });
    assert.equal(refused.status, 403);
    assert.match(String(refused.headers['www-authenticate']), /error="insufficient_scope", scope="read write"/);
    assert.equal((await driven(kept.tokens?.access_token ?? '')).status, 403, 'of one paper alone');
  });

  await t.test('a code is exchanged once, by its client, with its verifier, soon', async () => {
    const form = await withCode(editor);
    for (const [change, error] of [
      [{ code_verifier: randomBytes(32).toString('base64url') }, 'invalid_grant'],
      [{ code_verifier: 'short' }, 'invalid_grant'],
      [{ client_id: 'another' }, 'invalid_grant'],
      [{ redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
      [{ resource: `${url}/quiet/mcp` }, 'invalid_target'],
      [{ grant_type: 'password' }, 'unsupported_grant_type'],
    ] as const)
      assert.equal((await tokensOf({ ...form, ...change })).error, error, JSON.stringify(change));
    assert.equal((await tokensOf(form, '/quiet/oauth/token')).error, 'invalid_grant');
    const given = await tokensOf({ ...form, redirect_uri: CALLBACK, resource: `${root}/mcp` });
    assert.equal(given.status, 200);
    assert.partialDeepStrictEqual(given, { token_type: 'Bearer', expires_in: 3600, scope: 'read write' });
    assert.equal((await driven(given.access_token)).status, 200);
    assert.equal((await tokensOf(form)).error, 'invalid_grant');
    assert.equal((await driven(given.access_token)).status, 401, 'a code that came twice ends what it allowed');
  });

  await t.test('a refresh token that comes twice, a revocation and the seat’s end each end it', async () => {
    const fresh = async (seat = editor) => {
      const form = await withCode(seat);
      return { client_id: form.client_id, ...(await tokensOf(form)) };
    };
    const refreshing = ({ client_id, refresh_token }: Record<string, string>) =>
      tokensOf({ grant_type: 'refresh_token', client_id: client_id ?? '', refresh_token: refresh_token ?? '' });
    const stolen = await fresh();
    const next = await refreshing(stolen);
    assert.equal((await driven(next.access_token)).status, 200);
    assert.equal((await refreshing({ ...next, client_id: 'another' })).error, 'invalid_grant');
    assert.equal((await refreshing(stolen)).error, 'invalid_grant');
    assert.equal((await driven(next.access_token)).status, 401);
    assert.equal((await refreshing({ ...next, client_id: stolen.client_id })).error, 'invalid_grant');

    for (const name of ['access_token', 'refresh_token']) {
      const given = await fresh();
      assert.equal((await post('/shared/oauth/revoke', { token: given[name] })).status, 200);
      assert.equal((await driven(given.access_token)).status, 401, name);
    }

    const leaving = seatAt(url, folder, 'shared', 'admin');
    const given = await fresh(leaving);
    const pending = await withCode(leaving);
    const made = (await listed()).findLast(({ name }: { name: string }) => name === 'A client without a name');
    const seat = made.made_by.replace('key:', '');
    await send(url, { method: 'DELETE', path: `/shared/api/v1/keys/${seat}`, headers: { 'x-nrf-key': admin } });
    assert.equal((await driven(given.access_token)).status, 401);
    assert.equal((await refreshing(given)).error, 'invalid_grant');
    assert.equal((await tokensOf(pending)).error, 'invalid_grant');
  });

  await t.test('what a seat allowed pauses with it, and resumes', async () => {
    const seat = seatAt(url, folder, 'shared', 'admin');
    const form = await withCode(seat);
    const late = await withCode(seat);
    const { access_token } = await tokensOf(form);
    const holder = (await listed()).findLast(({ name }: { name: string }) => name === 'A client without a name');
    const pause = async (paused: boolean) => {
      const path = `/shared/api/v1/keys/${holder.made_by.replace('key:', '')}`;
      const { status } = await send(url, { method: 'PUT', path, body: { paused }, headers: { 'x-nrf-key': admin } });
      assert.equal(status, 200);
    };
    const filed = (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return send(url, {
        method: 'POST',
        path: '/shared/api/v1/stories',
        body: storyBody(randomBytes(6).toString('hex')),
        headers,
      });
    };
    assert.equal((await filed(access_token)).status, 201);
    await pause(true);
    assert.equal((await filed(access_token)).status, 403);
    assert.equal((await driven(access_token)).status, 200, 'a paused key reads');
    assert.equal((await listed()).find(({ id }: { id: string }) => id === holder.id).state, 'paused');
    const exchanged = await tokensOf(late);
    assert.equal((await filed(exchanged.access_token)).status, 403, 'a code of before the pause');
    const query = { client_id: form.client_id, redirect_uri: CALLBACK, response_type: 'code', scope: 'read write' };
    const asked = new URLSearchParams({ ...query, code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' });
    const { status } = await seat.post('authorize', { asked: asked.toString(), decision: 'allow', scope: 'write' });
    assert.equal(status, 403, 'a paused seat allows nothing');
    await pause(false);
    assert.equal((await filed(access_token)).status, 201);
    assert.equal((await filed(exchanged.access_token)).status, 201);
  });

  await t.test('nobody is redirected where a client does not belong', async () => {
    const { client_id } = await register({
      redirect_uris: ['https://app.example/cb', 'http://localhost/cb', 'com.example.app:/cb'],
    });
    const query = { response_type: 'code', client_id, code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
    const at = async (more: Record<string, string>) => {
      const response = await fetch(`${editor.root}authorize?${new URLSearchParams({ ...query, ...more })}`, {
        headers: { Cookie: `${editor.cookie.name}=${editor.cookie.value}`, Accept: 'text/html' },
        redirect: 'manual',
      });
      return {
        status: response.status,
        to: response.headers.get('location'),
        headers: response.headers,
        text: await response.text(),
      };
    };
    for (const redirect_uri of [
      'https://app.example/cb/',
      'https://app.example/cb?x=1',
      'https://app.example.evil.example/cb',
      'https://app.example:444/cb',
      'http://localhost:8080/other',
      'http://127.0.0.1:8080/cb',
      'javascript:alert(1)',
      '',
    ]) {
      const { status, to } = await at({ redirect_uri });
      assert.deepEqual([status, to], [400, null], redirect_uri);
    }
    assert.deepEqual((await at({ redirect_uri: 'https://app.example/cb', client_id: 'unknown' })).status, 400);
    for (const [redirect_uri, source] of [
      ['https://app.example/cb', 'https://app.example'],
      ['http://localhost:8080/cb', 'http://localhost:8080'],
      ['com.example.app:/cb', 'com.example.app:'],
    ] as const) {
      const { status, headers } = await at({ redirect_uri });
      assert.equal(status, 200, redirect_uri);
      assert.ok(headers.get('content-security-policy')?.includes(`form-action 'self' ${source};`), redirect_uri);
    }
    for (const [more, error] of [
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ code_challenge: '' }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ] as const) {
      const { status, to } = await at({ redirect_uri: 'https://app.example/cb', state: 's', ...more });
      assert.equal(status, 303);
      const answer = new URL(to ?? '').searchParams;
      assert.deepEqual([answer.get('error'), answer.get('state'), answer.get('iss')], [error, 's', root]);
    }
    const asked = new URL(
      `${root}/console/authorize?${new URLSearchParams({ ...query, redirect_uri: 'https://app.example/cb' })}`,
    );
    assert.equal(
      (await decide(reader, asked, { decision: 'deny', scope: 'read' })).to.searchParams.get('error'),
      'access_denied',
    );
    const foreign = await editor.post(
      'authorize',
      { asked: asked.search.slice(1), decision: 'allow', scope: 'read' },
      { Origin: 'https://evil.example' },
    );
    assert.equal(foreign.status, 403);
  });

  await t.test('a link of another site opens the page again, and without a seat it leads to the sign-in', async () => {
    const path = '/shared/console/authorize?client_id=a%22b';
    const again = await ask(url, path, { 'sec-fetch-site': 'cross-site' });
    assert.equal(again.status, 200);
    assert.match(again.text, /http-equiv="refresh" content="0;url=\?client_id=a%22b"/);
    const signIn = await ask(url, path, { 'sec-fetch-site': 'same-origin' });
    assert.equal(signIn.status, 303);
    assert.match(String(signIn.headers.location), /console\/sign-in\?to=/);
  });

  await t.test('registrations are bounded, and a metadata document needs none', async (t) => {
    for (const metadata of [
      {},
      { redirect_uris: [] },
      { redirect_uris: 'x' },
      { redirect_uris: [CALLBACK], client_name: 'two\nlines' },
    ])
      assert.equal((await register(metadata)).error, 'invalid_client_metadata', JSON.stringify(metadata));
    for (const uri of [
      'http://example.org/cb',
      'https://a@b.example/',
      'https://b.example/#f',
      'data:text/html,x',
      'nonsense',
    ])
      assert.equal((await register({ redirect_uris: [uri] })).error, 'invalid_redirect_uri', uri);
    let last = '';
    for (let count = 0; count < 31 && last === ''; count++)
      last = (await register({ redirect_uris: [CALLBACK] })).error ?? '';
    assert.equal(last, 'rate_limited');

    const documents = createServer((request, response) => {
      const id = `http://${request.headers.host}${request.url}`;
      const client_id = request.url === '/other' ? 'https://app.example/client' : id;
      response.end(JSON.stringify({ client_id, client_name: 'A documented client', redirect_uris: [CALLBACK] }));
    }).listen(0, '127.0.0.1');
    t.after(() => documents.close());
    await new Promise((resolve) => documents.once('listening', resolve));
    const host = `http://127.0.0.1:${(documents.address() as AddressInfo).port}`;
    const asked = (client_id: string) => {
      const query = {
        response_type: 'code',
        client_id,
        redirect_uri: CALLBACK,
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
      };
      return `authorize?${new URLSearchParams(query)}`;
    };
    const page = await editor.get(asked(`${host}/client`));
    assert.equal(page.status, 200);
    assert.ok(page.html.includes('A documented client') && page.html.includes(host.slice('http://'.length)));
    assert.equal((await editor.get(asked(`${host}/other`))).status, 400);
  });
});

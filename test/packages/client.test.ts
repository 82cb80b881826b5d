import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApiError } from '../../packages/broadsheet-client/src/api-error.ts';
import { AheadOfStream, changes } from '../../packages/broadsheet-client/src/changes.ts';
import { deskClient, recordsClient } from '../../packages/broadsheet-client/src/client.ts';
import { pages, rows } from '../../packages/broadsheet-client/src/pages.ts';
import { retrying } from '../../packages/broadsheet-client/src/retrying.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { GENERATORS } from '../fuzz/openapi-clients/generators.ts';
import { tempFolder } from '../support/app-context.ts';
import { WITHOUT_CHAIN } from '../support/chain.ts';
import { newClient } from '../support/clients.ts';
import { LIST_UNITS, PAYEE, paidStand } from '../support/paid-fixture.ts';
import { probe } from '../support/probes.ts';
import { recordsStand } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { APIS, generatedFile, generatedTypes, servedApis } from './client-types.ts';
import { installTarball, outcome, packPackage } from './packed.ts';

const json = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));
async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Sends each request twice, as after a lost response, and hands over the second one. */
const sentTwice = async (request: Request): Promise<Response> => {
  await fetch(request.clone());
  return fetch(request);
};

test('the client of the desk files and publishes once, whatever is lost, and reads every page', async (t) => {
  const served = await servedApis(t);
  const { desk: root, records, keys } = served;

  await t.test('its types are those of the served documents', async () => {
    const types = await generatedTypes(root, records);
    for (const api of APIS) {
      assert.ok(
        types[api] === readFileSync(generatedFile(api), 'utf8'),
        `${generatedFile(api)} is out of date: run node test/packages/client-types.ts`,
      );
    }
  });

  const desk = deskClient({ root: `${root}/`, key: keys?.admin ?? '', fetch: sentTwice });
  const before = await listOf(
    rows('stories', (cursor) => desk.GET('/api/v1/stories', { params: { query: { cursor, limit: 1 } } })),
  );
  assert.equal(before.length, 3);
  const cited = (n: number, source: string) => ({
    n,
    statement: `Fact ${n}.`,
    source,
    instrument: `https://example.org/${n}`,
  });
  const { data, error, response } = await desk.POST('/api/v1/stories', {
    body: {
      headline: 'Two ferries, one quay',
      dek: 'The harbour office moves a timetable.',
      category: 'Tides',
      byline: 'vera-holm',
      prose: 'The timetable is new.[^1] The quay is not.[^2]',
      cited_facts: [cited(1, 'Harbour office'), cited(2, 'Land registry')],
      air: true,
    },
  });
  assert.equal(error, undefined, JSON.stringify(error));
  assert.equal(response.status, 201);
  const after = await listOf(
    pages((cursor) => desk.GET('/api/v1/stories', { params: { query: { cursor, limit: 3 } } })),
  );
  const ids = after.flatMap(({ stories }) => stories.map(({ id }) => id));
  assert.deepEqual(
    after.map(({ stories }) => stories.length),
    [3, 1],
  );
  assert.equal(ids.filter((id) => id === data?.story.id).length, 1, 'it was filed once');

  const refused = await desk.GET('/api/v1/stories/{id}', { params: { path: { id: 'no-such-piece' } } });
  assert.equal(refused.error?.error, 'not_found');
  const unread = pages(() => deskClient({ root }).GET('/api/v1/drafts'));
  await assert.rejects(
    listOf(unread),
    (thrown) => thrown instanceof ApiError && thrown.code === 'key_required' && thrown.status === 401,
  );
});

test('changes resume after the last one when the stream breaks, and say when it is ahead', {
  skip: ONLY_WIDE,
}, async (t) => {
  const stand = await recordsStand(t);
  const { url, enter, keyOf, clock } = stand;
  const change = (n: number) => probe('example.org', clock.now + n * 60_000, { A: [`192.0.2.${n}`] });
  enter(...[1, 2, 3, 4].map(change));
  const asked: (string | null)[] = [];
  // Every connection breaks after its first event, in the middle of the next one.
  const breaking = async (request: Request): Promise<Response> => {
    asked.push(request.headers.get('last-event-id'));
    const response = await fetch(request);
    if (!response.ok) return response;
    let text = '';
    const body = response.body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          text += Buffer.from(bytes).toString();
          const [first] = /^[\s\S]*?\bid: \d+\n[\s\S]*?\n\n/.exec(text) ?? [];
          if (first === undefined) return;
          controller.enqueue(Buffer.from(`${first}id: 99\ndata: {"s`));
          controller.error(new Error('the connection broke'));
        },
      }),
    );
    return new Response(body, response);
  };
  const stop = new AbortController();
  const options = { root: url, key: keyOf('service'), signal: stop.signal };
  const seqs: number[] = [];
  for await (const { seq } of changes({ ...options, after: 0, fetch: breaking })) {
    seqs.push(seq);
    if (seq === 3) stop.abort();
  }
  assert.deepEqual(seqs, [1, 2, 3]);
  assert.deepEqual(asked, ['0', '1', '2']);

  const ahead = changes({ ...options, signal: undefined, after: 12 }).next();
  await assert.rejects(
    ahead,
    (thrown) => thrown instanceof AheadOfStream && thrown.newest === 3 && thrown.status === 409,
  );
  const unknown = changes({ root: url, key: keyOf('service'), after: 0, domain: 'nobody.example' }).next();
  await assert.rejects(unknown, (thrown) => thrown instanceof ApiError && thrown.code === 'not_watched');

  const records = recordsClient({ root: url, key: keyOf('account') });
  enter(probe('www.example.org', clock.now, { A: ['192.0.2.9'] }));
  const read = (cursor: string | undefined) => records.GET('/v1/domains', { params: { query: { cursor, limit: 1 } } });
  const domains = await listOf(rows('items', read));
  assert.deepEqual(domains.map(({ domain }) => domain).sort(), ['example.org', 'www.example.org']);
});

test('a request is sent again when that is safe, as Retry-After says, and a few times at most', async () => {
  const run = async (
    method: string,
    outcomes: (number | Error)[],
    headers: Record<string, string> = {},
    attempts = 3,
  ) => {
    const sent: string[] = [];
    const send = retrying(
      async (request) => {
        sent.push(await request.text());
        const next = outcomes[sent.length - 1] ?? 200;
        if (next instanceof Error) throw next;
        return new Response(null, {
          status: next,
          headers: next === 429 ? { 'Retry-After': '120', ...headers } : headers,
        });
      },
      { attempts, longestPause: 1 },
    );
    const body = method === 'GET' ? null : 'a body';
    const request = new Request('http://desk.example/', { method, headers, body });
    const status = await send(request).then((response) => response.status, String);
    assert.ok(
      sent.every((text) => text === (body ?? '')),
      'each repetition has the body',
    );
    return [status, sent.length];
  };
  const now = { 'Retry-After': '0' };
  const keyed = { ...now, 'Idempotency-Key': 'a' };
  const broken = new TypeError('fetch failed');
  assert.deepEqual(await run('GET', [503, 503], now), [200, 3]);
  assert.deepEqual(await run('GET', [503, 503, 503, 503], now), [503, 3]);
  assert.deepEqual(await run('POST', [503], now), [200, 2]);
  assert.deepEqual(await run('POST', [502], now), [502, 1], 'nobody knows what became of it');
  assert.deepEqual(await run('POST', [502], keyed), [200, 2]);
  assert.deepEqual(await run('POST', [broken], now), [String(broken), 1]);
  assert.deepEqual(await run('POST', [broken], keyed), [200, 2]);
  assert.deepEqual(await run('GET', [broken], now), [200, 2]);
  assert.deepEqual(await run('GET', [404], now), [404, 1]);
  assert.deepEqual(await run('GET', [429]), [429, 1], 'a longer pause than the longest');
  assert.deepEqual(await run('GET', [503], { 'Retry-After': new Date(0).toUTCString() }), [200, 2]);
  assert.deepEqual(await run('GET', [503], now, 1), [503, 1]);
});

test('a client that pays gets what a 402 asks a price for', { skip: WITHOUT_CHAIN }, async (t) => {
  const { url, chain } = await paidStand(t);
  const payer = await chain.payer();
  const unpaid = await recordsClient({ root: url }).GET('/v1/domains');
  assert.equal(unpaid.error?.error, 'payment_required');
  const paying = recordsClient({ root: url, pay: (fetch) => newClient(payer, fetch) });
  const { data } = await paying.GET('/v1/domains');
  assert.deepEqual(
    data?.items.map(({ domain }) => domain),
    ['example.org'],
  );
  assert.equal(await chain.balance(PAYEE), LIST_UNITS);
});

test('the packed client installs with what it names, and its example compiles in strict mode', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const own = json(PROJECT, 'packages/broadsheet-client/package.json').dependencies as Record<string, string>;
  const { devDependencies: ours } = json(PROJECT, 'package.json');
  assert.deepEqual(own, Object.fromEntries(Object.keys(own).map((name) => [name, ours[name]])));
  const program = join(folder, 'program');
  const tarball = packPackage(folder, 'packages/broadsheet-client');
  installTarball(program, tarball, [...Object.keys(own), 'openapi-typescript-helpers']);
  const [, example = ''] =
    /```ts\n([\s\S]*?)```/.exec(readFileSync(join(program, 'node_modules/broadsheet-client/README.md'), 'utf8')) ?? [];
  writeFileSync(
    join(program, 'example.ts'),
    `declare const process: { env: Record<string, string | undefined> };\n${example}`,
  );
  const compilerOptions = {
    strict: true,
    target: 'ES2023',
    lib: ['ES2023', 'DOM', 'DOM.AsyncIterable'],
    module: 'NodeNext',
    types: [],
    noEmit: true,
  };
  writeFileSync(join(program, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['example.ts'] }));
  execFileSync(join(PROJECT, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: program, stdio: 'pipe' });
  writeFileSync(
    join(program, 'run.mjs'),
    "import { deskClient, pages } from 'broadsheet-client';\nconsole.log(typeof deskClient, typeof pages);\n",
  );
  const { stdout, stderr } = await outcome(program, [process.execPath, 'run.mjs']);
  assert.equal(stdout, 'function function\n', stderr);
});

test('the manual shows how clients of other languages are made and used, as the nightly tests do', () => {
  const manual = readFileSync(join(PROJECT, 'docs/api.md'), 'utf8');
  for (const { name } of GENERATORS) assert.ok(manual.includes(name), name);
  for (const [language, program] of [
    ['go', 'main.go.txt'],
    ['py', 'main.py.txt'],
  ] as const) {
    const text = readFileSync(join(PROJECT, 'test/fuzz/openapi-clients', program), 'utf8');
    const [, sample = ''] = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(manual) ?? [];
    assert.notEqual(sample, '');
    for (const line of sample.trim().split('\n')) assert.ok(text.includes(line), line);
  }
});

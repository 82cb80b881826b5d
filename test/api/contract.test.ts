import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LEVELS, type Level, newKey, reaches } from '../../src/desk/papers/keys.ts';
import { tempFolder } from '../support/app-context.ts';
import {
  type Answered,
  Contract,
  type Document,
  hangUp,
  type Operation,
  type Sending,
  send,
} from '../support/contract.ts';
import { ODD_BODIES, ODD_TYPES, oddMembers, oddTexts, RAW } from '../support/odd-values.ts';
import { copyPaper } from '../support/papers.ts';
import { copyContent, run } from '../support/program.ts';
import * as fc from '../support/properties.ts';
import { exampleRequest, get, type State, withParameter, written } from '../support/requests.ts';
import { serveHere } from '../support/serve-here.ts';
import { cutTexts, hostileTexts, withHostileTexts } from '../support/stored-texts.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'the-plumb-line';
/** A paper of two pieces is pressed soon: each write that is taken waits for the press. */
const KEPT = ['year-2038.md', 'im-a-teapot.md'];

test('every answer is one that the document promises', async (t) => {
  const folder = tempFolder(t);
  copyContent(folder);
  const stories = join(folder, 'content', PAPER, 'stories');
  for (const name of readdirSync(stories)) if (!KEPT.includes(name)) rmSync(join(stories, name));
  // A fact for the examples.
  const story = join(stories, 'year-2038.md');
  writeFileSync(
    story,
    readFileSync(story, 'utf8').replace('  - statement:', '  - claim_key: first-second\n    statement:'),
  );
  // One portrait for all: its variants are drawn once.
  const portraits = join(folder, 'content', PAPER, 'media/portraits');
  for (const name of readdirSync(portraits)) writeFileSync(join(portraits, name), SAMPLE);
  rmSync(join(folder, 'content/the-leading-light'), { recursive: true });
  copyPaper(folder, PAPER, 'hidden', (yaml) => yaml.replace('paper_public: true', 'paper_public: false'));
  copyPaper(folder, PAPER, 'other', (yaml) => yaml.replace('paper_public: true', 'paper_public: false'));
  const { url } = await serveHere(t, folder);
  t.after(hangUp);
  const root = `${url}/${PAPER}`;

  const make = async (paper: string, level: string) => {
    const args = ['key', 'create', '--paper', paper, '--level', level, '--name', level, '--json'];
    return (JSON.parse((await run(t, folder, args)).stdout) as { key: string }).key;
  };
  const keys = {
    read: await make(PAPER, 'read'),
    agent: await make(PAPER, 'agent'),
    admin: await make(PAPER, 'admin'),
    other: await make('other', 'admin'),
    hidden: await make('hidden', 'admin'),
    stranger: newKey(randomBytes),
    slip: `${newKey(randomBytes).slice(0, -1)}-`,
  };
  const document = JSON.parse((await send(root, get('/api/v1/openapi.json'))).text) as Document;
  const contract = new Contract(document);
  const { operations } = contract;
  const asked = new Set<string>();

  /** Sends, checks, and asks for the first error of each kind as a problem too. */
  async function checked(operation: Operation, sent: Sending, at = root): Promise<Answered> {
    const answer = await send(at, sent);
    contract.check(operation, sent, answer);
    const kind = `${operation.operationId} ${answer.status}`;
    if (answer.status >= 400 && !asked.has(kind)) {
      asked.add(kind);
      const again = { ...sent, headers: { ...sent.headers, accept: 'application/problem+json' } };
      const problem = await send(at, again);
      contract.check(operation, again, problem);
      if (problem.status === answer.status && sent.method !== 'HEAD') {
        assert.match(String(problem.headers['content-type']), /^application\/problem\+json/, problem.text);
      }
    }
    return answer;
  }
  const admin = { authorization: `Bearer ${keys.admin}` };
  const good = (operation: Operation) => goodRequest(contract, operation, root, admin);

  await t.test('the examples work, each operation once', async () => {
    const refused: string[] = [];
    const unrecorded: string[] = [];
    const lastChange = async () => {
      const { text } = await send(root, { ...get('/api/v1/activity?limit=1'), headers: admin });
      return (JSON.parse(text) as { activity: { id: string }[] }).activity[0]?.id;
    };
    for (const operation of operations) {
      const sent = await good(operation);
      const writes = operation.parameters?.some(({ name }) => name === 'idempotency-key') && !isOpen(operation);
      const before = writes ? await lastChange() : undefined;
      const { status, text } = await checked(operation, { ...sent, headers: { ...sent.headers, ...admin } });
      if (status >= 300) refused.push(`${operation.operationId}: ${status} ${text.slice(0, 200)}`);
      if (writes && (await lastChange()) === before) unrecorded.push(operation.operationId);
    }
    assert.deepEqual(refused, []);
    // The log of activity tells each change.
    assert.deepEqual(unrecorded, []);
  });

  await t.test('keys: none, invalid ones, each level, and another paper’s', async () => {
    for (const operation of operations) {
      const level = operation.security[0]?.bearer?.[0] as Level | undefined;
      for (const [name, key] of some(Object.entries({ ...keys, none: null }), 5)) {
        const sent = await good(operation);
        const credentials: Record<string, string> =
          key === null ? {} : name === 'slip' ? { 'x-nrf-key': key } : { authorization: `Bearer ${key}` };
        const answer = await checked(operation, { ...sent, headers: { ...sent.headers, ...credentials } });
        const what = `${operation.operationId} with ${name}: ${answer.status} ${answer.text.slice(0, 200)}`;
        if (name === 'stranger' || name === 'slip') assert.equal(answer.status, 401, what);
        else if (name === 'other' || name === 'hidden') assert.equal(answer.status, 403, what);
        else if (level !== undefined && LEVELS.some((one) => one === name) && !reaches(name as Level, level)) {
          assert.equal(answer.status, 403, what);
        } else if (name === 'none' && !isOpen(operation)) assert.equal(answer.status, 401, what);
        else if (name === 'admin' || isOpen(operation)) assert.ok(answer.status < 300, what);
      }
      const sent = await good(operation);
      const hidden = await send(`${url}/hidden`, sent);
      const nowhere = await send(`${url}/nowhere`, sent);
      assert.equal(hidden.status, 404, operation.operationId);
      assert.deepEqual(hidden.text, nowhere.text, operation.operationId);
    }
  });

  await t.test('other methods are rejected with an Allow header; HEAD is GET without its body', async () => {
    for (const [path, item] of Object.entries(document.paths)) {
      const [first] = operations.filter((operation) => operation.path === path);
      assert.ok(first);
      const { path: address } = await good(first);
      const taken = Object.keys(item).map((method) => method.toUpperCase());
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
        // Another template may have the address too, as that of one reader has `counts`.
        const isOther = (one: Operation) =>
          one.method === method && new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
        if (taken.includes(method) || operations.some(isOther)) continue;
        const { status, headers } = await checked(first, { method, path: address, headers: admin });
        assert.equal(status, 405, `${method} ${path}`);
        for (const known of taken)
          assert.ok(String(headers.allow).split(', ').includes(known), `${path} ${headers.allow}`);
      }
      if (!taken.includes('GET')) continue;
      const whole = await send(root, { ...get(address), headers: admin });
      const head = await checked(first, { method: 'HEAD', path: address, headers: admin });
      assert.equal(head.status, whole.status, path);
      assert.equal(head.headers['content-type'], whole.headers['content-type'], path);
    }
  });

  await t.test('unchanged representations are answered with 304', async () => {
    for (const operation of operations.filter(({ responses }) => responses[304] !== undefined)) {
      const sent = await good(operation);
      const { headers } = await checked(operation, sent);
      const known = await checked(operation, { ...sent, headers: { 'if-none-match': String(headers.etag) } });
      assert.equal(known.status, 304, operation.operationId);
    }
  });

  await t.test('parameters at, below and beyond their limits, twice, and of other kinds', async () => {
    for (const operation of fourth(operations, 0)) {
      const sent = await good(operation);
      for (const parameter of operation.parameters ?? []) {
        const values = some([...oddTexts(contract.at(parameter.schema)).map(encodeURIComponent), ...RAW]);
        for (const value of values) {
          // Without its segment it is another address.
          if (parameter.in === 'path' && value === '') continue;
          for (const changed of withParameter(operation, sent, parameter, value)) {
            await checked(operation, { ...changed, headers: { ...admin, ...changed.headers } });
          }
        }
      }
      for (const query of [
        '?x=%FF',
        ...some(['?', '?=', '?&&', '?limit', '?unknown=1&__proto__=2', `?${'a=1&'.repeat(900)}`]),
      ]) {
        const answer = await checked(operation, {
          ...sent,
          path: `${sent.path.replace(/\?.*/, '')}${query}`,
          headers: admin,
        });
        if (query === '?x=%FF') assert.equal(answer.status, 400, operation.operationId);
      }
    }
  });

  // An upload is no JSON; test/api/media.test.ts sends it.
  const writes = operations.filter(({ requestBody }) => requestBody?.content['application/json'] !== undefined);

  await t.test('bodies with missing, extra, mistyped and extreme members', async () => {
    for (const operation of fourth(writes, 2)) {
      const { schema } = Object.values(operation.requestBody?.content ?? {})[0] ?? { schema: {} };
      const { properties = {} } = contract.shape(schema);
      const { body: text, ...sent } = await good(operation);
      const whole = JSON.parse(String(text ?? '{}')) as Record<string, unknown>;
      const bodies: Record<string, unknown>[] = [{ ...whole, extra: 1 }];
      for (const [name, member] of Object.entries(properties)) {
        const { [name]: _left, ...rest } = whole;
        bodies.push(rest, ...oddMembers(contract.at(member)).map((value) => ({ ...whole, [name]: value })));
      }
      for (const body of some(bodies)) await checked(operation, written(sent, JSON.stringify(body), admin));
    }
  });

  await t.test('texts that a column could truncate are rejected or stored whole', async () => {
    const texts = hostileTexts();
    let kept = 0;
    for (const operation of fourth(operations, 3)) {
      const { body: text, ...sent } = await good(operation);
      // Headers cannot carry such texts.
      for (const parameter of (operation.parameters ?? []).filter((one) => one.in !== 'header')) {
        const value = encodeURIComponent(texts.next().value.toWellFormed());
        texts.next();
        texts.next();
        const [changed] = withParameter(operation, sent, parameter, value) as [Sending];
        const headers = { ...admin, ...changed.headers };
        await checked(operation, { ...changed, headers, ...(text === undefined ? {} : { body: text }) });
      }
      if (!writes.includes(operation)) continue;
      for (const body of withHostileTexts(JSON.parse(String(text ?? '{}')), texts)) {
        const answer = await checked(operation, written(sent, JSON.stringify(body), admin));
        if (answer.status < 300) kept++;
      }
    }
    assert.ok(kept > 0);
    assert.deepEqual(cutTexts(join(folder, 'var/broadsheet.db')), []);
  });

  await t.test('bodies that are not a record, have another type, or are too large', async () => {
    for (const operation of fourth(writes, 0)) {
      const { body: text, ...sent } = await good(operation);
      for (const body of some(ODD_BODIES, 4)) await checked(operation, written(sent, body, admin));
      for (const type of some(ODD_TYPES, 4)) {
        await checked(operation, written(sent, text ?? '{}', { ...admin, 'content-type': type }));
      }
      const large = await checked(operation, written(sent, 'x'.repeat(1024 * 1024 + 1), admin));
      assert.equal(large.status, 413, operation.operationId);
    }
  });

  await t.test('random input', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom(...oddTexts({})));
    const request = fc.record({
      operation: fc.constantFrom(...operations),
      values: fc.array(text, { minLength: 4, maxLength: 4 }),
      body: fc.oneof(
        fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)),
        fc.uint8Array({ maxLength: 64 }),
      ),
      key: fc.constantFrom(keys.admin, keys.read, keys.agent, null),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ operation, values, body, key }) => {
        let sent: Sending = { method: operation.method, path: operation.path };
        for (const [index, parameter] of (operation.parameters ?? []).entries()) {
          const value = encodeURIComponent((values[index % values.length] ?? '').toWellFormed());
          // Dots alone are a way through the tree, and an empty one is another address.
          const safe = parameter.in === 'path' && /^\.*$/.test(value) ? 'x' : value;
          [sent] = withParameter(operation, sent, parameter, safe) as [Sending];
        }
        const credentials: Record<string, string> = key === null ? {} : { 'x-nrf-key': key };
        if (operation.requestBody === undefined) {
          await checked(operation, { ...sent, headers: { ...sent.headers, ...credentials } });
        } else await checked(operation, written(sent, body, { ...sent.headers, ...credentials }));
      }),
      { numRuns: 500 },
    );
  });
});

/** All operations in `.ci/wide`; on a push every fourth one, from one of the first four on. */
const fourth = <T>(operations: readonly T[], first: 0 | 1 | 2 | 3): T[] =>
  operations.filter((_, n) => ONLY_WIDE === false || n % 4 === first);

let turn = 0;

/** All of the cases in `.ci/wide`; on a push one of so many, from operation to operation another. */
function some<T>(cases: readonly T[], many = 32): T[] {
  turn++;
  return cases.filter((_, n) => ONLY_WIDE === false || (n + turn) % many === 0);
}

/** The request that the document's own examples make; what only the paper's present state can tell is asked of it. */
/** Whether an operation takes no key. */
function isOpen({ security }: Operation): boolean {
  return security.some((way) => Object.keys(way).length === 0);
}

async function goodRequest(
  contract: Contract,
  operation: Operation,
  root: string,
  admin: Record<string, string>,
): Promise<Sending> {
  const state = await stateFor(contract, operation, root, admin);
  if (operation.operationId === 'uploadMedia') return uploadOf(SAMPLE_PATH);
  return exampleRequest(contract, operation, state);
}

const SAMPLE_PATH = 'media/art/sample.svg';
const SAMPLE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9"><path d="M0 0h9"/></svg>';

/** An upload of bytes alone. */
function uploadOf(path: string): Sending {
  const headers = { 'content-type': 'image/svg+xml', 'x-media-path': path };
  return { method: 'POST', path: '/api/v1/media', body: SAMPLE, headers };
}

let changes = 0;

/** What an operation's examples cannot know. */
async function stateFor(
  contract: Contract,
  { operationId }: Operation,
  root: string,
  admin: Record<string, string>,
): Promise<State> {
  const ask = async (sent: Sending) =>
    JSON.parse((await send(root, { ...sent, headers: { ...admin, ...sent.headers } })).text);
  const of = (id: string) => contract.operations.find((operation) => operation.operationId === id) as Operation;
  const make = async (id: string, more: object = {}) => {
    const sent = await goodRequest(contract, of(id), root, admin);
    return ask({ ...sent, body: JSON.stringify({ ...JSON.parse(String(sent.body)), ...more }) });
  };
  switch (operationId) {
    case 'reviseStory': {
      const { story } = await make('fileStory');
      return { parameters: { id: story.id }, body: { revision: story.revision, headline: 'Another headline' } };
    }
    case 'linkPreview':
    case 'airStory':
    case 'reviewStory':
      return { parameters: { id: (await make('fileStory')).story.id } };
    case 'withdrawStory':
      return { parameters: { id: (await make('fileStory', { air: true })).story.id } };
    case 'readKey':
    case 'pauseKey':
    case 'revokeKey':
      return { parameters: { id: (await make('makeKey')).id } };
    case 'readSubscriber':
    case 'eraseSubscriber': {
      const email = 'kept@example.org';
      await ask({
        ...written({ method: 'POST', path: '/api/v1/subscribers' }, JSON.stringify({ emails: [email] }), {}),
      });
      return { parameters: { email } };
    }
    // Each is to change something.
    case 'writeConfig':
      return { body: { motto: `How the world agrees, ${++changes}` } };
    case 'writePage':
      return { body: { title: `About this paper, ${++changes}` } };
    case 'writeFront':
      return { body: { lead: (await make('fileStory', { air: true })).story.id, pins: [] } };
    case 'readPage':
    case 'removePage':
      await make('writePage');
      return {};
    case 'removeMedia':
      await ask(uploadOf(SAMPLE_PATH));
      return { parameters: { path: SAMPLE_PATH } };
    case 'changeWebhook':
    case 'replaceWebhookSecret':
    case 'removeWebhook':
    case 'testWebhook':
      return { parameters: { id: (await make('addWebhook')).id } };
    case 'retryDelivery': {
      const { id } = await make('addWebhook');
      return { parameters: { id: (await ask({ method: 'POST', path: `/api/v1/webhooks/${id}/test` })).id } };
    }
    case 'endSession': {
      const { key } = await make('makeKey');
      const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
      await send(root, { method: 'POST', path: '/console/sign-in', body: `key=${key}`, headers });
      return { parameters: { id: (await ask(get('/api/v1/sessions'))).sessions[0].id } };
    }
    case 'acceptTerms':
      return { body: { version: (await ask(get('/api/v1/agent/terms'))).version, signed_by: 'Mara Vell, publisher' } };
    default:
      return {};
  }
}

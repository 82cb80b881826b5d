import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY, HOUR } from '../../../src/proof/time.ts';
import { runDumps } from '../../../src/records/jobs/dump-run.ts';
import { type Access, laneOf } from '../../../src/records/meter/lane.ts';
import { newKeyText } from '../../../src/shared/access-key.ts';
import { databaseFile } from '../../../src/shared/files/data-folder.ts';
import { tempFolder } from '../../support/app-context.ts';
import {
  type Answered,
  Contract,
  type Document,
  hangUp,
  type Operation,
  type Sending,
  send,
} from '../../support/contract.ts';
import { heldFor } from '../../support/held.ts';
import { ODD_BODIES, ODD_TYPES, oddMembers, oddTexts, RAW } from '../../support/odd-values.ts';
import { certificate, probe } from '../../support/probes.ts';
import * as fc from '../../support/properties.ts';
import { recordsStand } from '../../support/records-fixture.ts';
import { exampleRequest, get, type State, withParameter, written } from '../../support/requests.ts';
import { cutTexts, hostileTexts, withHostileTexts } from '../../support/stored-texts.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

/** Of how many values of a parameter its first operation takes one, and each other operation. */
const SHARE = ONLY_WIDE === false ? { first: 1, others: 4 } : { first: 6, others: 32 };

/** Longer than any name may be, with signs that no name has, and names in disguise. */
const ODD_NAMES = [
  `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}`,
  `${'a'.repeat(64)}.example`,
  '%F0%9F%8D%95.example',
  'a%00b.example',
  'a%2Fb.example',
  '..%2F..%2Fetc',
  '0x7f.1',
  '127.0.0.1',
  '*.example.com',
  'a..b.com',
  'b%C3%BCcher.example',
  'xn--a.example',
];

/** How a request may come in. */
type Way = 'none' | 'account' | 'service' | 'scanner' | 'operator' | 'stranger' | 'slip';

test('every answer of the data API is one that the document promises', async (t) => {
  // Nothing here is to be refused for its number; nobody answers questions of DNS.
  const plenty = { KEYED_DAILY: '1000000', KEYED_PER_MINUTE: '1000000', WATCH_DAILY: '1000', RESOLVERS: '127.0.0.1:9' };
  const stand = await recordsStand(t, { ...plenty, DUMPS_URL: join(tempFolder(t), 'dumps') });
  const { url, app, clock, enter } = stand;
  t.after(hangUp);
  const at = clock.now;
  enter(
    probe('example.com', at, { A: ['192.0.2.1'], MX: ['10 mail.google.com'] }, certificate('a')),
    probe('example.com', at + 60_000, { A: ['192.0.2.2'], NS: ['ns.example.net'] }, certificate('b')),
  );
  clock.now = at + DAY + 2 * HOUR;
  await runDumps(app);
  const keys: Record<Exclude<Way, 'none'>, string> = {
    account: stand.keyOf('account'),
    service: stand.keyOf('service'),
    scanner: stand.keyOf('scanner'),
    operator: stand.keyOf('operator'),
    stranger: newKeyText('drs_', randomBytes),
    slip: `${stand.keyOf('service').slice(0, -1)}-`,
  };
  const withKey = (way: Way): Record<string, string> => (way === 'none' ? {} : { 'x-service-key': keys[way] });
  const document = JSON.parse((await send(url, get('/v1/openapi.json'))).text) as Document;
  const contract = new Contract(document);
  app.store.records.plans.set({
    ...{ name: 'newsroom', daily: 9, per_minute: 9, watch: 9, streams: 9, exports: 9, price: 9, days: 9 },
  });
  const operations = contract.operations as (Operation & { 'x-access': Access })[];
  const asked = new Set<string>();

  /** Sends, checks, and asks for the first error of each kind as a problem too. */
  async function checked(operation: Operation, sent: Sending): Promise<Answered> {
    // The keyless lane is open once in 15 seconds.
    if (sent.headers?.['x-service-key'] === undefined) clock.now += 15_000;
    const answer = await send(url, sent);
    contract.check(operation, sent, answer);
    const kind = `${operation.operationId} ${answer.status}`;
    // A price menu is of one form, which its payers read.
    if (answer.status >= 400 && answer.status !== 402 && sent.method !== 'HEAD' && !asked.has(kind)) {
      asked.add(kind);
      const again = { ...sent, headers: { ...sent.headers, accept: 'application/problem+json' } };
      const problem = await send(url, again);
      contract.check(operation, again, problem);
      if (problem.status === answer.status) {
        assert.match(String(problem.headers['content-type']), /^application\/problem\+json/, problem.text);
      }
    }
    return answer;
  }

  /** The key that a door is for. */
  const own = (operation: Operation & { 'x-access': Access }): Record<string, string> => {
    const access = operation['x-access'];
    return withKey(access === 'operator' || access === 'queue' ? 'operator' : 'account');
  };
  const good = (operation: Operation): Sending => exampleRequest(contract, operation, stateFor(operation.operationId));

  /** What examples cannot know. */
  function stateFor(operationId: string): State {
    const leased = () => {
      const lease = { id: `l${randomBytes(8).toString('hex')}`, owner: 'test', until: clock.now + 60_000 };
      app.store.records.leaseNames({ ...lease, names: ['example.com'] });
      return { parameters: { lease: lease.id } };
    };
    switch (operationId) {
      case 'giveLeaseBack':
        return leased();
      case 'handInLooks':
        return { ...leased(), body: { looks: [probe('other.example', clock.now, {})] } };
      case 'enrichBatch':
        return { body: { domains: ['not-watched.example'] } };
      case 'watchDomains':
        return { body: { domains: ['more.example'] } };
      case 'optOut':
        return { body: { domain: 'gone.example', reason: 'its owner asked' } };
      case 'readDumpProof':
        return { parameters: { day: '2026-11-21' } };
      case 'moveCredits':
        return { parameters: { email: 'ada@example.org' } };
      default:
        return heldFor(app, 'ada@example.org', operationId) ?? {};
    }
  }

  await t.test('the examples work, each operation once', async () => {
    const refused: string[] = [];
    for (const operation of operations) {
      const sent = good(operation);
      const answer = await checked(operation, { ...sent, headers: { ...sent.headers, ...own(operation) } });
      if (answer.status >= 300 && !mayRefuse(operation, answer)) {
        refused.push(`${operation.operationId}: ${answer.status} ${answer.text.slice(0, 300)}`);
      }
    }
    assert.deepEqual(refused, []);
  });

  await t.test('every kind of key on every route takes the documented lane', async () => {
    for (const operation of operations) {
      for (const way of ['none', ...Object.keys(keys)] as Way[]) {
        const sent = good(operation);
        const answer = await checked(operation, { ...sent, headers: { ...sent.headers, ...withKey(way) } });
        const what = `${operation.operationId} with ${way}: ${answer.status} ${answer.text.slice(0, 200)}`;
        const key = way === 'stranger' || way === 'slip' ? 'bad' : way;
        const decision = laneOf({ key, payment: false }, operation['x-access']);
        if (!('refused' in decision)) {
          if (decision.lane === 'menu') assert.equal(answer.status, 402, what);
          else assert.ok(answer.status < 300 || mayRefuse(operation, answer), what);
        } else assert.equal(answer.status, decision.refused === 'level_too_low' ? 403 : 401, what);
      }
    }
  });

  await t.test('other methods are rejected with an Allow header; HEAD is GET without its body', async () => {
    for (const [path, item] of Object.entries(document.paths)) {
      const [first] = operations.filter((operation) => operation.path === path);
      assert.ok(first);
      const { path: address } = good(first);
      const taken = Object.keys(item).map((method) => method.toUpperCase());
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
        const isOthers = operations.some((one) => one.method === method && templateOf(one.path).test(address));
        if (taken.includes(method) || isOthers) continue;
        const { status, headers } = await checked(first, { method, path: address, headers: own(first) });
        assert.equal(status, 405, `${method} ${path}`);
        for (const known of taken)
          assert.ok(String(headers.allow).split(', ').includes(known), `${path} ${headers.allow}`);
      }
      const read = operations.find((operation) => operation.path === path && operation.method === 'GET');
      if (read === undefined) continue;
      const whole = await send(url, { ...get(address), headers: own(read) });
      const head = await checked(read, { method: 'HEAD', path: address, headers: own(read) });
      assert.equal(head.status, whole.status, path);
      assert.equal(head.headers['content-type'], whole.headers['content-type'], path);
    }
  });

  await t.test('unchanged representations are answered with 304', async () => {
    const known = operations.filter(({ responses }) => responses[304] !== undefined);
    assert.ok(known.length >= 4);
    for (const operation of known) {
      const sent = good(operation);
      const { headers } = await checked(operation, sent);
      const again = await checked(operation, { ...sent, headers: { 'if-none-match': String(headers.etag) } });
      assert.equal(again.status, 304, operation.operationId);
    }
  });

  await t.test('parameters at, below and beyond their limits, twice, and of other kinds', async () => {
    // Parameters of one name are read alike: after the first operation the others share the values among them.
    const seen = new Map<string, number>();
    for (const operation of operations) {
      const sent = good(operation);
      for (const parameter of operation.parameters ?? []) {
        const turn = seen.get(parameter.name) ?? 0;
        seen.set(parameter.name, turn + 1);
        const schema = contract.at(parameter.schema);
        const isName = parameter.name === 'domain';
        const values = [...oddTexts(schema).map(encodeURIComponent), ...RAW, ...(isName ? ODD_NAMES : [])];
        for (const [index, value] of values.entries()) {
          const share = turn > 0 ? SHARE.others : SHARE.first;
          if (index % share !== turn % share) continue;
          // Without its segment it is another address, and dots alone are a way through the tree.
          if (parameter.in === 'path' && /^\.*$/.test(value)) continue;
          const [once, twice] = withParameter(operation, sent, parameter, value);
          for (const changed of [once, ...(index < 4 ? [twice] : [])]) {
            if (changed === undefined) continue;
            await checked(operation, { ...changed, headers: { ...own(operation), ...changed.headers } });
          }
        }
      }
      const queries = ['?', '?=', '?&&', '?limit', '?unknown=1&__proto__=2', `?${'a=1&'.repeat(900)}`];
      for (const query of ['?x=%FF', ...some(queries, queries.length)]) {
        const path = `${sent.path.replace(/\?.*/, '')}${query}`;
        const answer = await checked(operation, { ...sent, path, headers: { ...sent.headers, ...own(operation) } });
        if (query === '?x=%FF') assert.equal(answer.status, 400, operation.operationId);
      }
    }
  });

  const writes = operations.filter(({ requestBody }) => requestBody !== undefined);

  await t.test('bodies with missing, extra or mistyped members, non-records, and oversized ones', async () => {
    for (const operation of writes) {
      const { schema } = Object.values(operation.requestBody?.content ?? {})[0] ?? { schema: {} };
      const { properties = {} } = contract.shape(schema);
      const { body: text, ...sent } = good(operation);
      const whole = JSON.parse(String(text ?? '{}')) as Record<string, unknown>;
      const bodies: Record<string, unknown>[] = [{ ...whole, extra: 1 }];
      for (const [name, member] of Object.entries(properties)) {
        const { [name]: _left, ...rest } = whole;
        bodies.push(rest, ...oddMembers(contract.at(member)).map((value) => ({ ...whole, [name]: value })));
      }
      for (const body of some(bodies, 12))
        await checked(operation, written(sent, JSON.stringify(body), own(operation)));
      for (const body of some(ODD_BODIES, 4)) await checked(operation, written(sent, body, own(operation)));
      for (const type of some(ODD_TYPES, 4)) {
        await checked(operation, written(sent, text ?? '{}', { ...own(operation), 'content-type': type }));
      }
      const large = await checked(operation, written(sent, 'x'.repeat(8 * 1024 * 1024 + 1), own(operation)));
      assert.equal(large.status, 413, operation.operationId);
    }
  });

  await t.test('texts that a column could truncate are rejected or stored whole', async () => {
    const texts = hostileTexts();
    for (const operation of operations) {
      const { body: text, ...sent } = good(operation);
      // Headers cannot carry such texts.
      for (const parameter of (operation.parameters ?? []).filter((one) => one.in !== 'header')) {
        const value = encodeURIComponent(texts.next().value.toWellFormed());
        texts.next();
        texts.next();
        const [changed] = withParameter(operation, sent, parameter, value) as [Sending];
        const headers = { ...changed.headers, ...own(operation) };
        await checked(operation, { ...changed, headers, ...(text === undefined ? {} : { body: text }) });
      }
      if (operation.requestBody === undefined) continue;
      const isProbe = operation.operationId === 'handInLooks';
      const whole = isProbe
        ? { looks: [probe('example.com', clock.now, { TXT: ['a'] }, certificate('c'))] }
        : JSON.parse(String(text ?? '{}'));
      for (const body of withHostileTexts(whole, texts)) {
        // Each probe under a lease that would let it be recorded.
        const again = isProbe ? good(operation) : sent;
        await checked(operation, written(again, JSON.stringify(body), own(operation)));
      }
    }
    assert.deepEqual(cutTexts(databaseFile(app.settings)), []);
    const { faults } = await auditApp(app, { trees: false });
    assert.deepEqual(faults, []);
  });

  await t.test('random input', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom(...oddTexts({})));
    const request = fc.record({
      operation: fc.constantFrom(...operations.filter(({ requestBody }) => requestBody === undefined)),
      values: fc.array(text, { minLength: 4, maxLength: 4 }),
      way: fc.constantFrom<Way>('account', 'service', 'operator', 'none'),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ operation, values, way }) => {
        let sent: Sending = { method: operation.method, path: operation.path };
        for (const [index, parameter] of (operation.parameters ?? []).entries()) {
          const value = encodeURIComponent((values[index % values.length] ?? '').toWellFormed());
          const safe = parameter.in === 'path' && /^\.*$/.test(value) ? 'x' : value;
          [sent] = withParameter(operation, sent, parameter, safe) as [Sending];
        }
        await checked(operation, { ...sent, headers: { ...sent.headers, ...withKey(way) } });
      }),
      { numRuns: 200 },
    );
  });
});

let turn = 0;

/** All of the cases in `.ci/wide`; on a push one of so many, from operation to operation another. */
function some<T>(cases: readonly T[], many: number): T[] {
  turn++;
  return cases.filter((_, n) => ONLY_WIDE === false || (n + turn) % many === 0);
}

/** What addresses a path stands for. */
function templateOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/?]+')}(?:\\?|$)`);
}

/** Whether an example is refused for a reason that is not its own: a lease is one caller's alone. */
function mayRefuse({ operationId }: Operation, { status }: Answered): boolean {
  // No payments are taken on this stand.
  if (operationId === 'buyCredits' || operationId === 'buyPlan') return status === 402;
  // No resolver answers.
  if (operationId === 'lookAtName') return status === 503;
  return (operationId === 'giveLeaseBack' || operationId === 'handInLooks') && status === 404;
}

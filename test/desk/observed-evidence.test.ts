import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pino } from 'pino';
import { listenDesk } from '../../api/server.ts';
import { airStory } from '../../src/desk/airing.ts';
import { evidenceRow, READ_EVERY } from '../../src/desk/evidence.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { READ_WAITS, readSources, type SourceTools, sourcesOfChanged } from '../../src/desk/jobs/evidence-job.ts';
import { PressQueue } from '../../src/desk/jobs/press-queue.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { sourceReader } from '../../src/desk/sources/source-reader.ts';
import { textPool } from '../../src/desk/sources/text-pool.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { verifiedLines, verifyAt } from '../../src/operate/audit/verify.ts';
import { checkProof } from '../../src/parts/client/verify/check.ts';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { evidenceIn } from '../../src/proof/evidence-note.ts';
import { keysOf } from '../../src/proof/keyring.ts';
import { type Proof, proofFaults } from '../../src/proof/proof.ts';
import { deskOf, intakeOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, type Scope, tempFolder } from '../support/app-context.ts';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http.ts';
import { loopback } from '../support/loopback.ts';
import { probe } from '../support/probes.ts';
import { recordsStand } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const logger = pino({ level: 'silent' });
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NS = ['ns1.old.example', 'ns2.old.example'];
const QUOTE = `NS ${NS.join(', ')}`;

/** Starting a thread takes longer than most tests: all of them share one. */
const texts = textPool();
after(() => texts.close());

/** Papers and domain records of one installation, both served, and a site that answers what a test wants. */
async function stand(t: Scope, sources: object = {}) {
  const port = await freePort();
  const root = `http://records.example:${port}`;
  const records = await recordsStand(t, {
    RECORDS_PORT: `${port}`,
    DATA_ORIGIN: root,
    ORIGIN: 'http://papers.example',
  });
  const { app, clock, enter } = records;
  createPaper(app, { sources: { read: true, quote_not_found: 'warn', republish: false, ...sources } });
  const observe = (name: string, seen: Parameters<typeof probe>[2] = { NS, A: ['192.0.2.1'] }) => {
    enter(probe(name, clock.now, seen));
    return new Date(clock.now).toISOString();
  };
  const answers = new Map<string, { type?: string; body: string | Uint8Array }>();
  const site = createServer((request, response) => {
    const answer = answers.get(request.url ?? '');
    if (answer === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': answer.type ?? 'application/json' }).end(answer.body);
  });
  const mirror = (await loopback(t, site)).replace('127.0.0.1', 'mirror.example');
  const options = { agent: 'test', allows: () => true, resolve: async () => ['127.0.0.1'], hostPause: 0 };
  const tools: SourceTools = { read: sourceReader({ ...options, deadline: 5_000 }), texts };
  const put = (slug: string, fact: object) => {
    const cited_facts = [
      {
        n: 1,
        statement: 'It has two name servers.',
        source: 'Domain Records',
        instrument: root,
        claim_key: null,
        ...fact,
      },
      { n: 2, statement: 'It is so.', source: 'Office', instrument: 'Ledger, page 4', claim_key: null },
    ];
    return fileStory(deskOf(app), PAPER, filing(slug, { cited_facts }), { by: 'cli' }).story;
  };
  const air = (slug: string) => airStory(deskOf(app), PAPER, slug, { by: 'cli' }).story;
  const story = (slug: string) => app.store.desk.archive(PAPER).storyBySlug(slug) ?? assert.fail(slug);
  const found = (slug: string) => story(slug).evidence[0] ?? assert.fail(slug);
  const read = async () => {
    while ((await readSources(app, tools, logger)) > 0);
  };
  /** The state of a fact that cites an address, and why it does not hold. */
  const stateOf = async (instrument: string, more: object = {}) => {
    const slug = `piece-${app.store.desk.nextEvidenceSeq(PAPER)}`;
    put(slug, { instrument, ...more });
    await read();
    const { state, reason } = found(slug);
    return [state, reason];
  };
  const answer = async (path: string) => (await ask(records.url, path)).text;
  return { ...records, root, mirror, answers, tools, observe, put, air, story, found, read, stateOf, answer };
}

test('a signed observation is read, verified, signed, and proved with the piece that cites it', async (t) => {
  const { app, root, observe, put, air, found, read } = await stand(t, { quote_not_found: 'refuse' });
  const at = observe('example.org');
  const instrument = `${root}/t/example.org?as_of=${at}`;
  put('named', { instrument, quote: QUOTE });
  assert.equal(air('named').state, 'scheduled', 'it waits for its evidence');
  await read();
  const { state, note, observation, reason } = found('named');
  assert.deepEqual([state, reason], ['found', null]);
  const said = evidenceIn(note) ?? assert.fail();
  assert.ok(typeof said.observation === 'object');
  assert.match(said.observation.observed_by, /^records\.example:\d+\/door\+/);
  assert.ok(observation !== undefined);
  await pressPapers(app, { cards: false });
  assert.deepEqual(
    (await auditApp(app)).faults.filter((fault) => !fault.includes('wait for the press')),
    [],
  );

  const desk = await listenDesk({ app, presses: new PressQueue(app), logger });
  t.after(() => void desk.close());
  const get = async (path: string) => JSON.parse((await ask(desk.url, `/${PAPER}/${path}`)).text);
  const row = (await get('api/v1/stories/named')).cited_facts[0].evidence;
  assert.deepEqual(
    [row.status, row.observation.domain, row.observation.seq, row.observation.observed_at, row.changes],
    ['found', 'example.org', 1, at, []],
  );
  const proof: Proof = await get('stories/named/proof.json');
  const trusted = keysOf(await get('.well-known/newsdesk-keys.json'));
  const faults = (change: (evidence: NonNullable<Proof['evidence']>[number]) => void) => {
    const copy = structuredClone(proof);
    change(copy.evidence?.[0] ?? assert.fail());
    return proofFaults(copy, verifyNode, trusted).join();
  };
  assert.equal(
    faults(() => {}),
    '',
  );
  assert.match(
    faults((one) => delete one.observation),
    /the observation that it names is missing/,
  );
  assert.match(
    faults(({ observation: one }) => one?.disclosures.pop()),
    /text is not the hash of what the observation says/,
  );
  assert.match(
    faults(({ observation: one }) => {
      const shown = one?.disclosures.find(({ disclosure }) => disclosure.includes('signals.NS')) ?? assert.fail();
      shown.disclosure = shown.disclosure.replace('ns1.old', 'ns1.new');
    }),
    /does not lead to the record_root/,
  );
  const { id, revision, content_hash } = proof;
  const shown = { id, revision, content_hash };
  const panel = (document: unknown, keys: unknown) =>
    checkProof({ proof: document, keys }, shown).checks.find(({ title }) => title.includes('readings of the sources'));
  const listed = await get('.well-known/newsdesk-keys.json');
  assert.match(panel(proof, listed)?.found.join() ?? '', /Signed observations of domains among them: 1\./);
  const stripped = structuredClone(proof);
  delete stripped.evidence?.[0]?.observation;
  assert.equal(panel(stripped, listed)?.holds, false);
  const file = join(app.settings.distDir, PAPER, 'stories/named/proof.json');
  const lines = verifiedLines(file, await verifyAt(file, { keys: trusted }), { keys: trusted });
  assert.match(lines.join('\n'), new RegExp(`source 1 is the signed observation 1 of example\\.org at ${at}`));
  const page = (await ask(desk.url, `/${PAPER}/stories/named/`)).text;
  assert.match(page, /Signed observation of example\.org/);
});

test('an observation that does not hold is said plainly, and kept off the air', async (t) => {
  const stood = await stand(t, { quote_not_found: 'refuse' });
  const { app, clock, root, mirror, answers, observe, put, air, read, stateOf, answer, keyOf, url } = stood;
  const first = observe('example.org');
  observe('example.net');
  clock.now += HOUR;
  observe('example.org');
  const good = await answer('/t/example.org');
  const keys = { body: await answer('/.well-known/records-keys.json') };
  answers.set('/.well-known/records-keys.json', keys);
  answers.set('/t/example.org', { body: good });
  assert.deepEqual(await stateOf(`${mirror}/t/example.org`), ['read', null], 'it goes by the keys, not by the host');

  answers.set('/t/example.org', { body: good.replaceAll('ns1.old', 'ns1.new') });
  const [state, reason] = await stateOf(`${mirror}/t/example.org`);
  assert.equal(state, 'unverified');
  assert.match(reason ?? '', /seq 3: the path of disclosure/);
  put('altered', { instrument: `${mirror}/t/example.org` });
  air('altered');
  await read();
  clock.now += 1_000;
  assert.throws(() => air('altered'), /entry 1: the signed observation that it cites is not valid, .* correct the/);

  answers.set('/t/example.net', { body: good });
  assert.deepEqual(await stateOf(`${mirror}/t/example.net`), [
    'unverified',
    'it is of example.org, but its address asks for example.net',
  ]);
  answers.set(`/t/example.org?as_of=${first}`, { body: good });
  assert.match(
    (await stateOf(`${mirror}/t/example.org?as_of=${first}`)).join(),
    /^unverified,it was observed at .*, after what its address asks for$/,
  );
  answers.set('/t/example.org?as_of=noon', { body: good });
  assert.deepEqual(await stateOf(`${mirror}/t/example.org?as_of=noon`), [
    'unverified',
    'the as_of of its address is not a day or a time',
  ]);

  answers.set('/t/example.org', { body: good });
  const listed = JSON.parse(keys.body);
  const setKeys = (change: object) => {
    const list = { keys: listed.keys.map((key: object) => ({ ...key, ...change })) };
    answers.set('/.well-known/records-keys.json', { body: JSON.stringify(list) });
  };
  setKeys({ retired_at: first });
  assert.match((await stateOf(`${mirror}/t/example.org`)).join(), /^unverified,seq 3: observed at .*was retired at/);
  setKeys({ retired_at: new Date(clock.now).toISOString() });
  assert.deepEqual(await stateOf(`${mirror}/t/example.org`), ['read', null], 'a key that was retired later');
  const other = await recordsStand(t, { DATA_ORIGIN: root, ORIGIN: 'http://papers.example' });
  other.enter(probe('example.org', other.clock.now, { NS }));
  answers.set('/.well-known/records-keys.json', {
    body: (await ask(other.url, '/.well-known/records-keys.json')).text,
  });
  assert.match((await stateOf(`${mirror}/t/example.org`)).join(), /^unverified,seq 3: no key with kid \S+ is known$/);
  answers.delete('/.well-known/records-keys.json');
  assert.deepEqual(await stateOf(`${mirror}/t/example.org`), ['unverified', 'its service lists no keys']);

  const bundle = (
    await ask(url, '/v1/exports/domains/example.org/evidence.json', { 'x-service-key': keyOf('account') })
  ).text;
  for (const query of ['', `?as_of=${first}`]) answers.set(`/files/evidence.json${query}`, { body: bundle });
  const quote = { quote: 'A 192.0.2.1' };
  assert.deepEqual(await stateOf(`${mirror}/files/evidence.json?as_of=${first}`, quote), ['found', null]);
  assert.match(stood.found(`piece-${app.store.desk.nextEvidenceSeq(PAPER) - 1}`).note, /observation sha256:/);
  const alien = (
    await ask(other.url, '/v1/exports/domains/example.org/evidence.json', { 'x-service-key': other.keyOf('account') })
  ).text;
  answers.set('/files/alien.json', { body: alien });
  assert.match((await stateOf(`${mirror}/files/alien.json`)).join(), /^unverified,no key with kid/);
  const cut = JSON.parse(bundle);
  cut.records.shift();
  answers.set('/files/cut.json', { body: JSON.stringify(cut) });
  assert.match((await stateOf(`${mirror}/files/cut.json`)).join(), /^unverified,seq 3: prev is/);

  const cutPiece = `piece-${app.store.desk.nextEvidenceSeq(PAPER) - 1}`;
  assert.throws(() => air(cutPiece), /the signed observation that it cites is not valid/, 'also without a quote');

  const html = { type: 'text/html', body: `<h1>example.org</h1><pre>${good}</pre>` };
  answers.set('/t/example.org', html);
  assert.deepEqual(await stateOf(`${mirror}/t/example.org`), ['read', null], 'a page is a page');
  await pressPapers(app, { cards: false });
  assert.deepEqual(
    (await auditApp(app)).faults.filter((fault) => !fault.includes('wait for the press')),
    [],
  );
});

test('when a hostname changes, the fact is to be revised, with what changed', async (t) => {
  const { app, clock, root, tools, observe, put, air, found, read } = await stand(t);
  const at = observe('example.org');
  put('dated', { instrument: `${root}/t/example.org?as_of=${at}`, quote: QUOTE });
  put('newest', { instrument: `${root}/t/example.org`, claim_key: 'example-servers', quote: 'NS ns1.old.example' });
  for (const slug of ['dated', 'newest']) air(slug);
  await read();
  for (const slug of ['dated', 'newest']) assert.equal(found(slug).state, 'found');
  clock.now += READ_EVERY;
  observe('example.org');
  await read();
  for (const slug of ['dated', 'newest']) assert.equal(found(slug).state, 'found', 'it answers the same');

  clock.now += DAY;
  assert.equal(sourcesOfChanged(app, tools), 0, 'nothing changed');
  observe('example.org', { NS: ['ns1.new.example', 'ns2.new.example'], A: 'servfail' });
  assert.equal(sourcesOfChanged(app, tools), 2);
  assert.equal(sourcesOfChanged(app, tools), 0, 'once for each change');
  await read();
  const changes = ['NS: ns1.old.example, ns2.old.example → ns1.new.example, ns2.new.example'];
  assert.deepEqual([found('dated').state, found('dated').changes], ['changed', changes]);
  assert.equal(found('newest').state, 'quote_not_found');
  assert.match(found('dated').note, new RegExp(`instrument \\S+as_of=${at}\n`));
  const rows = app.store.desk.archive(PAPER).factsToRevise(9);
  assert.deepEqual(rows.map(({ state, changes: what }) => [state, what]).sort(), [
    ['changed', changes],
    ['quote_not_found', changes],
  ]);
  clock.now += DAY;
  observe('example.org');
  await read();
  assert.equal(sourcesOfChanged(app, tools), 2);
  await read();
  for (const slug of ['dated', 'newest']) assert.equal(found(slug).state, 'found', 'it is as it was');
});

test('an observation that becomes a page is one that does not hold', async (t) => {
  const { app, clock, mirror, answers, observe, put, air, found, read, answer } = await stand(t);
  observe('example.org');
  answers.set('/.well-known/records-keys.json', { body: await answer('/.well-known/records-keys.json') });
  answers.set('/t/example.org', { body: await answer('/t/example.org') });
  put('moved', { instrument: `${mirror}/t/example.org`, quote: QUOTE });
  air('moved');
  await read();
  assert.equal(found('moved').state, 'found');
  clock.now += READ_EVERY;
  answers.set('/t/example.org', { type: 'text/html', body: `<p>${QUOTE}` });
  await read();
  const { state, reason, observation } = found('moved');
  assert.deepEqual(
    [state, reason, observation],
    ['unverified', 'it answered a signed observation before, and does not now', undefined],
  );
  const seq = app.store.desk.nextEvidenceSeq(PAPER);
  clock.now += READ_WAITS[0];
  await read();
  assert.equal(app.store.desk.nextEvidenceSeq(PAPER), seq, 'it is said once');
  clock.now += READ_WAITS[1];
  answers.set('/t/example.org', { body: await answer('/t/example.org') });
  await read();
  assert.equal(found('moved').state, 'found', 'it is tried again before a month is over');
});

test('observations move with a ledger', async (t) => {
  const { app, root, observe, put, air, story, read } = await stand(t);
  observe('example.org');
  put('named', { instrument: `${root}/t/example.org`, quote: QUOTE });
  await read();
  air('named');
  const file = `${tempFolder(t)}/ledger.jsonl`;
  await exportLedger(intakeOf(app), file);
  const target = appContextIn(t, tempFolder(t), { now: app.clock.now() });
  await importLedger(intakeOf(target), file);
  const moved = target.store.desk.archive(PAPER).storyBySlug('named') ?? assert.fail();
  assert.deepEqual(moved.evidence, story('named').evidence);
  assert.deepEqual(
    (await auditApp(target)).faults.filter((fault) => !fault.includes('wait for the press')),
    [],
  );
});

test('a revision of a piece that waits for an observation waits for it, too', async (t) => {
  const { root, mirror, answers, observe, put, air, story, read } = await stand(t, { quote_not_found: 'refuse' });
  observe('example.org');
  const instrument = `${root}/t/example.org`;
  put('waits', { instrument });
  assert.equal(air('waits').state, 'scheduled');
  put('waits', { instrument, statement: 'It has two.' });
  assert.deepEqual([story('waits').state, story('waits').awaits_evidence], ['scheduled', true]);
  await read();
  assert.equal(story('waits').state, 'on_air');

  answers.set('/t/example.org', { body: '{"preview": true, "receipt": "domain-observation/v1"}' });
  const strange = { instrument: `${mirror}/t/example.org`, claim_key: 'strange', quote: QUOTE };
  put('first', strange);
  await read();
  const [known] = story('first').evidence;
  assert.equal(known?.state, 'unverified');
  put('second', { instrument });
  assert.equal(air('second').state, 'scheduled');
  put('second', strange);
  assert.deepEqual([story('second').state, story('second').awaits_evidence], ['scheduled', true]);
});

test('what changed stays said while the newest observation cannot be read', async (t) => {
  const { app, clock, root, tools, observe, put, air, found, read } = await stand(t);
  const at = observe('example.org');
  put('dated', { instrument: `${root}/t/example.org?as_of=${at}`, quote: QUOTE });
  air('dated');
  await read();
  clock.now += DAY;
  observe('example.org', { NS: ['ns1.new.example'], A: ['192.0.2.1'] });
  assert.equal(sourcesOfChanged(app, tools), 1);
  await read();
  assert.equal(found('dated').state, 'changed');
  const reader = tools.read;
  const isNewest = (address: string) => address === `${root}/t/example.org`;
  for (const answer of [
    { outcome: 'unread' as const, reason: 'status 429', exchanges: [] },
    { ...(await reader(`${root}/health`)) },
  ]) {
    tools.read = async (address) => (isNewest(address) ? answer : reader(address));
    clock.now += READ_EVERY;
    await read();
    assert.equal(found('dated').state, 'changed', 'nobody knows better');
  }
  const before = app.store.desk.nextEvidenceSeq(PAPER);
  tools.read = reader;
  clock.now += READ_WAITS[1];
  await read();
  assert.equal(app.store.desk.nextEvidenceSeq(PAPER), before + 1, 'it is tried again before a month is over');
});

test('a day that was not over when it was cited is compared with what it said then', async (t) => {
  const { app, clock, root, tools, observe, put, air, found, read } = await stand(t);
  const at = observe('example.org');
  put('today', { instrument: `${root}/t/example.org?as_of=${at.slice(0, 10)}` });
  air('today');
  await read();
  assert.equal(found('today').state, 'read');
  clock.now += HOUR;
  const later = observe('example.org', { NS: ['ns1.new.example'], A: ['192.0.2.1'] });
  assert.equal(later.slice(0, 10), at.slice(0, 10));
  assert.equal(sourcesOfChanged(app, tools), 1);
  await read();
  assert.equal(found('today').state, 'changed');
});

test('an answer of brackets alone ends no process', { skip: ONLY_WIDE }, async () => {
  const instrument = 'https://data.example/t/example.org';
  // JSON of all that a source may have, that becomes more than the heap of the thread.
  const nested = `{"preview":true,"x":${'['.repeat(10_000_000)}${']'.repeat(10_000_000)}}`;
  for (const text of [nested, `{"preview":true,"x":[${'{},'.repeat(6_500_000)}1]}`]) {
    const bytes = Buffer.from(text);
    await assert.rejects(texts.claim({ bytes, instrument }), /more than 2000000 values/);
  }
  const deep = Buffer.from(`{"preview":true,"x":${'['.repeat(1_900_000)}${']'.repeat(1_900_000)}}`);
  assert.deepEqual(await texts.claim({ bytes: deep, instrument }), { signer: null }, 'as many as it takes');
});

test('nobody lends an observation in a bundle the name of another service', async (t) => {
  const { clock, mirror, answers, stateOf, found, root } = await stand(t);
  const forger = await recordsStand(t, { DATA_ORIGIN: root, ORIGIN: 'http://papers.example' });
  forger.enter(probe('example.org', forger.clock.now, { NS }));
  const first = new Date(forger.clock.now).toISOString();
  forger.clock.now += HOUR;
  Object.assign(forger.app.settings, { dataOrigin: mirror });
  forger.enter(probe('example.org', forger.clock.now, { NS }));
  clock.now = forger.clock.now;
  const bundle = await ask(forger.url, '/v1/exports/domains/example.org/evidence.json', {
    'x-service-key': forger.keyOf('account'),
  });
  answers.set('/.well-known/records-keys.json', {
    body: (await ask(forger.url, '/.well-known/records-keys.json')).text,
  });
  for (const query of ['', `?as_of=${first}`]) answers.set(`/bundle.json${query}`, { body: bundle.text });
  assert.deepEqual(await stateOf(`${mirror}/bundle.json`), ['read', null]);
  assert.match((await stateOf(`${mirror}/bundle.json?as_of=${first}`)).join(), /^unverified,no key with kid/);
  answers.set(`/t/example.org?as_of=${first}`, { body: (await ask(forger.url, `/t/example.org?as_of=${first}`)).text });
  assert.deepEqual(await stateOf(`${mirror}/t/example.org?as_of=${first}`), ['read', null]);
  const { key, listed_by } = evidenceRow(found('piece-3'), false, '').observation ?? assert.fail();
  assert.deepEqual([`http://${key}`, `http://${listed_by}`], [`${root}/door`, mirror], 'readers see who lists the key');
});

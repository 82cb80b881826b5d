import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { test } from 'node:test';
import { pino } from 'pino';
import { airStory } from '../../src/desk/airing.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { CLAIM, READ_EVERY, READ_WAITS, readSources } from '../../src/desk/jobs/evidence-job.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { sourceReader } from '../../src/desk/sources/source-reader.ts';
import { textPool } from '../../src/desk/sources/text-pool.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { evidenceIn } from '../../src/proof/evidence-note.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { appContextIn, createPaper, filing, PAPER, type Scope, tempFolder } from '../support/app-context.ts';
import { loopback } from '../support/loopback.ts';
import { START } from '../support/pressed-paper.ts';
import { assertSoundWarc } from '../support/warc.ts';

const logger = pino({ level: 'silent' });
const SAYS = 'The harbour is twelve metres deep, the office said. It was 12 m in 2024.';

/** A paper that reads its sources, and a site whose pages a test changes. */
async function stand(t: Scope, sources: object = {}) {
  const pages = new Map<string, string | number>([['/report', SAYS]]);
  const asked: string[] = [];
  const listener: RequestListener = (request, response) => {
    const page = pages.get(request.url ?? '') ?? 404;
    if (request.url !== '/robots.txt') asked.push(request.url ?? '');
    if (typeof page === 'number') response.writeHead(page).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Report</h1><p>${page}`);
  };
  const { port } = new URL(await loopback(t, createServer(listener)));
  const root = `http://source.example:${port}`;
  const clock = { now: START };
  const app = appContextIn(t, tempFolder(t), clock);
  createPaper(app, { sources: { read: true, quote_not_found: 'warn', republish: false, ...sources } });
  const options = {
    agent: 'test',
    allows: () => true,
    resolve: async () => ['127.0.0.1'],
    hostPause: 0,
    deadline: 2_000,
  };
  const texts = textPool();
  t.after(() => texts.close());
  const tools = { read: sourceReader(options), texts };
  const put = (slug: string, facts: object[], more: object = {}) => {
    const cited_facts = facts.map((fact, at) => ({
      ...{
        n: at + 1,
        statement: 'It was 12 m in 2024.',
        source: `Office ${at}`,
        instrument: `${root}/report`,
        claim_key: null,
      },
      ...fact,
    }));
    const prose = cited_facts.map(({ n }) => `It is so.[^${n}]`).join(' ');
    return fileStory(deskOf(app), PAPER, filing(slug, { prose, cited_facts, ...more }), { by: 'cli' }).story;
  };
  const air = (slug: string) => airStory(deskOf(app), PAPER, slug, { by: 'cli' }).story;
  const story = (slug: string) => app.store.desk.archive(PAPER).storyBySlug(slug) ?? assert.fail(slug);
  const read = () => readSources(app, tools, logger);
  return { app, clock, root, pages, asked, tools, put, air, story, read };
}

const states = ({ evidence }: { evidence: { n: number; state: string }[] }) =>
  evidence.map(({ n, state }) => `${n} ${state}`);
const sound = async (app: AppContext) => {
  await pressPapers(app, { cards: false });
  // The cards wait: drawing them takes seconds.
  assert.deepEqual(
    (await auditApp(app)).faults.filter((fault) => !fault.includes('wait for the press')),
    [],
  );
};

test('what a source says is looked up, signed, and kept', async (t) => {
  const { app, root, asked, put, air, story, read } = await stand(t);
  put('deep', [
    { quote: 'the harbour is twelve metres deep' },
    { quote: 'The harbour is twenty metres deep', statement: 'In 1999 Anna said so.' },
    {},
    { instrument: 'Ledger, page 4', quote: 'not read' },
  ]);
  assert.equal(await read(), 1);
  assert.equal(await read(), 0);
  assert.deepEqual(asked, ['/report'], 'one source is read once for all that cite it');
  const { evidence, id } = story('deep');
  assert.deepEqual(states(story('deep')), ['1 found', '2 quote_not_found', '3 read']);
  const [first, second] = evidence;
  const said = evidenceIn(first?.note ?? '') ?? assert.fail();
  assert.deepEqual(
    [said.subject, said.fact_version, said.instrument, said.status, said.seq],
    [{ piece: id, n: 1 }, 1, `${root}/report`, 200, 1],
  );
  const text = readFileSync(app.store.media.pathOf(said.text ?? ''));
  assert.equal(`${text.subarray(said.quote?.start, said.quote?.end)}`, 'The harbour is twelve metres deep');
  assertSoundWarc(t, readFileSync(app.store.media.pathOf(first?.archive ?? '')), 3);
  assert.deepEqual([second?.nearest?.distance, second?.missing], [3, ['1999', 'Anna']]);
  air('deep');
  await sound(app);
});

test('a source is read again each month, and what changed is said', async (t) => {
  const { app, clock, root, pages, asked, put, air, story, read } = await stand(t);
  put('deep', [{ quote: 'twelve metres deep' }, { source: 'Another' }]);
  put('draft', [{ instrument: `${root}/none` }, { source: 'Another', instrument: 'Ledger, page 4' }]);
  air('deep');
  await read();
  const archives = story('deep').evidence.map(({ archive }) => archive);
  const months: [string | number, string[]][] = [
    [`${SAYS} More.`, ['1 found', '2 changed']],
    ['The harbour is ten metres deep.', ['1 quote_not_found', '2 changed']],
    [410, ['1 gone', '2 gone']],
    [SAYS, ['1 found', '2 read']],
  ];
  for (const [page, expected] of months) {
    clock.now += READ_EVERY;
    pages.set('/report', page);
    await read();
    assert.deepEqual(states(story('deep')), expected);
  }
  assert.deepEqual(asked.toSorted(), ['/none', ...Array(5).fill('/report')], 'what nobody sees is read once');
  assert.ok(
    archives.every((digest) => !existsSync(app.store.media.pathOf(digest ?? ''))),
    'one archive of each is kept',
  );
  const left = story('deep').evidence.map(({ kept_archive }) => existsSync(app.store.media.pathOf(kept_archive ?? '')));
  assert.deepEqual(left, [true, true]);
  await sound(app);
});

test('a source that cannot be read is tried again, and said once', async (t) => {
  const { app, clock, pages, asked, put, air, story, read } = await stand(t);
  pages.set('/report', 503);
  put('deep', [{ quote: 'twelve metres deep' }, {}]);
  air('deep');
  await read();
  assert.deepEqual(
    [states(story('deep')), story('deep').evidence[0]?.reason],
    [['1 unread', '2 unread'], 'status 503'],
  );
  for (const wait of READ_WAITS) {
    clock.now += wait - 1;
    assert.equal(await read(), 0);
    clock.now += 1;
    assert.equal(await read(), 1);
  }
  assert.equal(asked.length, 1 + READ_WAITS.length);
  assert.equal(evidenceIn(story('deep').evidence[1]?.note ?? '')?.seq, 2, 'nothing new was said');
  clock.now += READ_EVERY;
  pages.set('/report', SAYS);
  await read();
  assert.deepEqual(states(story('deep')), ['1 found', '2 read']);
  clock.now += READ_EVERY;
  pages.set('/report', 503);
  await read();
  assert.deepEqual(states(story('deep')), ['1 found', '2 read'], 'a site that is down for an hour is no news');
  await sound(app);
});

test('two processes never read the same twice, and one that dies is followed', async (t) => {
  const { app, clock, asked, tools, put, story } = await stand(t);
  put('deep', [{ quote: 'twelve metres deep' }, {}]);
  let isHeld = true;
  const dies = { ...tools, read: () => new Promise<never>(() => {}) };
  const late = {
    ...tools,
    read: async (address: string) => {
      const reading = await tools.read(address);
      while (isHeld) await new Promise((resolve) => setTimeout(resolve, 5));
      return reading;
    },
  };
  void readSources(app, dies, logger);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(await readSources(app, tools, logger), 0, 'it is being read');
  clock.now += CLAIM;
  const first = readSources(app, late, logger);
  await new Promise((resolve) => setTimeout(resolve, 100));
  clock.now += CLAIM;
  assert.equal(await readSources(app, tools, logger), 1);
  isHeld = false;
  await first;
  assert.deepEqual(asked, ['/report', '/report']);
  assert.equal(evidenceIn(story('deep').evidence[1]?.note ?? '')?.seq, 2, 'one note a reading');
  await sound(app);
});

test('a paper can hold pieces back until their quotes are found', async (t) => {
  const { app, clock, pages, put, air, story, read } = await stand(t, { quote_not_found: 'refuse' });
  put('deep', [{ quote: 'twelve metres deep' }, {}]);
  assert.equal(air('deep').state, 'scheduled');
  assert.equal(story('deep').awaits_evidence, true);
  clock.now += 1_000;
  assert.equal(air('deep').state, 'scheduled', 'it waits still');
  await read();
  assert.deepEqual([story('deep').state, story('deep').awaits_evidence], ['on_air', false]);
  put('deeper', [{ quote: 'twenty metres deep' }, {}]);
  assert.equal(air('deeper').state, 'scheduled');
  await read();
  assert.deepEqual([story('deeper').state, story('deeper').awaits_evidence], ['scheduled', true]);
  clock.now += 1_000;
  assert.throws(
    () => air('deeper'),
    /entry 1: its source does not have its quote, and this paper airs no such piece; correct the quote/,
  );
  put('deeper', [{ quote: 'twelve metres' }, {}]);
  assert.equal(story('deeper').state, 'scheduled');
  await read();
  assert.equal(story('deeper').state, 'on_air');
  put('free', [{ quote: 'twenty metres deep' }, {}]);
  air('free');
  createPaper(app, { sources: { read: true, quote_not_found: 'warn', republish: false } });
  clock.now += 1_000;
  assert.equal(air('free').state, 'on_air', 'the paper has other rules now');
  pages.set('/report', 404);
  await sound(app);
});

test('evidence of a fact of the record is that of its version, for all pieces that cite it', async (t) => {
  const { app, asked, put, air, story, read } = await stand(t, { quote_not_found: 'refuse' });
  const fact = { claim_key: 'harbour-depth', quote: 'twelve metres deep', source: 'Office' };
  put('one', [fact, { source: 'Another' }]);
  put('two', [fact, { source: 'Another' }]);
  for (const slug of ['one', 'two']) assert.equal(air(slug).state, 'scheduled');
  assert.equal(await read(), 1);
  assert.deepEqual(asked, ['/report']);
  for (const slug of ['one', 'two']) {
    assert.deepEqual([story(slug).state, states(story(slug))], ['on_air', ['1 found', '2 read']]);
    assert.deepEqual(evidenceIn(story(slug).evidence[0]?.note ?? '')?.subject, { claim_key: 'harbour-depth' });
  }
  await sound(app);
});

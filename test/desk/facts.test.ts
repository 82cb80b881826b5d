import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { airStory, withdrawStory } from '../../src/desk/airing.ts';
import { airDue, append } from '../../src/desk/append.ts';
import type { FactQuery } from '../../src/desk/fact.ts';
import { fileStory } from '../../src/desk/file-story.ts';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { correctFact, type FactOrder } from '../../src/desk/recording-facts.ts';
import { citedFactRows } from '../../src/desk/story.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import type { CitedFact } from '../../src/proof/basis.ts';
import { verifyNoble } from '../../src/proof/ed25519.ts';
import { factFaults, listedFact } from '../../src/proof/fact-document.ts';
import { loggedEntries } from '../../src/proof/log/logged-entries.ts';
import { leafHash } from '../../src/proof/merkle.ts';
import { type AppContext, deskOf, intakeOf } from '../../src/server/context.ts';
import { type Fault, problemsIn } from '../../src/shared/fault.ts';
import { fillLogs } from '../../src/signing/log/log-fill.ts';
import { appContextIn, createPaper, filing, PAPER, tempFolder } from '../support/app-context.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;
const DESK = { by: 'cli' };
const KEY = 'harbour-tonnage-2025';
const OTHER = { n: 2, statement: 'Another is so.', source: 'NIST', instrument: 'FIPS 180-4', claim_key: null };

/** An entry of a piece, and its text. */
const entry = (more: Partial<CitedFact> = {}): CitedFact => ({
  n: 1,
  statement: 'The port moved 41 million tonnes in 2025.',
  source: 'Port Authority',
  instrument: 'https://port.example/2025',
  claim_key: KEY,
  ...more,
});
const alone = (claim_key = KEY) => entry({ statement: '', source: '', instrument: '', claim_key });
const citing = (slug: string, fact = entry(), more = {}) => filing(slug, { cited_facts: [fact, OTHER], ...more });

function desk(t: TestContext, body = {}) {
  const folder = tempFolder(t);
  const clock = { now: NOON };
  const app = appContextIn(t, folder, clock);
  createPaper(app, body);
  const archive = app.store.desk.archive(PAPER);
  const story = (slug: string) => archive.storyBySlug(slug) ?? assert.fail(`there is no ${slug}`);
  const file = (slug: string, fact?: CitedFact, more = {}) =>
    fileStory(deskOf(app), PAPER, citing(slug, fact, more), DESK);
  const air = (slug: string, at?: number) =>
    airStory(deskOf(app), PAPER, slug, { ...DESK, ...(at === undefined ? {} : { at }) });
  const correct = (order: Partial<FactOrder>, key = KEY) =>
    correctFact(deskOf(app), PAPER, key, { version: 1, note: 'It was a misprint.', ...order, ...DESK });
  const list = (query: Partial<FactQuery> = {}) => archive.facts({ limit: 10, isCited: false, ...query });
  return { folder, clock, app, archive, story, file, air, correct, list };
}

/** The fields and rules of the problems with which something is refused. */
function rulesOf(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    return (problemsIn(error as Fault) ?? []).map(({ field, rule }) => `${field} ${rule}`);
  }
  return [];
}

const faultsOf = async (app: AppContext) =>
  (await auditApp(app)).faults.filter((fault) => !fault.includes('stale files wait'));
const isLogged = (app: AppContext, note: string) =>
  loggedEntries(note).map((text) => app.store.database.log.indexOf('desk', leafHash(text)) !== null);

suite('the fact record', () => {
  test('a new key makes a fact, a known one must say the same, and a key alone takes the rest', async (t) => {
    const { app, archive, story, file, correct, list } = desk(t);
    file('tide', entry({ quote: '41 million tonnes' }));
    const { id: _id, ...fact } = archive.fact(KEY) ?? assert.fail('there is no fact');
    assert.deepEqual(fact, {
      ...{ claim_key: KEY, version: 1, statement: entry().statement, source: 'Port Authority', note: null, cited: 0 },
      ...{ changed_at: null, changed_note: null },
      ...{ instrument: 'https://port.example/2025', quote: '41 million tonnes', status: 'standing', signed_at: NOON },
    });
    file('quay', alone());
    assert.deepEqual(story('quay').cited_facts[0], entry({ quote: '41 million tonnes' }));
    assert.deepEqual(story('quay').citations, [{ claim_key: KEY, version: 1, newest: 1, since: null }]);
    assert.deepEqual(
      rulesOf(() => file('pier', entry({ statement: 'It moved 42.', quote: '42' }))),
      ['cited_facts[0].statement fact_differs', 'cited_facts[0].quote fact_differs'],
    );
    assert.equal(archive.hasSlug('pier'), false);
    assert.deepEqual(
      rulesOf(() => file('pier', alone('no-such-fact'))),
      ['cited_facts[0].claim_key unknown_fact'],
    );

    const { fact: corrected, outdated } = correct({ statement: 'It moved 42.' });
    assert.deepEqual([corrected.version, corrected.status], [2, 'corrected']);
    assert.deepEqual(outdated.map(({ slug, version }) => [slug, version]).sort(), [
      ['quay', 1],
      ['tide', 1],
    ]);
    assert.deepEqual(story('tide').citations, [{ claim_key: KEY, version: 1, newest: 2, since: 'corrected' }]);
    assert.deepEqual(citedFactRows(story('tide'), { root: 'https://ledger.example', republishes: false }), [
      {
        ...entry({ quote: '41 million tonnes' }),
        ...{ fact_url: `https://ledger.example/facts/${KEY}/`, fact_status: 'corrected' },
      },
      OTHER,
    ]);
    assert.equal(story('tide').cited_facts[0]?.statement, entry().statement, 'what was filed stays');
    assert.deepEqual(
      rulesOf(() => file('tide', entry(), { dek: 'Another dek.' })),
      ['cited_facts[0].statement fact_differs'],
    );
    assert.equal(
      file('tide', entry({ quote: '41 million tonnes' })).changed,
      false,
      'what was filed may be filed again',
    );
    assert.equal(file('quay', alone()).changed, false, 'and a key alone is what was filed with it');
    file('quay', alone(), { dek: 'Another dek.' });
    assert.deepEqual(story('quay').citations, [{ claim_key: KEY, version: 2, newest: 2, since: null }]);
    assert.deepEqual(
      list().map(({ claim_key, version }) => [claim_key, version]),
      [[KEY, 2]],
    );

    const keys = archive.keys();
    const versions = archive.factVersions(KEY).map((one) => listedFact(one, one.receipt, keys));
    assert.deepEqual(factFaults({ fact: versions[1], versions }, verifyNoble), []);
    assert.deepEqual(await faultsOf(app), []);
  });

  test('two entries with one key say the same, in a piece as across pieces', (t) => {
    const { archive, app } = desk(t);
    const file = (second: Partial<CitedFact>) =>
      fileStory(deskOf(app), PAPER, filing('tide', { cited_facts: [entry(), entry({ n: 2, ...second })] }), DESK);
    assert.deepEqual(
      rulesOf(() => file({ source: 'Harbour Board' })),
      ['cited_facts[1].source fact_differs'],
    );
    assert.equal(archive.fact(KEY), null);
    file({});
    assert.equal(archive.fact(KEY)?.version, 1);
  });

  test('keys that look alike are one, or none', (t) => {
    const { archive, file } = desk(t);
    const told = (claim_key: string) => {
      try {
        file('tide', entry({ claim_key }));
        return null;
      } catch (error) {
        const [problem] = problemsIn(error as Fault) ?? [];
        return [problem?.rule, /write ("[^"]*")/.exec(problem?.message ?? '')?.[1] ?? null];
      }
    };
    const named = ['claim_key_form', JSON.stringify(KEY)];
    for (const key of [
      'Harbour-Tonnage-2025',
      'ｈarbour-tonnage-２０２５',
      'harbour_tonnage 2025',
      'harbour--tonnage-2025',
    ])
      assert.deepEqual(told(key), named, key);
    for (const key of ['h\u0430rbour-tonnage', '-', 'a'.repeat(81), 'harbour/\u202etonnage\u202c.', '港'])
      assert.equal(told(key)?.[0], 'claim_key_form', key);
    assert.equal(told('h\u0430rbour-tonnage')?.[1], null, 'a Cyrillic letter stands for no other');
    assert.equal(archive.fact(KEY), null);
    assert.equal(told('a'.repeat(80)), null);
  });

  test('a retraction takes what cites the fact off the schedule, and nothing is filed or aired with it', async (t) => {
    const { clock, app, story, file, air, correct } = desk(t);
    file('tide');
    file('quay');
    file('pier');
    air('tide');
    air('quay', NOON + HOUR);
    assert.deepEqual(
      correct({ status: 'retracted', note: 'The table was withdrawn.' }).unscheduled.map(({ slug }) => slug),
      ['quay'],
    );
    clock.now += 2 * HOUR;
    app.store.database.transact(() => airDue(app.store.desk, clock.now));
    const { state, reason } = story('quay');
    assert.deepEqual([state, reason], ['draft', `It cites ${KEY}, which was retracted: The table was withdrawn.`]);
    assert.equal(story('tide').citations[0]?.since, 'retracted');
    assert.deepEqual(
      rulesOf(() => air('pier')),
      ['cited_facts[0].claim_key fact_retracted'],
    );
    assert.deepEqual(
      rulesOf(() => file('mole')),
      ['cited_facts[0].claim_key fact_retracted'],
    );
    correct({ version: 2, status: 'standing', note: 'The table is back.' });
    assert.deepEqual(story('tide').citations[0], { claim_key: KEY, version: 1, newest: 3, since: null });
    air('pier');
    assert.deepEqual(await faultsOf(app), []);
  });

  test('a long retraction is not cut within a character', async (t) => {
    const { app, story, file, air, correct } = desk(t);
    file('tide');
    for (const [version, pad] of [
      [1, ''],
      [3, 'x'],
    ] as const) {
      air('tide', NOON + version * HOUR);
      correct({ version, status: 'retracted', note: `${pad}${'😀'.repeat(999)}` });
      assert.equal(story('tide').state, 'draft');
      correct({ version: version + 1, status: 'standing', note: 'It is back.' });
    }
    assert.deepEqual(await faultsOf(app), []);
  });

  test('an order against another version, without change or with half a change is refused', (t) => {
    const { file, correct } = desk(t);
    file('tide');
    assert.throws(() => correct({ version: 2, statement: 'x' }), { code: 'conflict' });
    assert.throws(() => correct({}, 'no-such-fact'), { code: 'not_found' });
    assert.deepEqual(
      rulesOf(() => correct({ statement: entry().statement })),
      ['statement nothing_changed'],
    );
    assert.deepEqual(
      rulesOf(() => correct({ status: 'standing', statement: 'x' })),
      ['status statement_changed'],
    );
    assert.deepEqual(
      rulesOf(() => correct({ status: 'retracted', statement: 'x' })),
      ['statement statement_changed'],
      'else it could stand again as x, and no piece would say so',
    );
    assert.deepEqual(
      rulesOf(() => correct({ instrument: 'javascript:alert(1)' })),
      ['instrument unsafe_link'],
    );
    assert.equal(correct({ status: 'standing', instrument: 'https://port.example/2025.pdf' }).fact.version, 2);
  });

  test('the log has a fact verbatim while a piece on air in public cites it, and its hash before', async (t) => {
    const { app, archive, story, file, air, correct, list } = desk(t);
    const notes = () => archive.factVersions(KEY).map(({ receipt }) => isLogged(app, receipt));
    file('tide');
    correct({ statement: 'It moved 42.' });
    assert.deepEqual(notes(), [
      [false, true],
      [false, true],
    ]);
    air('tide');
    assert.deepEqual(notes(), [
      [true, true],
      [true, true],
    ]);
    correct({ version: 2, statement: 'It moved 43.' });
    assert.deepEqual(notes()[2], [true, false]);
    assert.equal(list({ isCited: true }).length, 1);
    withdrawStory(deskOf(app), PAPER, 'tide', { ...DESK, reason: 'It was wrong.' });
    assert.equal(list({ isCited: true }).length, 0);
    correct({ version: 3, statement: 'It moved 44.' });
    assert.deepEqual(notes()[3], [false, true]);
    assert.equal(story('tide').state, 'withdrawn');
    assert.deepEqual(await faultsOf(app), []);
  });

  test('records are per paper, and public when the paper is', async (t) => {
    const { app, archive, clock, file, air } = desk(t, { paper_public: false });
    file('tide');
    air('tide');
    const [note = ''] = archive.factVersions(KEY).map(({ receipt }) => receipt);
    assert.deepEqual(isLogged(app, note), [false, true]);
    const paper = { ...archive.paper(), paper_public: true };
    const { slug: _slug, edition: _edition, changed_at: _at, ...body } = paper;
    append(app.store.desk, { type: 'record', at: clock.now, paper: PAPER, kind: 'paper', name: '', body });
    assert.deepEqual(isLogged(app, note), [true, true]);
    assert.equal(app.store.desk.archive('another').fact(KEY), null);
    assert.deepEqual(await faultsOf(app), []);
  });

  test('lists select by words, publisher and status, newest first', (t) => {
    const { archive, file, air, correct, list } = desk(t);
    const names = (query: Partial<FactQuery>) => list(query).map(({ claim_key }) => claim_key);
    file('tide');
    file('quay', entry({ claim_key: 'ferries', statement: 'Two ferries sail.', source: 'PORT  authority' }));
    file('pier', entry({ claim_key: 'stones', statement: 'The pier has 900 stones.', source: 'Museum' }));
    air('quay');
    air('pier');
    correct({ status: 'retracted' }, 'stones');
    assert.deepEqual(names({}), ['stones', 'ferries', KEY]);
    assert.deepEqual(names({ limit: 1, after: list()[0]?.id }), ['ferries']);
    assert.deepEqual(names({ isCited: true }), ['stones', 'ferries']);
    assert.deepEqual(names({ source: 'port authority' }), ['ferries', KEY]);
    assert.deepEqual(names({ status: 'retracted' }), ['stones']);
    assert.deepEqual(names({ terms: ['ferr'], isCited: true, source: 'Port Authority' }), ['ferries']);
    assert.deepEqual(names({ terms: ['900', 'museum'] }), ['stones']);
    assert.deepEqual(
      archive.factSources().map(({ source, facts, citations }) => [source, facts, citations]),
      [
        ['Museum', 1, 1],
        ['PORT  authority', 1, 1],
      ],
    );
    assert.deepEqual(
      archive.citedBy('ferries', 'on_air').map(({ slug, version }) => [slug, version]),
      [['quay', 1]],
    );
    const like = archive.factsLike({ statement: 'Of the pier, 900 stones remain.', instrument: 'A book' });
    assert.deepEqual(like, [], 'nothing is like what was retracted');
  });

  test('an export carries the facts, and an import checks them', async (t) => {
    const { folder, app, archive, clock, file, air, correct, story } = desk(t);
    file('tide', entry({ quote: '41 million tonnes' }));
    air('tide');
    correct({ statement: 'It moved 42.' });
    const out = join(folder, 'ledger.jsonl');
    await exportLedger(intakeOf(app), out);
    const other = appContextIn(t, join(folder, 'other'), clock);
    await importLedger(intakeOf(other), out);
    const copy = other.store.desk.archive(PAPER);
    assert.deepEqual(copy.factVersions(KEY), archive.factVersions(KEY));
    assert.deepEqual(copy.storyBySlug('tide'), story('tide'));
    assert.deepEqual(await faultsOf(other), []);
    const lines = readFileSync(out, 'utf8').split('\n');
    const forged = lines.map((line) => line.replace('"statement":"It moved 42."', '"statement":"It moved 52."'));
    assert.notDeepEqual(forged, lines);
    writeFileSync(out, forged.join('\n'));
    const third = appContextIn(t, join(folder, 'third'), clock);
    await assert.rejects(
      importLedger(intakeOf(third), out),
      /version 2 of harbor-ledger\/harbour-tonnage-2025: fact_hash/,
    );
  });

  test('an export of an earlier version has its facts, and one from before there were any cites none', async (t) => {
    const { folder, app, archive, clock, file, air, correct } = desk(t);
    file('tide');
    air('tide');
    correct({ statement: 'It moved 42.' });
    file('quay', alone());
    const out = join(folder, 'ledger.jsonl');
    await exportLedger(intakeOf(app), out);
    const lines = readFileSync(out, 'utf8').trimEnd().split('\n');
    const isOfLog = (line: string): boolean => /^\{"type":"(?:log-key|leaf|head|cosignature)"/.test(line);
    const isFact = (line: string): boolean => line.startsWith('{"type":"record"') && line.includes('"kind":"fact"');
    const before = (line: string, names: string[]): string => {
      const entry = JSON.parse(line);
      if (entry.type === 'generation') for (const name of names) delete entry.piece[name];
      return JSON.stringify(entry);
    };
    const since4 = ['provenance', 'aliases'];
    const since3 = [...since4, 'authors'];
    const since1 = [...since3, 'written_by', 'tags'];
    const imported = async (version: number, kept: string[]) => {
      const body = [JSON.stringify({ type: 'ledger', version }), ...kept.slice(1, -1)];
      const text = `${body.join('\n')}\n`;
      const entries = body.filter((line) => !isOfLog(line) && !/^\{"type":"(?:ledger|media-part)"/.test(line)).length;
      const end = { type: 'end', entries, sha256: createHash('sha256').update(text).digest('hex') };
      writeFileSync(out, `${text}${JSON.stringify(end)}\n`);
      const other = appContextIn(t, join(folder, `version-${version}-${kept.length}`), clock);
      await importLedger(intakeOf(other), out);
      fillLogs(other.store);
      assert.deepEqual(await faultsOf(other), [], `version ${version}`);
      return other;
    };
    for (const [version, names] of [
      [4, since4],
      [3, since3],
      [1, since1],
    ] as const) {
      const kept = lines.filter((line) => version > 1 || !isOfLog(line));
      const other = await imported(
        version,
        kept.map((line) => before(line, names)),
      );
      const copy = other.store.desk.archive(PAPER);
      assert.deepEqual(copy.fact(KEY), archive.fact(KEY));
      assert.deepEqual(copy.factVersions(KEY), archive.factVersions(KEY));
      assert.deepEqual(copy.storyBySlug('quay')?.citations, archive.storyBySlug('quay')?.citations);
      for (const { receipt } of copy.factVersions(KEY)) assert.equal(isLogged(other, receipt)[0], true);
    }

    const old = lines.filter((line) => !isOfLog(line) && !isFact(line)).map((line) => before(line, since1));
    const other = await imported(1, old);
    const copy = other.store.desk.archive(PAPER);
    assert.deepEqual([copy.fact(KEY), copy.storyBySlug('tide')?.citations], [null, []]);
    other.signer.open();
    fileStory(deskOf(other), PAPER, citing('mole', entry({ statement: 'It moved 40.' })), DESK);
    assert.deepEqual([copy.fact(KEY)?.version, copy.storyBySlug('tide')?.citations], [1, []]);
    assert.deepEqual(await faultsOf(other), []);
  });
});

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type MonitorRun, monitor } from '../../../src/operate/audit/monitor/monitor.ts';
import { sha256 } from '../../../src/proof/basis.ts';
import { clockText } from '../../../src/proof/clock-note.ts';
import { type Evidence, evidenceText } from '../../../src/proof/evidence-note.ts';
import { type FactNote, factText } from '../../../src/proof/fact-note.ts';
import { thumbprint } from '../../../src/proof/keyring.ts';
import { readPolicy } from '../../../src/proof/log/node-crypto.ts';
import { signNote } from '../../../src/proof/signing.ts';
import { HOUR, isoTime } from '../../../src/proof/time.ts';
import { tempFolder } from '../../support/app-context.ts';
import { DeskLog, deskSigner, fileSite, START } from '../../support/desk-log.ts';
import { ed25519Witness } from '../../support/log.ts';
import { LoggedPaper } from '../../support/logged-paper.ts';
import { run } from '../../support/program.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

interface Watch {
  paper: LoggedPaper;
  state: string;
  clock: { now: number };
  look(sites?: string[]): Promise<MonitorRun>;
}

async function watch(t: TestContext, policy?: string): Promise<Watch> {
  const paper = new LoggedPaper(await fileSite(t));
  paper.log.addKey();
  const state = join(tempFolder(t), 'state.json');
  const clock = { now: START + 24 * HOUR };
  const look = (sites = [paper.url]) => {
    const trusted = readPolicy(policy ?? `log ${paper.log.vkey}\nquorum none\n`);
    return monitor({ sites, policy: trusted, file: state, now: () => clock.now++ });
  };
  return { paper, state, clock, look };
}

/** A paper with three stories that a monitor has found in order. */
async function watched(t: TestContext): Promise<Watch> {
  const all = await watch(t);
  for (const slug of ['ebb', 'flood', 'slack']) all.paper.publish(slug);
  all.paper.publish('ebb', { headline: 'What the ebb really means' });
  all.paper.publishLog();
  assertQuiet(await all.look());
  return all;
}

function assertQuiet({ findings, unchecked }: MonitorRun): void {
  assert.deepEqual([findings, unchecked], [[], []]);
}

function assertFound(one: MonitorRun, kind: string, where: RegExp, what: RegExp): void {
  assert(
    one.findings.some((finding) => finding.kind === kind && where.test(finding.where) && what.test(finding.what)),
    JSON.stringify([one.findings, one.unchecked], null, 2),
  );
}

test('a growing log is sound, and only the new leaves are read', async (t) => {
  const { paper, look } = await watched(t);
  const first = await look();
  assertQuiet(first);
  assert.deepEqual([first.leaves_read, first.pages_read, first.log?.size], [0, 3, 5]);
  for (let number = 0; number < 300; number++)
    paper.log.append([`receipt-hash/v1\nsha256:${`${number}`.padStart(64, '0')}\n`]);
  paper.publish('neap');
  paper.publishLog();
  paper.site.asked.length = 0;
  const second = await look([paper.site.url]);
  assertQuiet(second);
  assert.deepEqual([second.leaves_read, second.pages_read, second.log?.size], [301, 4, 306]);
  const again = await look([paper.url, paper.site.url]);
  assertQuiet(again);
  assert.deepEqual([again.leaves_read, again.pages_read], [0, 4]);
});

test('a log rewritten under its own key is a fork at any size', async (t) => {
  for (const more of [0, 1, 300]) {
    const { paper, look, state } = await watched(t);
    const before = readFileSync(state, 'utf8');
    const { log } = paper;
    paper.log = new DeskLog();
    paper.log.append(log.entries.slice(0, 1));
    // Yesterday's second story says something else.
    paper.log.seq = 1;
    paper.log.append([log.entries[1] ?? '', paper.log.receipt('flood'), ...log.entries.slice(3)]);
    for (let number = 0; number < more; number++)
      paper.log.append([`receipt-hash/v1\nsha256:${`${number}`.padStart(64, '0')}\n`]);
    paper.publishLog();
    const one = await look();
    assertFound(
      one,
      'fork',
      /^papers\.example\/log$/,
      /^the first 5 leaves are not those that the log had at 2026-06-02T/,
    );
    assert.equal(one.findings.length, 1);
    assert.equal(readFileSync(state, 'utf8'), before, 'the state goes on saying what the log was');
  }
});

test('a log restored from an older copy has shrunk', async (t) => {
  const { paper, look } = await watched(t);
  paper.publishLog(paper.log.checkpoint(3));
  assertFound(await look(), 'shrunken', /^papers\.example\/log$/, /^the log had 5 leaves at \S+, and has 3 now$/);
});

test('two receipts for one revision or one number are found, also across runs, and stay found', async (t) => {
  const { paper, look } = await watched(t);
  paper.log.publish('flood');
  paper.log.publish('other', { seq: 2 });
  paper.publishLog();
  const one = await look();
  assertFound(
    one,
    'two-receipts',
    /log leaf 5$/,
    /^leaf 2 is another receipt for revision 1 of piece flood in tide-table$/,
  );
  assertFound(one, 'two-receipts', /log leaf 6$/, /^leaf 2 is another receipt for no\. 2 of tide-table$/);
  assert.deepEqual((await look()).findings, one.findings);
});

const KEY_CASES: [claim: string, work: (log: DeskLog) => void, what: RegExp][] = [
  [
    'a key that was never logged',
    (log) => void log.publish('a', {}, deskSigner(12)),
    /names key "\S+", which no earlier leaf announces$/,
  ],
  [
    'a signature by another key than the named one',
    (log) => void log.publish('a', { kid: log.kid }, deskSigner(12)),
    /is not signed by the key that it names/,
  ],
  [
    'a receipt from before its key',
    (log) => void log.publish('a', { filed_at: '2026-05-01T00:00:00.000Z' }),
    /was filed at 2026-05-01\S+, but its key was in use only from/,
  ],
  [
    'a receipt by a retired key',
    (log) => {
      log.retireKey();
      log.publish('a');
    },
    /but its key was retired at/,
  ],
  [
    'a retirement that was back-dated',
    (log) => log.retireKey(log.kid, START + 60_000),
    /it retires key \S+ from 2026-06-01T00:01:00.000Z, but a receipt by it is of/,
  ],
  ['a key announced twice', (log) => log.addKey(log.signer, START - 1), /announces key \S+ a second time/],
  [
    'the end of a key that never began',
    (log) => log.retireKey('A'.repeat(43)),
    /retires key A+, which no leaf announces/,
  ],
];

for (const [claim, work, what] of KEY_CASES) {
  test(`a monitor finds ${claim}`, async (t) => {
    const { paper, look } = await watched(t);
    work(paper.log);
    paper.publishLog();
    assertFound(await look(), 'key', /log leaf \d+$/, what);
  });
}

test('versions of facts and evidence are held to the rules of receipts', async (t) => {
  const { paper, look } = await watch(t);
  const { log } = paper;
  paper.publish('ebb');
  const at = (minutes: number) => isoTime(START + minutes * 60_000);
  const fact = (version: number, seq: number, more: Partial<FactNote> = {}, signer = log.signer) => {
    const prev = version === 1 ? null : sha256('the version before');
    const of = { paper: 'tide-table', claim_key: 'tide', fact_hash: sha256(`version ${version}`), signed_by: 'cli' };
    const kid = thumbprint(signer.publicKey);
    return signNote(factText({ ...of, version, prev, seq, signed_at: at(seq), kid, ...more }), signer);
  };
  const evidence = (seq: number, more: Partial<Evidence> = {}, signer = log.signer) => {
    const of = {
      paper: 'tide-table',
      subject: { claim_key: 'tide' },
      fact_version: 1,
      instrument: 'https://a.example/',
    };
    const read = { read_at: at(seq), status: 'gone' as const, body: null, text: null, quote: null };
    return signNote(evidenceText({ ...of, ...read, seq, kid: thumbprint(signer.publicKey), ...more }), signer);
  };
  const correction = (true_time: string, seqs = { first: 1, last: 3 }) =>
    signNote(
      clockText({ service: 'desk', paper: 'tide-table', of: 'facts', seqs, true_time, kid: log.kid }),
      log.signer,
    );
  log.append([fact(1, 1), fact(2, 2), evidence(1), fact(1, 3, { claim_key: 'ebb' }), evidence(2)]);
  log.append([correction(at(30))]);
  paper.publishLog();
  const sound = await look();
  assertQuiet(sound);
  assert.match(
    sound.corrections.join(),
    /tide-table: versions of facts 1 to 3 are of .*, whatever later time they say/,
  );

  const stranger = deskSigner(12);
  const cases: [entry: string, kind: string, what: RegExp][] = [
    [
      fact(2, 4, { fact_hash: sha256('another') }),
      'two-receipts',
      /another receipt for version 2 of the fact tide in tide-table/,
    ],
    [fact(3, 2), 'two-receipts', /another receipt for no\. 2 of the facts of tide-table/],
    [fact(4, 9, {}, stranger), 'key', /version 4 of the fact tide in tide-table names key .*, which no earlier leaf/],
    [fact(5, 10, { kid: log.kid }, stranger), 'key', /version 5 .* is not signed by the key that it names/],
    [
      fact(6, 11, { signed_at: isoTime(START - 1) }),
      'key',
      /version 6 .* was signed at .*, but its key was in use only from/,
    ],
    [evidence(2, { read_at: at(7) }), 'two-receipts', /another receipt for no\. 2 of the readings of tide-table/],
    [evidence(3, {}, stranger), 'key', /no\. 3 of the readings of tide-table names key/],
    [evidence(4, { kid: log.kid }, stranger), 'key', /no\. 4 .* is not signed by the key that it names/],
    [evidence(5, { read_at: isoTime(START - 1) }), 'key', /no\. 5 .* was made at .*, but its key was in use only from/],
    [fact(7, 12).replace('fact_hash sha256:', 'fact_hash sha512:'), 'leaf', /it is not a signed version of a fact/],
    [evidence(6).replace('status gone', 'status 404'), 'leaf', /it is not signed evidence/],
    [correction(at(30)).replace('fact_seq 1-3', 'fact_seq 3-1'), 'leaf', /it is not a signed correction/],
  ];
  log.append(cases.map(([entry]) => entry));
  paper.publishLog();
  const one = await look();
  for (const [, kind, what] of cases) assertFound(one, kind, /./, what);
  assert.equal(one.findings.length, cases.length, JSON.stringify(one.findings, null, 2));
});

test('a key that follows another by the rules is in order', async (t) => {
  const { paper, look } = await watched(t);
  const old = paper.log.kid;
  paper.log.seq++;
  paper.log.addKey(deskSigner(12));
  paper.log.retireKey(old);
  paper.publish('neap');
  paper.publish('ebb');
  paper.publishLog();
  assertQuiet(await look());
});

test('a malformed leaf is found', async (t) => {
  const { paper, look } = await watched(t);
  paper.log.append(['gossip/v1\n']);
  paper.publishLog();
  assertFound(await look(), 'leaf', /leaf 5$/, /no kind of leaf/);
});

test('an unlogged page is found once the log is late, or immediately when it contradicts the log', async (t) => {
  const { paper, look, clock } = await watched(t);
  paper.publish('secret', {}, { isLogged: false });
  const first = await look();
  assertQuiet(first);
  assert.equal(first.pages_waiting, 1);
  clock.now += HOUR;
  assertFound(
    await look(),
    'unlogged',
    /stories\/secret\/$/,
    /^the receipt for revision 1 is not a leaf of the log, and the page has existed since/,
  );
  paper.remove('secret');
  paper.publish('lie', {}, { isLogged: false });
  paper.press('lie', { origin: 'papers.example/log', index: 4, tlog_proof: '' });
  assertFound(await look(), 'unlogged', /stories\/lie\/$/, /is not a leaf/);
});

test('a story that was changed without a new revision is found', async (t) => {
  const { paper, look } = await watched(t);
  const { files } = paper.site;
  const proof = 'tide-table/stories/flood/proof.json';
  const page = 'tide-table/stories/flood/';
  const kept = [String(files.get(proof)), String(files.get(page))];
  // Only the page.
  files.set(page, (kept[1] ?? '').replace('One thing', 'No thing'));
  assertFound(await look(), 'altered', /stories\/flood\/$/, /^the page does not show the text that was signed$/);
  // Page and proof, with the old receipt.
  files.set(proof, (kept[0] ?? '').replace('One thing', 'No thing'));
  assertFound(await look(), 'altered', /stories\/flood\/$/, /^content_hash is not the hash of basis/);
  // All of it, and signed again.
  paper.remove('flood', { forgets: true });
  paper.publish('flood', { headline: 'Nothing happened' }, { isLogged: false, receipt: { seq: 2 } });
  assertFound(
    await look(),
    'unlogged',
    /stories\/flood\/$/,
    /^it shows another receipt for revision 1 than leaf 2 of the log$/,
  );
});

test('a page that disappears without a withdrawal leaf is found', async (t) => {
  const { paper, look } = await watched(t);
  paper.remove('flood');
  const one = await look();
  assertFound(
    one,
    'gone',
    /stories\/flood\/$/,
    /^the page was there at \S+ and is gone, and no leaf withdraws piece flood of tide-table$/,
  );
  assert.deepEqual((await look()).findings, one.findings, 'it stays found');
  paper.log.withdraw('flood');
  paper.publishLog();
  assertQuiet(await look());
  assert.equal((await look()).pages_read, 2);
  // A withdrawal counts once.
  paper.publish('flood');
  paper.publishLog();
  assertQuiet(await look());
  paper.remove('flood');
  assertFound(await look(), 'gone', /stories\/flood\/$/, /no leaf withdraws/);
});

test('a story replaced by another without a withdrawal leaf is found', async (t) => {
  const { paper, look } = await watched(t);
  const { files } = paper.site;
  for (const name of ['', 'proof.json']) {
    files.set(`tide-table/stories/flood/${name}`, files.get(`tide-table/stories/slack/${name}`) ?? assert.fail());
  }
  const one = await look();
  assertFound(
    one,
    'gone',
    /stories\/flood\/$/,
    /^the page showed piece flood of tide-table at \S+ and shows piece slack now, and no leaf withdraws piece flood/,
  );
  assert.deepEqual((await look()).findings, one.findings, 'it stays found');
  paper.log.withdraw('flood');
  paper.publishLog();
  assertQuiet(await look());
  assertQuiet(await look());
});

test('a story whose newest revision was retracted, or that has no proof, counts as unchecked', async (t) => {
  const { paper, look } = await watched(t);
  const { files } = paper.site;
  const kept = ['', 'proof.json'].map((name) => [name, files.get(`tide-table/stories/flood/${name}`)] as const);
  paper.publish('flood', { headline: 'A correction' });
  paper.publishLog();
  assertQuiet(await look());
  for (const [name, file] of kept) files.set(`tide-table/stories/flood/${name}`, file ?? assert.fail());
  const back = await look();
  assert.deepEqual(back.findings, []);
  assert.match(
    back.unchecked.join('\n'),
    /^\S+flood\/ shows revision 1, and the log has revision 2; a cache may be late$/,
  );
  paper.press('flood');
  assertQuiet(await look());
  paper.publish('bare', {}, { isLogged: false });
  files.delete('tide-table/stories/bare/proof.json');
  const bare = await look();
  assert.deepEqual(bare.findings, []);
  assert.match(bare.unchecked.join('\n'), /^\S+bare\/ is there, and its proof\.json is not$/);
});

test('a site cannot keep a monitor from its stories with addresses of nothing, or by listing them no more', {
  skip: ONLY_WIDE,
}, async (t) => {
  const { paper, look } = await watched(t);
  const { files } = paper.site;
  const list = 'tide-table/sitemaps/2026-06.xml';
  const listed = String(files.get(list)).match(/<loc>[^<]*<\/loc>/g) ?? [];
  const nothing = (run: number) =>
    Array.from({ length: 600 }, (_, at) => `<loc>${paper.address(`${run}-${at}`)}</loc>`);
  files.set('tide-table/stories/flood/', '<h1>Something else</h1>');
  files.set(list, `<urlset>${[...nothing(1), ...listed].join('')}</urlset>`);
  assertFound(await look(), 'altered', /stories\/flood\/$/, /does not show/);
  files.set(list, `<urlset>${nothing(2).join('')}</urlset>`);
  assertFound(await look(), 'altered', /stories\/flood\/$/, /does not show/);
});

test('a host that lists its papers no more has not been checked', async (t) => {
  const { paper, look } = await watched(t);
  const sites = [paper.site.url];
  assertQuiet(await look(sites));
  for (const robots of ['User-agent: *\n', null]) {
    if (robots === null) paper.site.files.delete('robots.txt');
    else paper.site.files.set('robots.txt', robots);
    const one = await look(sites);
    assert.deepEqual([one.findings, one.pages_read], [[], 3]);
    assert.match(one.unchecked.join('\n'), /^\S+:\d+\/sitemap\.xml answered 404/);
  }
});

test('a page that is gone is found, even with Retry-After', async (t) => {
  const { paper, look } = await watched(t);
  paper.site.files.set('tide-table/stories/flood/proof.json', (response) => {
    response.writeHead(404, { 'retry-after': '60' }).end();
  });
  assertFound(await look(), 'gone', /stories\/flood\/$/, /no leaf withdraws/);
});

test('a log without its quorum, or by another key, has not been checked', async (t) => {
  const witness = ed25519Witness('witness.example', 5);
  const log = new DeskLog();
  const { paper, look, state } = await watch(t, `log ${log.vkey}\nwitness w1 ${witness.vkey}\nquorum w1\n`);
  paper.publish('ebb');
  paper.publishLog();
  const one = await look();
  assert.deepEqual(one.findings, []);
  assert.match(one.unchecked.join('\n'), /has not the quorum "w1"/);
  assert(!existsSync(state));
  paper.publishLog(witness.cosign(paper.log.checkpoint(), 1_790_000_000));
  assertQuiet(await look());
  // Rewritten, and of course without the witness.
  paper.log = new DeskLog();
  paper.log.append([
    'receipt-hash/v1\nsha256:'.concat('ab'.repeat(32), '\n'),
    'receipt-hash/v1\nsha256:'.concat('cd'.repeat(32), '\n'),
  ]);
  paper.publishLog();
  assertFound(await look(), 'fork', /papers\.example/, /the first 2 leaves are not/);
  paper.log = new DeskLog('papers.example/log', 4);
  paper.publishLog();
  assert.match((await look()).unchecked.join('\n'), /is not signed by a key that the policy has/);
});

test('a log whose files do not belong to its head is not called a fork', async (t) => {
  const { paper, look } = await watched(t);
  paper.publish('neap');
  paper.publishLog();
  const { files } = paper.site;
  files.set('log/tile/entries/000.p/6', files.get('log/tile/entries/000.p/5') ?? '');
  assert.match((await look()).unchecked.join('\n'), /tile\/entries\/000\.p\/6 has 5 entries instead of 6/);
  paper.publishLog();
  files.delete('log/tile/entries/000.p/6');
  assert.match((await look()).unchecked.join('\n'), /000\.p\/6 answered 404/);
  paper.publishLog();
  assertQuiet(await look());
});

test('two monitors on one state file: none of them is lost, and two logs are found', async (t) => {
  const { paper, look, state } = await watched(t);
  await Promise.all([look(), look()]);
  JSON.parse(readFileSync(state, 'utf8'));
  assertQuiet(await look());
  // While one reads, another one is shown another log of the same size.
  const honest = paper.log;
  const copy = new DeskLog();
  copy.append(honest.entries);
  copy.seq = honest.seq;
  paper.publish('neap');
  copy.publish('spring');
  const checkpoint = honest.checkpoint();
  let other: MonitorRun | null = null;
  paper.publishLog();
  paper.site.files.set('log/checkpoint', (response) => {
    paper.site.files.set('log/checkpoint', checkpoint);
    paper.log = copy;
    paper.publishLog();
    void look().then((outcome) => {
      other = outcome;
      paper.log = honest;
      paper.publishLog();
      response.end(checkpoint);
    });
  });
  const one = await look();
  assert.notEqual(other, null);
  assertFound(one, 'fork', /papers\.example/, /another monitor read the root/);
});

test('a state file that is damaged, or belongs to another log, is named', async (t) => {
  const { paper, state, look } = await watched(t);
  const kept = readFileSync(state, 'utf8');
  for (const damaged of [
    '',
    '{}',
    kept.slice(0, -20),
    kept.replace('"size":5', '"size":6'),
    kept.replace('"unlogged_since":null', '"unlogged_since":7'),
  ]) {
    writeFileSync(state, damaged);
    await assert.rejects(look(), /state\.json is not a monitor's state, or was damaged \([^\n]+\); restore it/);
  }
  writeFileSync(state, kept);
  const policy = readPolicy(`log ${new DeskLog('other.example/log').vkey}\nquorum none\n`);
  const task = { sites: [paper.url], policy, file: state, now: Date.now };
  await assert.rejects(
    monitor(task),
    /state\.json is the state of papers\.example\/log, a log that the policy does not name/,
  );
});

test('the command is quiet when all is well, and ends with 0, 1 or 2', async (t) => {
  const { paper, state } = await watched(t);
  const policy = join(tempFolder(t), 'policy');
  writeFileSync(policy, `log ${paper.log.vkey} ${paper.site.url}log/\nquorum none\n`);
  const look = (...args: string[]) =>
    run(t, tempFolder(t), ['monitor', paper.url, '--policy', policy, '--state', state, ...args]);
  assert.deepEqual(await look(), { code: 0, signal: null, stdout: '', stderr: '' });
  assert.match((await look('--verbose')).stdout, /^papers\.example\/log: 5 leaves; 0 new leaves and 3 pages read\n$/);
  const { findings, log } = JSON.parse((await look('--json')).stdout) as MonitorRun;
  assert.deepEqual([findings, log?.size], [[], 5]);
  paper.remove('ebb');
  const found = await look();
  assert.equal(found.code, 1);
  assert.match(
    found.stdout,
    /^http:\S+\/stories\/ebb\/: gone: the page was there [^\n]+; the paper took it away without saying so\n$/,
  );
  writeFileSync(state, 'x');
  const damaged = await look();
  assert.equal(damaged.code, 2);
  assert.match(damaged.stderr, /^broadsheet: \S+state\.json is not a monitor's state[^\n]+\n$/);
  const nowhere = join(tempFolder(t), 'none/state.json');
  const lost = await run(t, tempFolder(t), ['monitor', paper.url, '--policy', policy, '--state', nowhere]);
  assert.equal(lost.code, 2);
  assert.match(lost.stderr, /^broadsheet: \S+none does not exist; make this folder for the state file\n$/);
  assert.equal((await run(t, tempFolder(t), ['monitor', paper.url])).code, 2);
});

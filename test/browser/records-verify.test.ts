import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { jwks } from '../../src/proof/keyring.ts';
import { type LogProof, tlogProofText } from '../../src/proof/log/log-proof.ts';
import { receiptHashLeaf } from '../../src/proof/log/logged-entries.ts';
import { badgeOf } from '../../src/proof/records/badge.ts';
import { type Observation, observe } from '../../src/proof/records/observation.ts';
import { fullRecordOf, previewOf } from '../../src/proof/records/preview.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordOf } from '../../src/records/record.ts';
import { provenanceRow } from '../../src/records/wire-rows.ts';
import { ed25519Witness, MemoryLog } from '../support/log.ts';
import { certificate, HOUR, KEY, probe, toolsAt } from '../support/probes.ts';
import * as fc from '../support/properties.ts';
import { evidenceOf } from '../support/records-faults.ts';
import { type RecordsStand, recordsStand } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { openBrowser } from './chromium.ts';

const HOST = 'xn--bcher-kva.example';
const START = Date.UTC(2026, 10, 21, 9);

/** What the page found: the outcome of all, its words, and the checks that failed. */
interface Verdict {
  state: string;
  said: string;
  held: string[];
  failed: string[];
}

/** A log with the hash of each receipt, whose head two witnesses cosigned after each: a second apart. */
function witnessed(chain: Observation[]) {
  const [one, two] = [ed25519Witness('witness.example/w1', 4), ed25519Witness('witness.example/w2', 5)];
  const log = new MemoryLog('records.example/log');
  const proofs = new Map<string, LogProof>();
  for (const [at, { receipt }] of chain.entries()) {
    log.append([receiptHashLeaf(receipt)]);
    const time = START / 1_000 + 15 * 3_600 + at + 1;
    const checkpoint = two.cosign(one.cosign(log.checkpoint(), time), time);
    const tlog_proof = tlogProofText({ index: at, path: log.tree().inclusionProof(at), checkpoint, extra: null });
    proofs.set(receipt, { origin: log.origin, index: at, tlog_proof });
  }
  const policy = `log ${log.vkey}\nwitness one ${one.vkey}\nwitness two ${two.vkey}\n\ngroup both all one two\nquorum both\n`;
  return { log, policy, logOf: (receipt: string) => proofs.get(receipt) ?? null };
}

describe('records are verified in the browser', () => {
  const endings: (() => unknown)[] = [];
  let stand: RecordsStand;
  let browser: Browser;
  let page: Page;
  let chain: Observation[];
  const asked: string[] = [];
  before(async () => {
    browser = await openBrowser();
    stand = await recordsStand({ after: (work) => void endings.push(work) }, {}, START);
    for (let n = 0; n < 3; n++) {
      const seen = { A: [`192.0.2.${n}`], NS: ['ns1.example.net'], TXT: ['“quoted” <b>'] };
      stand.enter(probe(HOST, START + n * HOUR, seen, certificate('a')));
    }
    const { records } = stand.app.store;
    chain = [...records.observationsOf(records.find(HOST)?.id ?? 0)];
    page = await (await browser.newContext()).newPage();
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.goto(`${stand.url}/verify`);
  });
  after(async () => {
    await browser?.close();
    for (const end of endings) await end();
  });

  const newest = (): Observation => chain.at(-1) as Observation;
  const bundle = () => evidenceOf(HOST, chain, stand.app.store.desk.verifyingKeys('records'));
  const provenance = () => ({
    domain: HOST,
    items: chain
      .map((one) => provenanceRow({ ...one, observed_at: Date.parse(one.record.observed_at) }, null))
      .reverse(),
  });

  /** Gives these to the page and waits for its verdict. */
  async function verdict(given: { text?: string; from?: string; keys?: string }): Promise<Verdict> {
    await page.evaluate(({ text = '', from = '', keys = '' }) => {
      const form = document.getElementById('given') as HTMLFormElement;
      for (const [name, value] of Object.entries({ text, from, keys })) {
        (form.elements.namedItem(name) as HTMLInputElement).value = value;
      }
      form.requestSubmit();
    }, given);
    return settled();
  }

  async function settled(): Promise<Verdict> {
    await page.waitForFunction(() =>
      /^(held|failed|unchecked)$/.test(document.getElementById('verdict')?.dataset.state ?? ''),
    );
    return page.evaluate(() => {
      const output = document.getElementById('verdict') as HTMLElement;
      const titles = (kind: string) =>
        [...output.querySelectorAll(`li.${kind} > p:first-child`)].map(
          ({ textContent }) => textContent?.replace(/^\S+ /, '') ?? '',
        );
      const state = output.dataset.state ?? '';
      delete output.dataset.state;
      return { state, said: output.textContent ?? '', held: titles('held'), failed: titles('failed') };
    });
  }

  it('on the page of a hostname, at a press of the button', async () => {
    const context = await browser.newContext();
    const own = await context.newPage();
    const complaints: string[] = [];
    own.on('console', (message) => complaints.push(message.text()));
    own.on('pageerror', (error) => complaints.push(error.message));
    await own.goto(`${stand.url}/t/${HOST}`);
    assert.equal(await own.locator('#verdict').textContent(), '');
    await own.locator('#verify').click();
    await own.getByRole('button', { name: 'Check again' }).waitFor();
    assert.equal(
      await own.locator('#verdict').getAttribute('data-state'),
      'held',
      (await own.locator('#verdict').textContent()) ?? '',
    );
    assert.equal(await own.locator('#verdict li.held').count(), 7);
    assert.deepEqual(await axeFaults(own, '#verdict'), []);
    assert.deepEqual(complaints, []);
    await context.close();
  });

  it('everything that the service issues verifies, pasted, from a file or by address; pasted text is not sent', async () => {
    const { receipt } = newest();
    const badge = await (await fetch(`${stand.url}/badge/${HOST}.svg`)).text();
    const address = `${stand.url}/v1/exports/domains/${HOST}/evidence.json`;
    const exported = await (await fetch(address, { headers: { 'X-Service-Key': stand.keyOf('account') } })).text();
    asked.length = 0;
    const pasted: [text: string, checks: number][] = [
      [receipt, 3],
      [`  \n${receipt.trimEnd().replaceAll('\n', '\r\n')}`, 3],
      [JSON.stringify(receipt), 3],
      [badge, 4],
      [JSON.stringify(previewOf(newest()), null, 2), 7],
      [JSON.stringify(fullRecordOf(newest())), 6],
      [JSON.stringify(provenance()), 2],
      [JSON.stringify(bundle()), 4],
      [exported, 4],
    ];
    for (const [text, checks] of pasted) {
      const { state, said, held } = await verdict({ text });
      assert.equal(state, 'held', said);
      assert.equal(held.length, checks, said);
    }
    assert.deepEqual(new Set(asked), new Set(['GET /.well-known/records-keys.json']));

    await page
      .locator('#file')
      .setInputFiles({ name: 'e.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(bundle())) });
    assert.equal((await settled()).state, 'held');
    for (const from of [
      'bücher.example',
      `/badge/${HOST}.svg`,
      `${stand.url}/t/${HOST}?as_of=${newest().record.observed_at}`,
    ]) {
      const { state, said } = await verdict({ from });
      assert.equal(state, 'held', `${from}: ${said}`);
    }
    assert.deepEqual(await axeFaults(page), []);
  });

  it('a bundle and a page of receipts name the witnesses that have seen them', { skip: ONLY_WIDE }, async () => {
    const { log, policy, logOf } = witnessed(chain);
    const records = evidenceOf(HOST, chain, stand.app.store.desk.verifyingKeys('records'), logOf);
    const rows = provenance();
    const receipts = { ...rows, items: rows.items.map((row) => ({ ...row, log: logOf(row.receipt) })) };
    const [newestRow, middle, ...others] = receipts.items;
    const cases: [document: unknown, policy: string | null, state: string, said: RegExp][] = [
      [
        records,
        policy,
        'held',
        /3 of 3 receipts are leaves of the log “records\.example\/log”.*“one” from 2026.* to 2026/,
      ],
      [receipts, policy, 'held', /“two” from 2026-11-22 at 00:00:01 UTC to 2026-11-22 at 00:00:03 UTC/],
      [
        { ...receipts, items: [{ ...newestRow, log: null }, middle, ...others] },
        policy,
        'held',
        /2 of 3 receipts are leaves.*The others have no witness yet/,
      ],
      [bundle(), null, 'held', /No witness has confirmed these receipts yet/],
      [records, null, 'held', /Which witnesses have seen the receipts was not checked/],
      [records, policy.replace('all one two', 'all one two three'), 'failed', /line 5 of the policy/],
      [records, `log ${log.vkey}\nquorum none\n`, 'held', /asks for none/],
      [
        { ...receipts, items: [newestRow, { ...middle, log: newestRow?.log }, ...others] },
        policy,
        'failed',
        /Seq 2: the proof does not lead from the receipt/,
      ],
      [
        receipts,
        `log ${log.vkey}\nwitness x ${ed25519Witness('x.example', 9).vkey}\nquorum x\n`,
        'failed',
        /only 0 of 1/,
      ],
    ];
    for (const [document, given, state, said] of cases) {
      await page.route('**/log/policy', (route) =>
        given === null ? route.fulfill({ status: 404 }) : route.fulfill({ body: given }),
      );
      const seen = await verdict({ text: JSON.stringify(document) });
      assert.equal(seen.state, state, seen.said);
      assert.match(seen.said, said);
      await page.unroute('**/log/policy');
    }
  });

  it('altered data fails the matching check, with a reason', async () => {
    const preview = previewOf(newest());
    const record = fullRecordOf(newest());
    const [first, second] = preview.disclosures;
    const { receipt } = newest();
    const cases: [document: unknown, failed: string[], why: RegExp][] = [
      [receipt.replace('seq 3', 'seq 4'), ['The service’s key signed it'], /Seq 4: the signature does not hold/],
      [receipt.replace('seq 3', 'seq 03'), ['It is a receipt'], /not a domain-observation\/v1 note/],
      [receipt.replace(/kid \S+/, 'kid x'), ['The service’s key signed it'], /no key with kid x is known/],
      [
        { ...preview, summary: { ...preview.summary, A: 9 }, nameservers: [] },
        ['What it says is what was signed'],
        /Summary is not what was signed.*Nameservers is not what was signed/,
      ],
      [
        { ...preview, disclosures: [{ ...first, path: second?.path }, ...preview.disclosures.slice(1)] },
        ['Each field shown is part of the signed record'],
        /path of disclosure \d+ does not lead to the record_root/,
      ],
      [
        { ...preview, held_back: { ...preview.held_back, fields: 0 } },
        ['It says how much it holds back'],
        /0 fields are held back, but 21/,
      ],
      [
        { ...preview, seq: 2 },
        ['It is of the receipt’s observation', 'What it says is what was signed'],
        /It says seq 2, but the receipt says 3/,
      ],
      [
        { ...record, disclosures: record.disclosures.slice(1) },
        ['All its fields are the signed record', 'What it says is what was signed'],
        /do not give the record_root/,
      ],
      [
        { ...record, signals: { ...record.signals, A: { ...record.signals.A, values: ['192.0.2.9'] } } },
        ['What it says is what was signed'],
        /Signals\.A is not what was signed/,
      ],
      [
        { ...bundle(), records: bundle().records.toSpliced(1, 1) },
        ['The chain begins with the first observation and has no gap'],
        /Seq 3: prev is sha256/,
      ],
      [
        { ...bundle(), records: bundle().records.slice(1) },
        ['The chain begins with the first observation and has no gap'],
        /nothing is before it/,
      ],
      [
        { ...provenance(), items: provenance().items.map((row) => ({ ...row, seq: row.seq + 1 })) },
        ['The receipts are a chain'],
        /Row 1 says seq 4, but its receipt says 3/,
      ],
      [{ ...preview, signed: true }, ['It has the form of a preview'], /Signed is not false/],
      [
        JSON.stringify(preview).replace('"seq":', '"seq":9,"seq":'),
        ['It has the form of a document that names each member once'],
        /names the member "seq" twice/,
      ],
      [
        badgeOf(newest(), '/t/x').replace('no. 3', 'no. 4'),
        ['It shows what its receipt says'],
        /is not the one that is drawn for its receipt/,
      ],
      [
        { ...provenance(), items: provenance().items.toReversed() },
        ['The receipts are a chain'],
        /does not come after/,
      ],
    ];
    for (const [document, failed, why] of cases) {
      const found = await verdict({ text: typeof document === 'string' ? document : JSON.stringify(document) });
      assert.deepEqual(found.failed, failed, found.said);
      assert.match(found.said, why);
      assert.equal(found.state, 'failed');
    }
  });

  it('foreign signatures fail, unless the reader trusts that key for its period', async () => {
    const at = START + HOUR;
    const host = parseHostname(HOST);
    const seed = new Uint8Array(32).fill(7);
    const forged = observe(
      { record: recordOf(probe(HOST, at, { A: ['192.0.2.66'] }), host, at), seq: 1, prev: null, seed },
      toolsAt(at),
    );
    const text = JSON.stringify(evidenceOf(HOST, [forged], [KEY]));
    const { failed, said } = await verdict({ text });
    assert.deepEqual(failed, ['The keys in it are the service’s', 'The service’s keys signed every receipt'], said);
    assert.equal((await verdict({ text, keys: JSON.stringify(jwks([KEY])) })).state, 'held');
    const retired = JSON.stringify(jwks([{ ...KEY, retired_at: at - 1 }]));
    assert.deepEqual((await verdict({ text: forged.receipt, keys: retired })).failed, ['The key was in force then']);
    const younger = JSON.stringify(jwks([{ ...KEY, nbf: at + 2 * HOUR }]));
    assert.deepEqual((await verdict({ text: forged.receipt, keys: younger })).failed, ['The key was in force then']);
  });

  it('unchecked is distinguished from failed', async () => {
    const cases: [given: { text?: string; from?: string; keys?: string }, why: RegExp][] = [
      [{}, /give a receipt/],
      [{ text: '{"a": 1}' }, /this is not a receipt/],
      [{ text: '<svg xmlns="http://www.w3.org/2000/svg"/>' }, /this is not a receipt/],
      [{ from: 'nobody.example' }, /answered 404: nobody\.example is not under watch/],
      [{ from: '/health' }, /but what \S+\/health answered/],
      [{ text: newest().receipt, keys: '{"keys": []}' }, /is not a key document/],
      [{ text: newest().receipt, keys: 'https://127.0.0.1:1/keys' }, /could not be fetched/],
    ];
    for (const [given, why] of cases) {
      const { state, said } = await verdict(given);
      assert.equal(state, 'unchecked', said);
      assert.match(said, /^Nothing was checked: /);
      assert.match(said, why);
    }
  });

  it('whichever one character is changed, it does not hold', async () => {
    const preview = previewOf(newest());
    // The two sentences for people are no part of the record, and a bundle's keys are compared with those listed.
    const texts = [
      newest().receipt.trimEnd(),
      JSON.stringify({ ...preview, notice: '', held_back: { ...preview.held_back, how: '' } }),
      JSON.stringify(fullRecordOf(newest())),
      JSON.stringify({ records: bundle().records.slice(0, 1), evidence: 'domain-evidence/v1', domain: HOST }),
    ];
    const keys = JSON.stringify({ keys: bundle().keys }).slice(1);
    const whole = (text: string) => (text.startsWith('{"records"') ? `${text.slice(0, -1)},${keys}` : text);
    const change = fc.record({
      which: fc.nat(texts.length - 1),
      // Of the last character the bundle's rest takes the place.
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      to: fc.constantFrom(...'0aZ"{, :-'),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ which, at, to }) => {
        const text = texts[which] ?? '';
        const index = Math.floor(at * (text.length - 1));
        fc.pre(text[index] !== to);
        const { state } = await verdict({ text: whole(text.slice(0, index) + to + text.slice(index + 1)) });
        assert.notEqual(state, 'held', `${text.slice(Math.max(0, index - 40), index)}[${to}]`);
      }),
      { numRuns: 120 },
    );
    // The same texts hold as they are: the property can fail.
    for (const text of texts) assert.equal((await verdict({ text: whole(text) })).state, 'held');
  });
});

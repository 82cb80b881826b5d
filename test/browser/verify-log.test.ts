import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Browser, Page, Route } from 'playwright-core';
import { tlogProofText } from '../../src/proof/log/log-proof.ts';
import { receiptHashLeaf } from '../../src/proof/log/logged-entries.ts';
import type { Proof } from '../../src/proof/proof.ts';
import { ed25519Witness, MemoryLog, mldsa44Witness } from '../support/log.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { axeFaults } from './axe.ts';
import { type SharedStand, sharedStand } from './fixture.ts';
import { type PanelOutcome, pressVerify } from './verify-panel.ts';

const STORY = '/the-plumb-line/stories/keepers-of-the-zones/';
const TITLE = 'The receipt is in the log, and witnesses have seen it';
/** In seconds: 2026-11-20 12:00:05 UTC. */
const SEEN = 1_795_176_005;

const [one, two, other] = [4, 5, 6].map((byte, at) => ed25519Witness(`witness.example/w${at + 1}`, byte));
const pq = mldsa44Witness('witness.example/pq', 7);
const WITNESSES = { one, two, other, pq };
type WitnessName = keyof typeof WITNESSES;

/** A log with the receipt of a proof among other leaves, and what the site says of it. */
interface Logged {
  /** The leaf of the receipt. */
  entry?: (receipt: string) => string;
  cosigners?: WitnessName[];
  policy?: string;
  alter?: (text: string) => string;
  origin?: string;
}

const log = new MemoryLog();
const vkeyLines = (...names: WitnessName[]) =>
  names.map((name) => `witness ${name} ${WITNESSES[name]?.vkey}\n`).join('');
const BOTH = `log ${log.vkey}\n${vkeyLines('one', 'two')}group both all one two\nquorum both\n`;

/** The `log` member for a receipt. */
function logOf(receipt: string, { entry = (note) => note, cosigners = ['one', 'two'], alter, origin }: Logged) {
  const made = new MemoryLog();
  made.append(['before\n', entry(receipt), ...Array.from({ length: 300 }, (_, at) => `after ${at}\n`)]);
  const checkpoint = cosigners.reduce((text, name) => WITNESSES[name]?.cosign(text, SEEN) ?? text, made.checkpoint());
  const text = tlogProofText({ index: 1, path: made.tree().inclusionProof(1), checkpoint, extra: null });
  return { origin: origin ?? made.origin, index: 1, tlog_proof: alter?.(text) ?? text };
}

describe('the log’s proof in the panel that verifies a piece', { concurrency: 1 }, () => {
  let stand: SharedStand;
  let browser: Browser;
  before(async () => {
    stand = await sharedStand();
    browser = stand.browser;
  });

  /** Opens the story with a log in its proof, presses the button and waits for the outcome. */
  async function verify(
    alter: (proof: Proof) => object,
    policy: string | null,
  ): Promise<PanelOutcome & { page: Page }> {
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.route('**/proof.json', async (route: Route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: alter((await response.json()) as Proof) });
    });
    await page.route(`${stand.url}/log/policy`, (route: Route) =>
      policy === null ? route.fulfill({ status: 404 }) : route.fulfill({ body: policy }),
    );
    await page.goto(stand.url + STORY);
    return { ...(await pressVerify(page)), page };
  }

  const logged = ({ policy = BOTH, ...more }: Logged = {}) =>
    verify((proof) => ({ ...proof, log: logOf(proof.receipt, more) }), policy);

  it('holds, and names the witnesses and when they signed', async () => {
    const { status, checks, failed, text, page } = await logged();
    assert.deepEqual(failed, []);
    assert.equal(checks.at(-1), TITLE);
    assert.match(status, /^All checks hold/);
    assert.match(text, /leaf 1 of the log “papers\.example\/log”/);
    assert.match(text, /“one” on 2026-11-20 at 12:00:05 UTC, “two” on 2026-11-20 at 12:00:05 UTC/);
    assert.deepEqual(await axeFaults(page, '.proof'), []);
    await page.context().close();
  });

  it('holds where the leaf is the receipt’s hash', { skip: ONLY_WIDE }, async () => {
    const { failed, checks, page } = await logged({ entry: receiptHashLeaf });
    assert.deepEqual([failed, checks.at(-1)], [[], TITLE]);
    await page.context().close();
  });

  it('holds without a witness where the policy asks for none, and says so', async () => {
    const { failed, checks, text, page } = await logged({ cosigners: [], policy: `log ${log.vkey}\nquorum none\n` });
    assert.deepEqual([failed, checks.at(-1)], [[], 'The receipt is in the log']);
    assert.match(text, /No witness has signed that head/);
    await page.context().close();
  });

  for (const [what, alter] of [
    ['null', (proof: Proof) => ({ ...proof, log: null })],
    ['missing, as before there was a log', ({ log: _log, ...proof }: Proof) => proof],
  ] as const) {
    it(`says that no witness has confirmed the receipt when the member is ${what}`, {
      skip: what !== 'null' && ONLY_WIDE,
    }, async () => {
      const { status, checks, failed, page } = await verify(alter, null);
      assert.deepEqual([failed, checks.length], [[], 5]);
      assert.match(status, /^All checks hold: .*No witness has confirmed this receipt yet/);
      await page.context().close();
    });
  }

  const FAILING: [string, Logged, RegExp][] = [
    ['a path that was tampered with', { alter: pathWith }, /does not lead from the receipt to the root/],
    ['the leaf of another receipt', { entry: (note) => note.replace(/seq \d+/, 'seq 99') }, /does not lead/],
    ['another index', { alter: (text) => text.replace('index 1\n', 'index 2\n') }, /it says index 1, but/],
    ['another origin', { origin: 'elsewhere.example/log' }, /it says origin \\?"elsewhere/],
    ['a log that the policy does not name', { policy: `quorum none\n` }, /the policy has no log/],
    ['a witness that the policy does not name', { cosigners: ['one', 'other'] }, /only 1 of 2 witnesses cosigned/],
    ['a missing quorum', { cosigners: ['one'] }, /only 1 of 2 witnesses cosigned, and the quorum "both" asks for more/],
    ['a witness’s signature of another time', { alter: laterTime }, /wrong signature by "witness\.example\/w1"/],
    ['a head that the log did not sign', { alter: otherLog }, /not signed by a key|wrong signature by "papers/],
    ['a policy that cannot be read', { policy: 'witness me\n' }, /the policy at \/log\/policy is invalid: line 1/],
    ['a proof that is none', { alter: () => 'nonsense' }, /does not begin with the line/],
  ];
  // The rules have vectors of their own; a push sees in a browser that the panel says them.
  for (const [n, [what, given, why]] of FAILING.entries()) {
    it(`refuses ${what}`, { skip: n % 4 > 0 && ONLY_WIDE }, async () => {
      const { failed, status, text, page } = await logged(given);
      assert.deepEqual(failed, [TITLE]);
      assert.match(status, /^1 of 6 checks failed/);
      assert.match(text, why);
      await page.context().close();
    });
  }

  it('lists a witness whose kind of signature browsers do not know', { skip: ONLY_WIDE }, async () => {
    const policy = `log ${log.vkey}\n${vkeyLines('one', 'pq')}quorum one\n`;
    const { failed, text, page } = await logged({ cosigners: ['one', 'pq'], policy });
    assert.deepEqual(failed, []);
    assert.match(text, /Not checked here: “pq”.*ML-DSA-44/);
    await page.context().close();
  });

  it('does not call it a failure when the quorum rests on such a witness', { skip: ONLY_WIDE }, async () => {
    const policy = `log ${log.vkey}\n${vkeyLines('pq')}quorum pq\n`;
    const { failed, status, checks, page } = await logged({ cosigners: ['pq'], policy });
    assert.deepEqual([failed, checks.length], [[], 5]);
    assert.match(status, /Whether enough witnesses have seen the receipt was not checked\. Not checked here: “pq”/);
    await page.context().close();
  });

  it('says that the witnesses were not checked when the site has no policy', { skip: ONLY_WIDE }, async () => {
    const { failed, status, page } = await verify((proof) => ({ ...proof, log: logOf(proof.receipt, {}) }), null);
    assert.deepEqual(failed, []);
    assert.match(status, /Which witnesses have seen the receipt was not checked, because/);
    await page.context().close();
  });
});

/** Changes the first hash of the path. */
function pathWith(text: string): string {
  return text.replace(/(index 1\n)(.)/, (_, line, first) => `${line}${first === 'A' ? 'B' : 'A'}`);
}

/** Changes the time in the first witness's line. */
function laterTime(text: string): string {
  return text.replace(/(— witness\.example\/w1 )(\S+)/, (_, name, blob) => {
    const bytes = Buffer.from(blob, 'base64');
    bytes.writeUInt8((bytes.at(11) ?? 0) ^ 1, 11);
    return name + bytes.toString('base64');
  });
}

/** Changes the log's signature. */
function otherLog(text: string): string {
  return text.replace(/(— papers\.example\/log )(\S+)/, (_, name, blob) => {
    const bytes = Buffer.from(blob, 'base64');
    bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
    return name + bytes.toString('base64');
  });
}

import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { signerFrom } from '../../src/proof/ed25519.ts';
import type { LogProof } from '../../src/proof/log/log-proof.ts';
import { openBrowser } from '../browser/chromium.ts';
import { type Figure, median, note } from './table.ts';

/** A receipt with its proof and the policy to verify it by. */
export interface ProofSample {
  entry: string;
  log: LogProof;
  policy: string;
}

/** How long a proof takes in a browser: the first after the receipt's own signature, and later ones. In ms. */
interface Times {
  first: number;
  later: number;
}

const PAGES = 7;
const LATER = 15;
const BUDGET_MS = 20;

const PROJECT = new URL('../../', import.meta.url);
/** Any https address: browsers keep their cryptography from insecure pages. No request leaves the machine. */
const HOST = 'https://bench.invalid';
const PAGE = `<!doctype html><script type="importmap">{"imports": {
  "@noble/ed25519": "/node_modules/@noble/ed25519/index.js",
  "@noble/hashes/sha2.js": "/node_modules/@noble/hashes/sha2.js",
  "canonicalize": "/node_modules/canonicalize/lib/canonicalize.js",
  "node:crypto": "/packages/verify/src/crypto.ts",
  "/src/proof/ed25519.ts": "/packages/verify/src/ed25519.ts",
  "/src/proof/log/ml-dsa-44.ts": "/packages/verify/src/ml-dsa-44.ts"
}}</script>`;

/** A proof with two cosignatures, verified by the code of the Verify button in Chromium. */
export async function browserVerifyFigure(sample: ProofSample): Promise<Figure> {
  note('a proof in Chromium');
  const browser = await openBrowser();
  try {
    const times: Times[] = [];
    for (let page = 0; page < PAGES; page++) times.push(await timesIn(browser, sample));
    const [first, later] = [median(times.map((one) => one.first)), median(times.map((one) => one.later))];
    return {
      what: 'log: a proof with two cosignatures verified, in Chromium: the first after the receipt; later ones',
      ours: `${first.toFixed(1)} ms`,
      other: `${later.toFixed(1)} ms`,
      ratio: null,
      budget: `${BUDGET_MS} ms`,
      holds: first < BUDGET_MS,
    };
  } finally {
    await browser.close();
  }
}

/** Verifies a proof in a page of its own, whose scripts are compiled anew. */
async function timesIn(browser: Browser, sample: ProofSample): Promise<Times> {
  const page = await browser.newPage();
  await serveSources(page);
  await page.goto(`${HOST}/`);
  const times = await page.evaluate(
    async ({ entry, log, policy, receipt, later, source }) => {
      const proofs = (await import(
        `${source}/parts/client/verify/log-proof.ts`
      )) as typeof import('../../src/parts/client/verify/log-proof.ts');
      const { parsePolicy } = (await import(
        `${source}/proof/log/policy.ts`
      )) as typeof import('../../src/proof/log/policy.ts');
      const { nodeCrypto } = (await import(
        `${source}/proof/log/node-crypto.ts`
      )) as typeof import('../../src/proof/log/node-crypto.ts');
      // A page verifies the signature of the receipt first.
      const [key, signature, message] = receipt.map((bytes) => Uint8Array.from(bytes)) as [
        Uint8Array,
        Uint8Array,
        Uint8Array,
      ];
      if (!(await nodeCrypto.ed25519(signature, message, key))) throw new Error('the receipt does not hold');
      const took: number[] = [];
      for (let round = 0; round <= later; round++) {
        const start = performance.now();
        const leaf = proofs.loggedEntry(entry, log);
        const { cosigners } = await proofs.verifyLogged(leaf, log, parsePolicy(policy));
        took.push(performance.now() - start);
        if (cosigners.length !== 2) throw new Error(`${cosigners.length} witnesses`);
      }
      return took;
    },
    { ...sample, receipt: signedText(), later: LATER, source: `${HOST}/src` },
  );
  await page.close();
  const [first = Number.NaN, ...rest] = times;
  return { first, later: median(rest) };
}

/** A key, a signature and the text that it signs, as numbers. */
function signedText(): number[][] {
  const signer = signerFrom('bench', new Uint8Array(32).fill(9));
  const text = new TextEncoder().encode('newsdesk-receipt/v1\n');
  return [signer.publicKey, signer.sign(text), text].map((bytes) => [...bytes]);
}

/** Answers the page's requests with this project's modules, without their types. */
async function serveSources(page: Page): Promise<void> {
  await page.route(`${HOST}/**`, (route) => {
    const path = new URL(route.request().url()).pathname.slice(1);
    if (path === '') return route.fulfill({ contentType: 'text/html', body: PAGE });
    const source = readFileSync(new URL(path, PROJECT), 'utf8');
    const body = path.endsWith('.ts') ? stripTypeScriptTypes(source) : source;
    return route.fulfill({ contentType: 'text/javascript', body });
  });
}

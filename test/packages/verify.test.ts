import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Trust, Verdict } from '../../packages/verify/src/verify.ts';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { factFaults, isFactDocument } from '../../src/proof/fact-document.ts';
import { DuplicateMember, parseIJson } from '../../src/proof/i-json.ts';
import { jwks, keysOf, parseVkey, thumbprint, type VerifyingKey } from '../../src/proof/keyring.ts';
import { proofFaults } from '../../src/proof/proof.ts';
import { documentFaults } from '../../src/proof/records/verify/document-faults.ts';
import { documentIn } from '../../src/proof/records/verify/documents.ts';
import { PROJECT } from '../../src/shared/project.ts';
import { openBrowser } from '../browser/chromium.ts';
import { tempFolder } from '../support/app-context.ts';
import { loopback } from '../support/loopback.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { installTarball, outcome, packPackage } from './packed.ts';

const NOBLE = ['@noble/ed25519', '@noble/hashes'];
const SIZE_MAX = 51.5 * 1024;

const folder = tempFolder({ after });
/** A program's folder in which the packed package is installed. */
const auditor = join(folder, 'auditor');
installTarball(auditor, packPackage(folder, 'packages/verify', ['src/proof']), NOBLE);
const installed = join(auditor, 'node_modules/@broadsheet/verify');

const json = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

interface Case {
  claim: string;
  document: string;
  trust: Trust;
}

/** Every vector of a proof, of a fact and of a document of the records, as a caller of `verify` would have it. */
const CASES: Case[] = ['proof', 'document', 'fact'].flatMap((kind) =>
  ['valid', 'invalid'].flatMap((claim) => {
    const vectors = join(PROJECT, 'test/vectors', kind, claim);
    return readdirSync(vectors).flatMap((file) => {
      const { proof, text, document: fact, trusted, keys } = json(vectors, file);
      // A note's text alone is no document.
      if (kind === 'fact' && fact === undefined) return [];
      const listed =
        keys ?? trusted?.map((vkey: string) => ({ vkey, nbf: new Date(0).toISOString(), retired_at: null }));
      const document: string = text ?? JSON.stringify(fact ?? proof);
      return {
        claim: `${kind}/${claim}/${file}`,
        document,
        trust: listed === undefined || listed.length === 0 ? {} : { keys: JSON.stringify(keyDocument(listed)) },
      };
    });
  }),
);

function keyDocument(listed: { vkey: string; nbf: string; retired_at: string | null }[]) {
  return jwks(
    listed.map(({ vkey, nbf, retired_at }) => {
      const key = parseVkey(vkey);
      assert.ok(key !== null);
      const retired = retired_at === null ? null : Date.parse(retired_at);
      return { ...key, kid: thumbprint(key.publicKey), nbf: Date.parse(nbf), retired_at: retired };
    }),
  );
}

/** What the program itself finds, by node:crypto. */
function faultsOf({ document, trust }: Case): string[] {
  const keys = trust.keys === undefined ? undefined : keysOf(JSON.parse(trust.keys));
  const found = documentIn(document);
  if (found === null || (found.kind === 'misshapen' && found.of === 'document')) return asProof(document, keys);
  return documentFaults(found, keys ?? (found.kind === 'evidence' ? keysOf(found.bundle) : []), verifyNode);
}

function asProof(document: string, keys: VerifyingKey[] | undefined): string[] {
  try {
    const value = parseIJson(document);
    return isFactDocument(value) ? factFaults(value, verifyNode, keys) : proofFaults(value, verifyNode, keys);
  } catch (error) {
    assert.ok(error instanceof DuplicateMember);
    return [`the document ${error.message}`];
  }
}

/** The same as a program of its own, which has the installed package and nothing else. */
const PROGRAM = `
import { readFileSync } from 'node:fs';
import { verify } from '@broadsheet/verify';
const cases = JSON.parse(readFileSync('cases.json', 'utf8'));
console.log(JSON.stringify(await Promise.all(cases.map(({ document, trust }) => verify(document, trust)))));
`;

test('the package depends on noble alone, as this repository has it, and is one small module', () => {
  const { dependencies } = json(installed, 'package.json');
  const { dependencies: ours } = json(PROJECT, 'package.json');
  assert.deepEqual(dependencies, Object.fromEntries(NOBLE.map((name) => [name, ours[name]])));
  const bundle = readFileSync(join(installed, 'dist/verify.js'), 'utf8');
  const imported = [...bundle.matchAll(/\bfrom ?["']([^"']+)["']/g)].map(([, name = '']) => name);
  for (const name of imported)
    assert.ok(
      NOBLE.some((noble) => name === noble || name.startsWith(`${noble}/`)),
      name,
    );
  const { size } = statSync(join(installed, 'dist/verify.js'));
  assert.ok(size < SIZE_MAX, String(size));
  assert.deepEqual(
    readdirSync(join(installed, 'dist')).filter((name) => name.endsWith('.js')),
    ['verify.js'],
  );
});

test('in Node and in a browser the package finds in every vector what the program finds', async (t) => {
  writeFileSync(join(auditor, 'cases.json'), JSON.stringify(CASES));
  writeFileSync(join(auditor, 'audit.mjs'), PROGRAM);
  const { stdout, stderr } = await outcome(auditor, [process.execPath, 'audit.mjs']);
  assert.equal(stderr, '');
  const verdicts: Verdict[] = JSON.parse(stdout);
  for (const [index, one] of CASES.entries()) {
    const { faults, holds } = verdicts[index] ?? {};
    assert.deepEqual(faults, faultsOf(one), one.claim);
    assert.equal(holds, faults?.length === 0);
    if (one.claim.includes('/valid/')) assert.equal(holds, true, one.claim);
  }
  assert.ok(new Set(verdicts.map(({ kind }) => kind)).size >= 5);

  const imports = {
    '@broadsheet/verify': '/@broadsheet/verify/dist/verify.js',
    '@noble/ed25519': '/@noble/ed25519/index.js',
    '@noble/hashes/': '/@noble/hashes/',
  };
  const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>`;
  const server = createServer((request, response) => {
    if (request.url === '/') response.setHeader('Content-Type', 'text/html').end(page);
    else {
      response.setHeader('Content-Type', 'text/javascript');
      response.end(readFileSync(join(auditor, 'node_modules', new URL(request.url ?? '', 'http://x').pathname)));
    }
  });
  const browser = await openBrowser();
  t.after(() => browser.close());
  const tab = await browser.newPage();
  await tab.goto(await loopback(t, server));
  const seen = await tab.evaluate(async (cases: Case[]) => {
    const { verify } = (await import(`@broadsheet/${'verify'}`)) as {
      verify(document: string, trust: Trust): Promise<Verdict>;
    };
    return Promise.all(cases.map(({ document, trust }) => verify(document, trust)));
  }, CASES);
  assert.deepEqual(seen, verdicts);
});

test('the log counts when a policy is given, and a wrong key document or policy is an error', async () => {
  const program = `
import { readFileSync } from 'node:fs';
import { logCrypto, readPolicy, verify, verifyCheckpoint, verifyTlogProof } from '@broadsheet/verify';
const { logged, proof } = JSON.parse(readFileSync('logged.json', 'utf8'));
const policy = readPolicy(logged.policy);
const text = JSON.stringify(proof);
const refused = (trust) => verify(text, trust).then(() => null, String);
console.log(JSON.stringify({
  index: (await verifyTlogProof(logged.entry, logged.proof, policy, logCrypto)).index,
  size: (await verifyCheckpoint(logged.proof.slice(logged.proof.indexOf('\\n\\n') + 2), policy, logCrypto)).checkpoint.size,
  unlogged: await verify(text, { policy: logged.policy }),
  refused: [await refused({ keys: '{}' }), await refused({ policy: 'witness' })],
}));
`;
  const vector = (name: string) => json(PROJECT, 'test/vectors', `${name}.json`);
  const { proof } = vector('proof/valid/a-first-revision');
  const logged = vector('log/valid/proof/by-a-log-without-witnesses');
  writeFileSync(join(auditor, 'logged.json'), JSON.stringify({ logged, proof }));
  writeFileSync(join(auditor, 'log.mjs'), program);
  const { stdout, stderr } = await outcome(auditor, [process.execPath, 'log.mjs']);
  assert.equal(stderr, '');
  const { index, size, unlogged, refused } = JSON.parse(stdout);
  assert.deepEqual([index, size], [2, 5]);
  assert.equal(unlogged.holds, false);
  assert.match(unlogged.faults[0], /^log: there is no proof that the receipt is in the log/);
  assert.match(refused[0], /^TypeError: keys has no valid key; give the text of newsdesk-keys\.json/);
  assert.match(refused[1], /^TypeError: policy is not a tlog-policy: /);
});

test('the example of the README runs, and its types are those of a strict program', { skip: ONLY_WIDE }, async (t) => {
  const readme = readFileSync(join(installed, 'README.md'), 'utf8');
  const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? [];
  const { proof, keys } = json(PROJECT, 'test/vectors/proof/valid/a-chain-over-two-keys-each-in-its-time.json');
  const server = createServer((request, response) => {
    const isKeys = request.url === '/the-quay/.well-known/newsdesk-keys.json';
    response.end(JSON.stringify(isKeys ? keyDocument(keys) : proof));
  });
  const origin = await loopback(t, server);
  const program = `${example.replace('https://papers.example', origin).replaceAll('(path)', '(path: string)')}
const shown: readonly string[] = faults;
console.log(JSON.stringify({ holds, shown }));`;
  writeFileSync(join(auditor, 'example.ts'), program);
  const compilerOptions = { strict: true, target: 'ES2024', lib: ['ES2024', 'DOM'], module: 'NodeNext', types: [] };
  writeFileSync(join(auditor, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['example.ts'] }));
  execFileSync(join(PROJECT, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: auditor, stdio: 'pipe' });
  const { stdout, stderr } = await outcome(auditor, [process.execPath, 'example.js']);
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), { holds: true, shown: [] });
});

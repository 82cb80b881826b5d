import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../support/app-context.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = join(PROJECT, 'src/proof');
const MODULES = join(PROJECT, 'node_modules');

interface Package {
  dependencies: Record<string, string>;
  exports: Record<string, string>;
}

const json = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const own: Package = json(join(SOURCE, 'package.json'));

test('the package names every dependency, as this repository has it', () => {
  const imported = globSync('**/*.ts', { cwd: SOURCE }).flatMap((file) =>
    [...readFileSync(join(SOURCE, file), 'utf8').matchAll(/ from '([^'.][^']*)'/g)].map(([, name = '']) => name),
  );
  const packages = [...new Set(imported.filter((name) => !isBuiltin(name)))].sort();
  const { dependencies }: Package = json(join(PROJECT, 'package.json'));
  assert.deepEqual(own.dependencies, Object.fromEntries(packages.map((name) => [name, dependencies[name]])));
});

/** What an auditor does, with the package alone. */
const AUDIT = `
import { readFileSync } from 'node:fs';
import { verifyNode } from '@broadsheet/proof/ed25519';
import { isSignedBy } from '@broadsheet/proof/keys';
import { verifyCheckpoint, verifyTlogProof } from '@broadsheet/proof/log';
import { nodeCrypto, readPolicy } from '@broadsheet/proof/log/policy';
import { parseNote } from '@broadsheet/proof/note';
import { keysFromVkeys, proofFaults } from '@broadsheet/proof/proof';
import { parseReceipt } from '@broadsheet/proof/receipt';
import { documentIn } from '@broadsheet/proof/records/document';
import { documentFaults } from '@broadsheet/proof/records/faults';

const { proof, altered, logged, record } = JSON.parse(readFileSync('audited.json', 'utf8'));
const [key] = keysFromVkeys([proof.receipt_verify.vkey]);
const holds = (receipt) => {
  const note = parseNote(receipt);
  return parseReceipt(note.text) !== null && isSignedBy(note, key, verifyNode);
};
const policy = readPolicy(logged.policy);
const checkpoint = logged.proof.slice(logged.proof.indexOf('\\n\\n') + 2);
const size = (text) => verifyCheckpoint(text, policy, nodeCrypto).then((found) => found.checkpoint.size, String);
console.log(JSON.stringify({
  receipts: [proof.receipt, proof.receipt.replace('\\nrevision 1', '\\nrevision 2')].map(holds),
  proofs: [proof, altered].map((one) => proofFaults(one, verifyNode).length > 0),
  checkpoints: [await size(checkpoint), await size(checkpoint.replace('\\n5\\n', '\\n6\\n'))],
  index: (await verifyTlogProof(logged.entry, logged.proof, policy, nodeCrypto)).index,
  record: documentFaults(documentIn(record), [], verifyNode),
}));
`;

test('the packed package verifies receipts, proofs and the head of a log outside this repository', async (t) => {
  const folder = tempFolder(t);
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', [...args, '--offline', '--no-audit', '--no-fund'], { cwd, encoding: 'utf8', stdio: 'pipe' });
  const packed = join(folder, 'packed');
  cpSync(SOURCE, join(packed, 'proof'), { recursive: true });
  symlinkSync(MODULES, join(packed, 'node_modules'));
  npm(join(packed, 'proof'), 'pack', '--pack-destination', packed);
  const auditor = join(folder, 'auditor');
  mkdirSync(auditor);
  writeFileSync(join(auditor, 'package.json'), '{}');
  const [tarball = ''] = globSync(join(packed, '*.tgz'));
  npm(auditor, 'install', tarball, ...Object.keys(own.dependencies).map((name) => join(MODULES, name)));

  const vector = (name: string) => json(join(PROJECT, 'test/vectors', `${name}.json`));
  const { proof } = vector('proof/valid/a-first-revision');
  const audited = {
    proof,
    altered: vector('proof/invalid/an-altered-prose').proof,
    logged: vector('log/valid/proof/by-a-log-without-witnesses'),
    record: 'domain-observation/v1\n',
  };
  writeFileSync(join(auditor, 'audited.json'), JSON.stringify(audited));
  writeFileSync(join(auditor, 'audit.mjs'), AUDIT);
  const found = JSON.parse(execFileSync(process.execPath, ['audit.mjs'], { cwd: auditor, encoding: 'utf8' }));
  assert.deepEqual(found, {
    receipts: [true, false],
    proofs: [false, true],
    checkpoints: [5, 'LogFault: the checkpoint has a wrong signature by "papers.example/log"'],
    index: 2,
    record: ['the receipt is not a domain-observation/v1 note'],
  });
  const imports = Object.keys(own.exports).map((name) => `import '@broadsheet/proof/${name.slice(2)}';`);
  writeFileSync(join(auditor, 'every.mjs'), imports.join('\n'));
  execFileSync(process.execPath, ['every.mjs'], { cwd: auditor });
});

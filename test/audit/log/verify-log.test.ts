import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { logSource } from '../../../src/operate/audit/log/served-log.ts';
import { verifyLog } from '../../../src/operate/audit/log/verify-log.ts';
import { sha256 } from '../../../src/proof/basis.ts';
import { readPolicy } from '../../../src/proof/log/node-crypto.ts';
import { Fault } from '../../../src/shared/fault.ts';
import { tempFolder } from '../../support/app-context.ts';
import { DeskLog, deskSigner, fileSite, publishLog } from '../../support/desk-log.ts';
import { ed25519Witness, type MemoryLog } from '../../support/log.ts';
import { run } from '../../support/program.ts';

const WITNESS = ed25519Witness('witness.example', 5);
const NOW = 1_790_000_000;

const hashLeaf = (number: number): string => `receipt-hash/v1\n${sha256(`${number}`)}\n`;

/** A log with leaves of every kind. */
function newspaper(hashes = 600): DeskLog {
  const log = new DeskLog();
  log.addKey();
  for (let number = 0; number < 5; number++) log.publish(`piece-${number}`);
  log.append(Array.from({ length: hashes }, (_, number) => hashLeaf(number)));
  log.withdraw('piece-1');
  const old = log.kid;
  log.addKey(deskSigner(12));
  log.retireKey(old);
  return log;
}

function written(folder: string, log: MemoryLog, checkpoint = log.checkpoint()): string {
  for (const [path, bytes] of [...log.files, ['checkpoint', checkpoint] as const]) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
  return folder;
}

const policyOf = (log: MemoryLog, quorum = 'w1'): string =>
  `log ${log.vkey}\nwitness w1 ${WITNESS.vkey}\nquorum ${quorum}\n`;

test('a whole log is read, in a folder and at an address', async (t) => {
  const log = newspaper();
  const checkpoint = WITNESS.cosign(log.checkpoint(), NOW);
  const folder = written(tempFolder(t), log, checkpoint);
  const site = await fileSite(t);
  publishLog(site, log, 'log/', checkpoint);
  const policy = readPolicy(policyOf(log));
  for (const where of [folder, `${site.url}log`, `${site.url}log/`]) {
    const checked = await verifyLog(logSource(where), policy);
    assert.deepEqual(checked.faults, []);
    assert.equal(checked.size, log.size);
    assert.deepEqual(checked.leaves, { key: 2, receipt: 5, 'receipt-hash': 600, withdrawal: 1, 'key-retired': 1 });
    assert.deepEqual(checked.cosigned_by, [{ name: 'w1', at: new Date(NOW * 1_000).toISOString() }]);
  }
});

test('partial tiles since replaced are found in the full ones', async (t) => {
  const log = newspaper(100);
  const checkpoint = log.checkpoint();
  const { size } = log;
  log.append(Array.from({ length: 400 }, (_, number) => hashLeaf(1_000 + number)));
  const site = await fileSite(t);
  publishLog(site, log, 'log/', checkpoint);
  for (const path of site.files.keys()) if (/\/000\.p\//.test(path)) site.files.delete(path);
  const checked = await verifyLog(logSource(`${site.url}log/`), null);
  assert.deepEqual([checked.faults, checked.size], [[], size]);
});

test('an empty log holds', async (t) => {
  const log = new DeskLog();
  assert.deepEqual((await verifyLog(logSource(written(tempFolder(t), log)), null)).faults, []);
});

type Damage = [claim: string, damage: (log: DeskLog) => DeskLog | undefined, fault: RegExp];

const DAMAGES: Damage[] = [
  [
    'a byte of an entry',
    (log) => {
      const bundle = log.files.get('tile/entries/001');
      if (bundle !== undefined) bundle[100] = (bundle[100] ?? 0) ^ 1;
      return undefined;
    },
    /^tile\/0\/001 has other hashes than the entries below it$/,
  ],
  [
    'a swapped tile',
    (log) => void log.files.set('tile/0/000', log.files.get('tile/0/001') ?? new Uint8Array()),
    /^tile\/0\/000 has other hashes/,
  ],
  [
    'a missing tile',
    (log) => void log.files.delete('tile/0/001'),
    /tile\/0\/001 .*does not exist|tile\/0\/001 does not exist/,
  ],
  [
    'a missing bundle',
    (log) => void log.files.delete('tile/entries/001'),
    /^the leaves from 256 on cannot be read: .*tile\/entries\/001/,
  ],
  [
    'a bundle that is cut off',
    (log) =>
      void log.files.set('tile/entries/001', (log.files.get('tile/entries/001') ?? new Uint8Array()).slice(0, 500)),
    /^the leaves from 256 on cannot be read: tile\/entries\/001 ends within entry/,
  ],
  ['a leaf of no kind', (log) => void log.append(['gossip/v1\n']), /^leaf 609: the entry begins with "gossip\/v1"/],
  ['bytes that are no text', (log) => void log.append([Uint8Array.of(0xff, 10)]), /^leaf 609: the entry is not UTF-8/],
  [
    'a key under the thumbprint of another',
    (log) => {
      const leaf = `key/v1\nservice desk\nkid ${log.kid}\nx ${'A'.repeat(43)}\nnbf 2026-06-01T00:00:00.000Z\n`;
      log.append([leaf]);
      return undefined;
    },
    /^leaf 609: it announces key \S+, but the thumbprint of its x is/,
  ],
];

for (const [claim, damage, fault] of DAMAGES) {
  test(`log verify finds ${claim}`, async (t) => {
    const log = newspaper();
    damage(log);
    const { faults } = await verifyLog(logSource(written(tempFolder(t), log)), null);
    assert(
      faults.some((one) => fault.test(one)),
      faults.join('\n'),
    );
  });
}

test('log verify finds a checkpoint for another tree, without quorum, or by another key', async (t) => {
  const log = newspaper(10);
  const other = newspaper(10);
  other.append([hashLeaf(99)]);
  log.withdraw('piece-2');
  const policy = readPolicy(policyOf(log));
  const cosigned = (of: MemoryLog) => WITNESS.cosign(of.checkpoint(), NOW);
  const cases: [checkpoint: string, fault: RegExp][] = [
    [cosigned(other), /^the 20 leaves do not give the checkpoint's root$/],
    [log.checkpoint(), /has not the quorum "w1"/],
    [
      WITNESS.cosign(new DeskLog('papers.example/log', 4).checkpoint(), NOW),
      /is not signed by a key that the policy has/,
    ],
    [WITNESS.cosign(new DeskLog('other.example/log').checkpoint(), NOW), /the policy has no log "other\.example\/log"/],
  ];
  for (const [checkpoint, fault] of cases) {
    const { faults } = await verifyLog(logSource(written(tempFolder(t), log, checkpoint)), policy);
    assert(
      faults.some((one) => fault.test(one)),
      faults.join('\n'),
    );
  }
});

test('log verify ends with code 0, 1 or 2, and a line that says why', async (t) => {
  const log = newspaper(5);
  const sound = written(tempFolder(t), log, WITNESS.cosign(log.checkpoint(), NOW));
  const bare = written(tempFolder(t), log);
  const policy = join(tempFolder(t), 'policy');
  writeFileSync(policy, policyOf(log));
  const odd = join(tempFolder(t), 'odd');
  writeFileSync(odd, 'quorum\n');
  const site = await fileSite(t);
  site.files.set('checkpoint', (response) => response.end(Buffer.alloc(1_000_000, 'a')));
  const cases: [args: string[], code: number, said: RegExp][] = [
    [
      [sound, '--policy', policy],
      0,
      /^papers\.example\/log: 14 leaves \(2 keys, 5 receipts, 5 hashes of receipts, 1 withdrawal, 1 retired key\), the tiles and the root hold\nCosigned by w1 at \S+\.\n$/,
    ],
    [[sound], 0, /the root hold\nWhether others see the same log was not checked/],
    [[bare, '--policy', policy], 1, /: the checkpoint has not the quorum/],
    [[tempFolder(t)], 2, /checkpoint does not exist; give the folder or the address of a log/],
    [[sound, '--policy', odd], 2, /odd: line 1 of the policy: a quorum is/],
    [[site.url], 2, /checkpoint is longer than \d+ kB/],
    [[], 2, /missing required argument/],
  ];
  for (const [args, code, said] of cases) {
    const outcome = await run(t, tempFolder(t), ['log', 'verify', ...args]);
    const text = code === 2 ? outcome.stderr : outcome.stdout;
    assert.equal(outcome.code, code, `${args.join(' ')}: ${outcome.stdout}${outcome.stderr}`);
    assert.match(text, said);
    if (code === 2 && args.length > 0) assert.match(text, /^broadsheet: [^\n]*\n$/);
  }
});

test('a fault that the reader cannot do anything about is not that of the log', async (t) => {
  const log = newspaper(300);
  const site = await fileSite(t);
  publishLog(site, log);
  site.files.set('log/tile/entries/001.p/53', (response) => response.destroy());
  await assert.rejects(
    verifyLog(logSource(`${site.url}log/`), null),
    (error) => error instanceof Fault && error.code === 'unavailable' && /did not answer/.test(error.message),
  );
});

test('a server that fails says nothing about the log, and one that has no such file does', async (t) => {
  const log = newspaper();
  const site = await fileSite(t);
  publishLog(site, log);
  const answer = (status: number) =>
    site.files.set('log/tile/entries/001', (response) => void response.writeHead(status).end());
  for (const status of [429, 500, 503]) {
    answer(status);
    await assert.rejects(verifyLog(logSource(`${site.url}log/`), null), new RegExp(`answered ${status}`));
  }
  // A bucket that may not be listed answers 403 for what it does not have.
  for (const status of [403, 404, 410]) {
    answer(status);
    const { faults } = await verifyLog(logSource(`${site.url}log/`), null);
    assert.match(faults.join('\n'), new RegExp(`from 256 on cannot be read: \\S+ answered ${status}`));
  }
});

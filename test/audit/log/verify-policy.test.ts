import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { verifyAt } from '../../../src/operate/audit/verify.ts';
import { jwks } from '../../../src/proof/keyring.ts';
import { type LogProof, tlogProofText } from '../../../src/proof/log/log-proof.ts';
import { loggedEntries } from '../../../src/proof/log/logged-entries.ts';
import { readPolicy } from '../../../src/proof/log/node-crypto.ts';
import { observe } from '../../../src/proof/records/observation.ts';
import { parseHostname } from '../../../src/records/hostname.ts';
import { recordOf } from '../../../src/records/record.ts';
import { tempFolder } from '../../support/app-context.ts';
import { DeskLog, fileSite, START } from '../../support/desk-log.ts';
import { ed25519Witness, type MemoryLog } from '../../support/log.ts';
import { LoggedPaper } from '../../support/logged-paper.ts';
import { KEY, probe, toolsAt } from '../../support/probes.ts';
import { run } from '../../support/program.ts';
import { evidenceOf } from '../../support/records-faults.ts';

const WITNESS = ed25519Witness('witness.example', 5);
const OTHER = ed25519Witness('other.example', 6);
const NOW = 1_790_000_000;

const policyText = (log: MemoryLog): string => `log ${log.vkey}\nwitness w1 ${WITNESS.vkey}\nquorum w1\n`;

/** The proof that the newest leaf is in the log. */
function logProof(log: MemoryLog, { witness = WITNESS, checkpoint = log.checkpoint() } = {}): LogProof {
  const index = log.size - 1;
  const path = log.tree().inclusionProof(index);
  const cosigned = witness.cosign(checkpoint, NOW);
  return { origin: log.origin, index, tlog_proof: tlogProofText({ index, path, checkpoint: cosigned, extra: null }) };
}

async function story(t: TestContext) {
  const paper = new LoggedPaper(await fileSite(t));
  paper.log.addKey();
  paper.publish('ebb');
  const folder = tempFolder(t);
  const put = (log: LogProof | null | undefined): string => {
    paper.press('ebb', log ?? null);
    const file = join(folder, 'stories/ebb/proof.json');
    mkdirSync(dirname(file), { recursive: true });
    const text = String(paper.site.files.get('tide-table/stories/ebb/proof.json'));
    writeFileSync(file, log === undefined ? text.replace(',"log":null', '') : text);
    return file;
  };
  return { paper, log: paper.log, folder, put, policy: readPolicy(policyText(paper.log)) };
}

test('with a policy a story’s receipt must be in its log, and the quorum have seen it', async (t) => {
  const { log, put, policy, paper, folder } = await story(t);
  const sound = logProof(log);
  const [checked] = await verifyAt(put(sound), { policy });
  assert.deepEqual(checked?.faults, []);
  const logged = { origin: log.origin, index: 1, size: 2 };
  assert.deepEqual(checked?.logged, {
    ...logged,
    cosigned_by: [{ name: 'w1', at: new Date(NOW * 1_000).toISOString() }],
  });
  assert.deepEqual((await verifyAt(folder, { policy }))[0]?.faults, []);
  assert.deepEqual((await verifyAt(`${paper.address('ebb')}`, { policy }))[0]?.faults, []);

  const stranger = new DeskLog('papers.example/log', 4);
  stranger.append(log.entries);
  const cases: [proof: LogProof | null | undefined, fault: RegExp][] = [
    [null, /^log: there is no proof that the receipt is in the log; it gets one when enough witnesses have signed: /],
    [undefined, /^log: there is no proof that the receipt is in the log; /],
    [
      logProof(log, { witness: OTHER }),
      /^log: the checkpoint has not the quorum "w1": 0 of 1 known witnesses cosigned$/,
    ],
    [logProof(stranger), /^log: the checkpoint is not signed by a key that the policy has for "papers\.example\/log"$/],
    [{ ...sound, index: 0 }, /^log: it says index 0, but its proof is of entry 1$/],
    [{ ...sound, origin: 'other.example/log' }, /^log: it says origin "other\.example\/log"/],
    [{ ...sound, tlog_proof: 'proof' }, /^log: the proof does not begin with/],
  ];
  for (const [proof, fault] of cases) {
    const [one] = await verifyAt(put(proof), { policy });
    assert.equal(one?.faults.length, 1, one?.faults.join('\n'));
    assert.match(one?.faults[0] ?? '', fault);
    assert.equal(one?.logged, null);
  }
  log.publish('flood');
  const [another] = await verifyAt(put(logProof(log)), { policy });
  assert.deepEqual(another?.faults, ['log: the proof does not lead from the receipt to the root of its checkpoint']);
});

test('the hash of a receipt in the log is as good as the receipt', async (t) => {
  const { paper, put, policy, log } = await story(t);
  const note = paper.publish('ebb', {}, { isLogged: false });
  log.append([loggedEntries(note)[1]]);
  const [checked] = await verifyAt(put(logProof(log)), { policy });
  assert.deepEqual(checked?.faults, []);
});

test('with a policy every receipt of a bundle must be in the log', async (t) => {
  const host = parseHostname('example.test');
  const log = new DeskLog('data.example/log');
  const record = recordOf(probe(host.hostname, START, { A: ['192.0.2.1'] }), host, START);
  const first = observe({ record, seq: 1, prev: null, seed: new Uint8Array(32) }, toolsAt(START));
  log.append([loggedEntries(first.receipt)[1]]);
  const policy = readPolicy(policyText(log));
  const file = join(tempFolder(t), 'bundle.json');
  const write = (proof: LogProof | null) =>
    writeFileSync(file, JSON.stringify(evidenceOf(host.hostname, [first], [KEY], () => proof)));
  write(logProof(log));
  const [checked] = await verifyAt(file, { keys: [KEY], policy });
  assert.deepEqual(
    [checked?.faults, checked?.logged],
    [
      [],
      [
        {
          origin: 'data.example/log',
          index: 0,
          size: 1,
          cosigned_by: [{ name: 'w1', at: new Date(NOW * 1_000).toISOString() }],
        },
      ],
    ],
  );
  write(null);
  assert.deepEqual((await verifyAt(file, { keys: [KEY], policy }))[0]?.faults, [
    'seq 1: log: there is no proof that the receipt is in the log; it gets one when enough witnesses have signed: fetch it again later',
  ]);
  writeFileSync(file, first.receipt);
  assert.match(
    (await verifyAt(file, { keys: [KEY], policy }))[0]?.faults.join() ?? '',
    /^log: a receipt has no proof that its receipt is in the log; get the provenance/,
  );
});

test('verify says who has seen the log, or that it was not checked', async (t) => {
  const { log, put, folder } = await story(t);
  const file = put(logProof(log));
  const policy = join(folder, 'policy');
  writeFileSync(policy, policyText(log));
  const keys = join(folder, 'keys.json');
  writeFileSync(
    keys,
    JSON.stringify(
      jwks([{ kid: log.kid, name: log.signer.name, publicKey: log.signer.publicKey, nbf: 0, retired_at: null }]),
    ),
  );
  const cases: [args: string[], code: number, said: RegExp][] = [
    [
      [file, '--keys', keys, '--policy', policy],
      0,
      /the chain hold\nA receipt proves [^\n]+\nebb revision 1: leaf 1 of papers\.example\/log, cosigned by w1 at \S+\n$/,
    ],
    [[file], 0, /\nThe log was not checked: with --policy, [^\n]+\n$/],
    [[file, '--policy', policy], 1, /proof\.json: log: there is no proof that the receipt is in the log; [^\n]+\n/],
    [[file, '--policy', file], 2, /proof\.json: line 1 of the policy: /],
    [[file, '--policy', join(folder, 'none')], 2, /none does not exist; give a tlog-policy/],
  ];
  for (const [args, code, said] of cases) {
    put(code === 1 ? null : logProof(log));
    const outcome = await run(t, folder, ['verify', ...args]);
    assert.match(outcome.stdout + outcome.stderr, said);
    assert.equal(outcome.code, code);
  }
});

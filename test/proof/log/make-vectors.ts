import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { toBase64, toBase64url } from '../../../src/proof/bytes.ts';
import { signerFrom } from '../../../src/proof/ed25519.ts';
import { thumbprint, vkey } from '../../../src/proof/keyring.ts';
import { leafText } from '../../../src/proof/log/leaf.ts';
import { tlogProofText } from '../../../src/proof/log/log-proof.ts';
import { COSIGNATURE, ML_DSA_COSIGNATURE } from '../../../src/proof/log/signatures.ts';
import { entryBundle } from '../../../src/proof/log/tile.ts';
import { signReceipt } from '../../../src/proof/signing.ts';
import { addCheckpointBody } from '../../../src/signing/log/witness.ts';
import { ed25519Witness, MemoryLog, mldsa44Witness, timestampedLine, vkeyOf, witnessKey } from '../../support/log.ts';

/**
 * Writes test/vectors/log anew: `node test/proof/log/make-vectors.ts`. A vector's file name is the claim it makes, and
 * `fault` is part of the line that an invalid one is refused with. Keys are of test seeds: 32 bytes 01 sign receipts,
 * 03 the log, 04 and 05 are Ed25519 witnesses, 06 is one of ML-DSA-44, whose signatures are new ones each time.
 */

type Vectors = Record<string, Record<string, object>>;

const FOLDER = new URL('../../vectors/log/', import.meta.url);
const TIME = 1_795_000_000;
const DESK = signerFrom('desk.example/door', new Uint8Array(32).fill(1));
const KID = thumbprint(DESK.publicKey);
const HASH = `sha256:${'ab'.repeat(32)}`;

const { note: receiptNote } = signReceipt(
  {
    paper: 'harbor-ledger',
    piece: '01jd000000000000000000000a',
    revision: 1,
    content_hash: HASH,
    prev: null,
    seq: 1,
    filed_at: '2026-11-21T07:06:00.000Z',
    filed_by: 'cli',
    kid: KID,
  },
  DESK,
);

const LEAVES: Record<string, object> = {
  'the receipt of a piece on air, verbatim': { kind: 'receipt', note: receiptNote },
  'the hash of a receipt that is not public': { kind: 'receipt-hash', hash: HASH },
  'a withdrawal': {
    kind: 'withdrawal',
    paper: 'harbor-ledger',
    piece: '01jd000000000000000000000a',
    at: '2026-11-22T07:06:00.000Z',
    reason: HASH,
  },
  'a key of the desk': {
    kind: 'key',
    service: 'desk',
    kid: KID,
    x: toBase64url(DESK.publicKey),
    nbf: '2026-11-21T07:00:00.000Z',
  },
  'a retired key of the records': {
    kind: 'key-retired',
    service: 'records',
    kid: KID,
    retired_at: '2026-11-23T07:00:00.000Z',
  },
};

const leafEntry = (leaf: object): string =>
  'note' in leaf ? (leaf.note as string) : leafText(leaf as Parameters<typeof leafText>[0]);
const ENTRIES = Object.values(LEAVES).map(leafEntry);

const log = new MemoryLog();
log.append(ENTRIES.slice(0, 3));
const first = log.checkpoint();
log.append(ENTRIES.slice(3));
const checkpoint = log.checkpoint();
const [w1, w2, w3] = [
  ed25519Witness('witness.example/w1', 4),
  ed25519Witness('witness.example/w2', 5),
  mldsa44Witness('witness.example/w3', 6),
];
const cosigned = w3.cosign(w2.cosign(w1.cosign(checkpoint, TIME), TIME + 1), TIME + 2);
const other = new MemoryLog('papers.example/other', 7);
other.append(ENTRIES);
/** Another history under another name, signed with the log's own key. */
const fork = new MemoryLog('papers.example/fork', 3);
fork.append(ENTRIES);

const POLICY = [
  `log ${log.vkey} https://papers.example/log/`,
  `witness one ${w1.vkey} https://w1.example/`,
  `witness two ${w2.vkey}`,
  `witness three ${w3.vkey}`,
  'group all-three 2 one two three',
  'quorum all-three',
];
const policyOf = (lines: string[]): string => lines.map((line) => `${line}\n`).join('');
/** The policy with one line changed; null takes it out. */
const changed = (at: number, line: string | null): string =>
  policyOf(POLICY.flatMap((text, index) => (index === at ? (line ?? []) : text)));

const proofText = (index: number, signed = cosigned): string =>
  tlogProofText({ index, path: log.tree().inclusionProof(index), checkpoint: signed, extra: null });
const entry = (index: number): string => ENTRIES[index] ?? '';
const proofVector = (more: object): object => ({
  entry: entry(2),
  proof: proofText(2),
  policy: policyOf(POLICY),
  ...more,
});

/** The example that tlog-checkpoint and tlog-cosignature print; whose keys they do not. */
const EXAMPLE = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==
`;
/** The example of an answer in tlog-witness. */
const ANSWER = `— witness.example/w1 CMp+6LWBU0anHGH5aNDTJkH/gj79sG+T6+iP2ThYN5krrDJbR1HDnucjL39QsZTSvVjyQLrdk3DXDqI5G2HgLatVs0pWh6Up69HVOw==
— witness.example/w1 I7rEps0pvK2UqkS2gSpVUDhrhVtQV9lgF6pRrWAvjJHjyWpW7VcE3SiOlVlbQNt64vWhO+DlkL0+UfzuOBMh9ChdMkP1vi/lCAsmlw==
— witness.example/w2 AWui8Sk55XjYLOijihBjhqEH6nS1ndDymE0a+6idX7pLcnoB+dhnz0854aLZgrrKbYKA7nC3HNJhm/kWl7oJlqU3rXXvpysAdyP3wQ==
`;
/** The example of a request in tlog-witness. */
const REQUEST_PROOF = [
  'PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=',
  'jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=',
  '5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=',
  '/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=',
];

const root = toBase64(log.tree().root());
const head = (size: number): object => ({ size, root: toBase64(log.tree(size).root()) });
const consistency = (old: number, size: number): string[] => log.tree(size).consistencyProof(old).map(toBase64);
const swap = (text: string, from: string, to: string): string => {
  if (!text.includes(from)) throw new Error(`there is no ${JSON.stringify(from)} in ${JSON.stringify(text)}`);
  return text.replace(from, to);
};
/** A signature line's blob with one byte changed, counted from its end. */
const flipped = (text: string, name: string, fromEnd: number): string =>
  text.replace(new RegExp(`(— ${name} )(\\S+)`), (_, before: string, base64: string) => {
    const blob = Buffer.from(base64, 'base64');
    blob[blob.length - fromEnd] = (blob[blob.length - fromEnd] ?? 0) ^ 1;
    return before + blob.toString('base64');
  });
const lineOf = (text: string, name: string): string =>
  text.split('\n').find((line) => line.startsWith(`— ${name} `)) ?? '';
const w1Key = witnessKey('witness.example/w1', COSIGNATURE, signerFrom('', new Uint8Array(32).fill(4)).publicKey);
const logKey = signerFrom(log.origin, new Uint8Array(32).fill(3)).publicKey;

const valid: Vectors = {
  'tile-path': {
    'the-example-of-tlog-tiles': { path: 'tile/0/x001/x234/067', tile: { level: 0, index: 1_234_067, width: 256 } },
    'a-partial-tile': { path: 'tile/1/000.p/17', tile: { level: 1, index: 0, width: 17 } },
    'a-full-entry-bundle': { path: 'tile/entries/x002/003', tile: { level: 'entries', index: 2_003, width: 256 } },
    'a-partial-entry-bundle': { path: 'tile/entries/273.p/112', tile: { level: 'entries', index: 273, width: 112 } },
    'level-63': { path: 'tile/63/999.p/255', tile: { level: 63, index: 999, width: 255 } },
  },
  bundle: {
    'every-kind-of-leaf': { base64: base64Of(entryBundle(ENTRIES.map(bytes))), entries: ENTRIES },
    'an-empty-entry': { base64: base64Of(Uint8Array.of(0, 0, 0, 1, 97)), entries: ['', 'a'] },
  },
  checkpoint: {
    'the-example-of-tlog-checkpoint': {
      text: swap(EXAMPLE, `${lineOf(EXAMPLE, 'witness.example.com/w1')}\n`, ''),
      checkpoint: {
        origin: 'example.com/behind-the-sofa',
        size: 20_852_163,
        root: 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=',
      },
      signed_by: ['example.com/behind-the-sofa'],
    },
    'the-example-of-tlog-cosignature': {
      text: EXAMPLE,
      checkpoint: {
        origin: 'example.com/behind-the-sofa',
        size: 20_852_163,
        root: 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=',
      },
      signed_by: ['example.com/behind-the-sofa', 'witness.example.com/w1'],
    },
    'one-of-this-log': {
      text: checkpoint,
      checkpoint: { origin: log.origin, size: 5, root },
      signed_by: [log.origin],
    },
    'the-empty-tree': {
      text: new MemoryLog().checkpoint(),
      checkpoint: { origin: log.origin, size: 0, root: toBase64(new MemoryLog().tree().root()) },
      signed_by: [log.origin],
    },
  },
  cosignature: {
    'of-the-log-itself': { checkpoint: cosigned, vkey: log.vkey, time: null },
    'of-an-ed25519-witness': { checkpoint: cosigned, vkey: w1.vkey, time: TIME },
    'of-an-ml-dsa-44-witness': { checkpoint: cosigned, vkey: w3.vkey, time: TIME + 2 },
    'twice-by-one-witness-counts-from-the-first': {
      checkpoint: w1.cosign(w1.cosign(checkpoint, TIME + 9), TIME),
      vkey: w1.vkey,
      time: TIME,
    },
  },
  consistency: {
    'from-three-leaves-to-five': { old: head(3), head: head(5), proof: consistency(3, 5) },
    'from-a-complete-tree': { old: head(4), head: head(5), proof: consistency(4, 5) },
    'from-one-leaf': { old: head(1), head: head(5), proof: consistency(1, 5) },
    'from-nothing': { old: head(0), head: head(5), proof: [] },
    'to-itself': { old: head(5), head: head(5), proof: [] },
  },
  leaf: Object.fromEntries(
    Object.entries(LEAVES).map(([claim, leaf]) => [
      claim.replaceAll(',', '').replaceAll(' ', '-'),
      { entry: leafEntry(leaf), leaf },
    ]),
  ),
  policy: {
    'two-of-three-witnesses': {
      policy: policyOf(POLICY),
      met: [
        ['one', 'two'],
        ['one', 'three'],
        ['one', 'two', 'three'],
      ],
      unmet: [[], ['one'], ['one', 'four']],
    },
    'no-witness-at-all': { policy: `log ${log.vkey}\nquorum none\n`, met: [[]], unmet: [] },
    'a-single-witness': {
      policy: policyOf([`witness one ${w1.vkey}`, 'quorum one']),
      met: [['one']],
      unmet: [[], ['two']],
    },
    'groups-within-groups-as-in-the-example-of-tlog-policy': {
      policy: policyOf([
        `log ${log.vkey}`,
        '',
        ...['X1', 'X2', 'X3', 'Y1', 'Y2'].map(
          (name, at) => `witness ${name} ${ed25519Witness(`witness.example/${name}`, 10 + at).vkey}`,
        ),
        'group X-witnesses 2 X1 X2 X3',
        'group Y-witnesses any Y1 Y2',
        'group X-and-Y all X-witnesses Y-witnesses',
        'quorum X-and-Y',
      ]),
      met: [
        ['X1', 'X3', 'Y2'],
        ['X1', 'X2', 'X3', 'Y1', 'Y2'],
      ],
      unmet: [
        ['X1', 'X2', 'X3'],
        ['X1', 'Y1', 'Y2'],
        ['Y1', 'Y2'],
      ],
    },
    'comments-and-blanks': {
      policy: `# Who watches\n\t log  ${log.vkey}\t\n   # ich wußte\n\nquorum\tnone`,
      met: [[]],
      unmet: [],
    },
    'two-logs': { policy: policyOf([`log ${log.vkey}`, `log ${other.vkey}`, 'quorum none']), met: [[]], unmet: [] },
  },
  proof: {
    'with-all-three-witnesses': proofVector({ index: 2, cosigners: { one: TIME, two: TIME + 1, three: TIME + 2 } }),
    'of-the-last-leaf-alone-on-its-side': proofVector({
      entry: entry(4),
      proof: proofText(4),
      index: 4,
      cosigners: { one: TIME, two: TIME + 1, three: TIME + 2 },
    }),
    'with-a-quorum-of-ed25519-alone': proofVector({
      proof: proofText(2, w2.cosign(w1.cosign(checkpoint, TIME), TIME + 1)),
      index: 2,
      cosigners: { one: TIME, two: TIME + 1 },
    }),
    'with-a-signature-of-an-unknown-witness': proofVector({
      proof: proofText(2, ed25519Witness('stranger.example', 8).cosign(cosigned, TIME)),
      index: 2,
      cosigners: { one: TIME, two: TIME + 1, three: TIME + 2 },
    }),
    'with-extra-data-that-nobody-signs': proofVector({
      proof: swap(proofText(2), 'index 2', 'extra aGVsbG8=\nindex 2'),
      index: 2,
      cosigners: { one: TIME, two: TIME + 1, three: TIME + 2 },
    }),
    'by-a-log-without-witnesses': proofVector({
      proof: proofText(2, checkpoint),
      policy: `log ${log.vkey}\nquorum none\n`,
      index: 2,
      cosigners: {},
    }),
  },
  request: {
    'the-example-of-tlog-witness': {
      old: 20_852_014,
      proof: REQUEST_PROOF,
      checkpoint: EXAMPLE,
      body: `old 20852014\n${REQUEST_PROOF.join('\n')}\n\n${EXAMPLE}`,
    },
    'the-first-checkpoint-needs-no-proof': {
      old: 0,
      proof: [],
      checkpoint: first,
      body: addCheckpointBody(0, [], first),
    },
  },
  answer: {
    'the-example-of-tlog-witness': {
      status: 200,
      type: 'text/plain',
      body: ANSWER,
      signed_by: ['witness.example/w1', 'witness.example/w1', 'witness.example/w2'],
    },
    'a-conflict': { status: 409, type: 'text/x.tlog.size', body: '20852014\n', size: 20_852_014 },
    'a-conflict-with-the-empty-tree': { status: 409, type: 'text/x.tlog.size; charset=utf-8', body: '0\n', size: 0 },
  },
};

const invalid: Vectors = {
  'tile-path': Object.fromEntries(
    Object.entries({
      'an-index-without-leading-zeros': 'tile/0/1',
      'an-index-without-its-x': 'tile/0/001/234',
      'an-x-on-the-last-group': 'tile/0/x001/x234',
      'a-group-of-zeros-too-many': 'tile/0/x000/001',
      'a-level-with-a-leading-zero': 'tile/00/000',
      'level-64': 'tile/64/000',
      'a-width-of-256': 'tile/0/000.p/256',
      'a-width-of-nothing': 'tile/0/000.p/0',
      'a-width-with-a-leading-zero': 'tile/0/000.p/01',
      'a-path-that-leads-out': 'tile/0/../checkpoint',
      'a-stray-end': 'tile/0/000/',
      'a-newline-at-the-end': 'tile/0/000\n',
      'an-index-beyond-all': 'tile/0/x999/x999/x999/x999/x999/999',
      nothing: '',
    }).map(([claim, path]) => [claim, { path, fault: 'is not the path of a tile' }]),
  ),
  bundle: {
    'ends-within-an-entry': { base64: base64Of(Uint8Array.of(0, 2, 97)), width: 1, fault: 'ends within entry 0' },
    'ends-within-a-length': { base64: base64Of(Uint8Array.of(0, 1, 97, 0)), width: 2, fault: 'ends within entry 1' },
    'an-entry-too-few': { base64: base64Of(Uint8Array.of(0, 1, 97)), width: 2, fault: 'has 1 entries instead of 2' },
    'an-entry-too-many': {
      base64: base64Of(Uint8Array.of(0, 1, 97, 0, 1, 98)),
      width: 1,
      fault: 'has more than 1 entries',
    },
  },
  checkpoint: {
    'a-size-with-a-leading-zero': { text: swap(checkpoint, '\n5\n', '\n05\n'), fault: 'size "05"' },
    'a-negative-size': { text: swap(checkpoint, '\n5\n', '\n-5\n'), fault: 'size "-5"' },
    'a-size-in-hex': { text: swap(checkpoint, '\n5\n', '\n0x5\n'), fault: 'size "0x5"' },
    'a-size-beyond-2-to-the-53': { text: swap(checkpoint, '\n5\n', '\n9007199254740992\n'), fault: 'is more than' },
    'a-root-of-31-bytes': {
      text: swap(checkpoint, root, base64Of(new Uint8Array(31))),
      fault: "the checkpoint's root",
    },
    'a-root-whose-base64-has-stray-bits': { text: swap(checkpoint, root, stray(root)), fault: "the checkpoint's root" },
    'a-root-without-padding': { text: swap(checkpoint, root, root.replace('=', '')), fault: "the checkpoint's root" },
    'a-line-after-the-root': { text: swap(checkpoint, root, `${root}\nextension`), fault: 'a line after its root' },
    'no-root': { text: swap(checkpoint, `${root}\n`, ''), fault: 'does not begin with an origin' },
    'an-empty-origin': { text: checkpoint.replace(log.origin, ''), fault: 'does not begin with an origin' },
    'an-origin-of-256-bytes': { text: checkpoint.replace(log.origin, 'é'.repeat(128)), fault: 'longer than 255' },
    'no-signature': { text: `${log.origin}\n5\n${root}\n`, fault: 'not a signed note' },
    'lines-that-end-in-crlf': { text: checkpoint.replaceAll('\n', '\r\n'), fault: 'not a signed note' },
    'a-signer-with-a-plus': { text: swap(checkpoint, '— papers', '— pap+ers'), fault: "a key's name has no +" },
    'sixty-five-signatures': { text: `${checkpoint}${`${lineOf(checkpoint, log.origin)}\n`.repeat(64)}`, fault: '65' },
    nothing: { text: '', fault: 'not a signed note' },
  },
  cosignature: {
    'a-flipped-bit-in-the-signature': {
      checkpoint: flipped(cosigned, 'witness.example/w1', 1),
      vkey: w1.vkey,
      fault: 'a wrong signature by "witness.example/w1"',
    },
    'a-flipped-bit-in-the-time': {
      checkpoint: flipped(cosigned, 'witness.example/w1', 65),
      vkey: w1.vkey,
      fault: 'a wrong signature',
    },
    'a-flipped-bit-in-ml-dsa-44': {
      checkpoint: flipped(cosigned, 'witness.example/w3', 9),
      vkey: w3.vkey,
      fault: 'a wrong signature by "witness.example/w3"',
    },
    'a-flipped-bit-in-the-log’s-signature': {
      checkpoint: flipped(cosigned, log.origin, 3),
      vkey: log.vkey,
      fault: 'a wrong signature',
    },
    'over-a-checkpoint-of-another-size': {
      checkpoint: `${first}${lineOf(cosigned, 'witness.example/w1')}\n`,
      vkey: w1.vkey,
      fault: 'a wrong signature',
    },
    'of-ml-dsa-44-over-a-checkpoint-of-another-size': {
      checkpoint: `${first}${lineOf(cosigned, 'witness.example/w3')}\n`,
      vkey: w3.vkey,
      fault: 'a wrong signature',
    },
    'a-good-line-and-a-wrong-one-by-one-witness': {
      checkpoint: flipped(w1.cosign(cosigned, TIME + 5), 'witness.example/w1', 1),
      vkey: w1.vkey,
      fault: 'a wrong signature',
    },
    'a-plain-ed25519-signature-in-place-of-a-cosignature': {
      checkpoint: `${checkpoint}${timestampedLine(w1Key, TIME, signerFrom('', new Uint8Array(32).fill(4)).sign(bytes(first)))}`,
      vkey: w1.vkey,
      fault: 'a wrong signature',
    },
    'a-signature-of-63-bytes': {
      checkpoint: `${checkpoint}${timestampedLine(w1Key, TIME, new Uint8Array(63))}`,
      vkey: w1.vkey,
      fault: 'a wrong signature',
    },
    'a-time-beyond-all-dates': {
      checkpoint: `${checkpoint}${timestampedLine(w1Key, 8_640_000_000_001, new Uint8Array(64))}`,
      vkey: w1.vkey,
      fault: 'a wrong signature',
    },
    'a-verifier-key-that-says-another-key-hash': {
      checkpoint: cosigned,
      vkey: vkeyOf({ ...w1Key, hash: '00000000' }),
      fault: 'says key hash 00000000',
    },
    'by-nobody': { checkpoint, vkey: w1.vkey, fault: 'nobody' },
    'by-the-same-key-under-another-name': {
      checkpoint: cosigned,
      vkey: vkeyOf(witnessKey('witness.example/x', COSIGNATURE, w1Key.publicKey)),
      fault: 'nobody',
    },
    'by-the-same-key-as-another-type': {
      checkpoint: cosigned,
      vkey: vkey('witness.example/w1', w1Key.publicKey),
      fault: 'nobody',
    },
  },
  consistency: {
    'a-rewritten-history': {
      old: { size: 3, root: toBase64(other.tree(2).root()) },
      head: head(5),
      proof: consistency(3, 5),
    },
    'a-shrunken-tree': { old: head(5), head: head(3), proof: consistency(3, 5) },
    'a-proof-between-other-sizes': { old: head(2), head: head(5), proof: consistency(3, 5) },
    'a-proof-cut-short': { old: head(3), head: head(5), proof: consistency(3, 5).slice(1) },
    'a-proof-with-a-hash-too-many': { old: head(3), head: head(5), proof: [...consistency(3, 5), root] },
    'two-roots-of-one-size': { old: head(5), head: { size: 5, root: toBase64(log.tree(4).root()) }, proof: [] },
    'a-proof-from-nothing': { old: head(0), head: head(5), proof: [root] },
    'another-root-for-the-empty-tree': { old: { size: 0, root }, head: head(5), proof: [] },
  },
  leaf: {
    'an-unknown-kind': { entry: 'receipt/v2\n', fault: 'no kind of leaf' },
    nothing: { entry: '', fault: 'no kind of leaf' },
    'a-receipt-without-its-signature': { entry: receiptNote.split('\n\n')[0] ?? '', fault: 'not a signed receipt' },
    'a-note-that-is-no-receipt': {
      entry: swap(receiptNote, 'revision 1', 'revision 01'),
      fault: 'not a signed receipt',
    },
    'a-hash-in-capitals': { entry: `receipt-hash/v1\nsha256:${'AB'.repeat(32)}\n`, fault: 'sha256:<hex>' },
    'a-hash-without-its-newline': { entry: `receipt-hash/v1\n${HASH}`, fault: 'sha256:<hex>' },
    'a-line-after-the-hash': { entry: `receipt-hash/v1\n${HASH}\n\n`, fault: 'sha256:<hex>' },
    'a-withdrawal-with-a-line-twice': {
      entry: swap(entry(2), 'paper harbor-ledger', 'paper harbor-ledger\npaper harbor-ledger'),
      fault: 'each once',
    },
    'a-withdrawal-with-its-lines-in-another-order': {
      entry: swap(swap(entry(2), 'paper harbor-ledger\n', ''), 'at ', 'paper harbor-ledger\nat '),
      fault: 'in place of its line paper',
    },
    'a-withdrawal-on-a-day-that-is-none': {
      entry: swap(entry(2), '2026-11-22T', '2026-02-30T'),
      fault: 'is not a time',
    },
    'a-withdrawal-with-a-reason-in-words': { entry: swap(entry(2), HASH, 'it was wrong'), fault: 'reason "it was' },
    'a-paper-with-a-blank': {
      entry: swap(entry(2), 'paper harbor-ledger', 'paper harbor ledger'),
      fault: 'paper "harbor l',
    },
    'a-key-of-31-bytes': {
      entry: swap(entry(3), toBase64url(DESK.publicKey), toBase64url(DESK.publicKey.subarray(1))),
      fault: 'the base64url of 32 bytes',
    },
    'a-key-whose-base64url-has-stray-bits': {
      entry: swap(entry(3), toBase64url(DESK.publicKey), strayUrl(toBase64url(DESK.publicKey))),
      fault: 'the base64url of 32 bytes',
    },
    'a-key-of-no-service': { entry: swap(entry(3), 'service desk', 'service mail'), fault: 'not desk or records' },
    'a-key-used-from-no-time': { entry: swap(entry(3), '.000Z', 'Z'), fault: 'is not a time' },
  },
  policy: {
    'an-unknown-word': {
      policy: changed(1, `witnes one ${w1.vkey}`),
      fault: 'line 2 of the policy: unknown word "witnes"',
    },
    'a-log-key-as-a-witness': {
      policy: changed(1, `witness one ${vkey('witness.example/w1', w1Key.publicKey)}`),
      fault: 'is a plain Ed25519 key; it must be of type 0x04 or 0x06',
    },
    'a-witness-key-as-a-log': { policy: changed(0, `log ${w1.vkey}`), fault: 'must be of type 0x01 or 0x06' },
    'a-key-of-an-unknown-type': {
      policy: changed(1, `witness one ${vkeyOf(witnessKey('w', 2, w1Key.publicKey))}`),
      fault: 'a key of type 0x02',
    },
    'a-key-of-31-bytes': {
      policy: changed(1, `witness one ${vkeyOf(witnessKey('w', COSIGNATURE, w1Key.publicKey.subarray(1)))}`),
      fault: 'has 31 bytes; an Ed25519 cosignature key has 32',
    },
    'an-ml-dsa-44-key-of-32-bytes': {
      policy: changed(1, `witness one ${vkeyOf(witnessKey('w', ML_DSA_COSIGNATURE, w1Key.publicKey))}`),
      fault: 'has 32 bytes; an ML-DSA-44 cosignature key has 1312',
    },
    'a-key-that-says-another-key-hash': {
      policy: changed(1, `witness one ${vkeyOf({ ...w1Key, hash: '00000000' })}`),
      fault: 'says key hash 00000000',
    },
    'a-text-that-is-no-key': { policy: changed(1, 'witness one abc'), fault: '"abc" is not a verifier key' },
    'a-quorum-that-cannot-be-met': {
      policy: changed(4, 'group all-three 4 one two three'),
      fault: '4 of 3 members can never',
    },
    'a-quorum-of-none-of-the-members': { policy: changed(4, 'group all-three 0 one two three'), fault: '"0" is not' },
    'a-threshold-with-a-leading-zero': { policy: changed(4, 'group all-three 02 one two three'), fault: '"02" is not' },
    'a-group-without-members': { policy: changed(4, 'group all-three any'), fault: 'a group is: group NAME' },
    'a-group-within-itself': {
      policy: changed(4, 'group all-three any all-three'),
      fault: '"all-three" is not defined on a line above',
    },
    'groups-that-hold-each-other': {
      policy: changed(4, 'group a any b\ngroup b any a'),
      fault: 'line 5 of the policy: "b" is not defined on a line above',
    },
    'a-witness-in-two-groups': {
      policy: changed(4, 'group a any one two\ngroup all-three any one a'),
      fault: '"one" is a member of "a" already',
    },
    'a-witness-twice-in-a-group': { policy: changed(4, 'group all-three 2 one one'), fault: '"one" is a member' },
    'none-as-a-member': { policy: changed(4, 'group all-three any none'), fault: '"none" cannot be a member' },
    'a-witness-called-none': { policy: changed(1, `witness none ${w1.vkey}`), fault: 'choose another name' },
    'two-witnesses-of-one-name': {
      policy: changed(2, `witness one ${w2.vkey}`),
      fault: '"one" was defined on line 2',
    },
    'two-witnesses-of-one-key': {
      policy: changed(2, `witness two ${vkeyOf(witnessKey('w', COSIGNATURE, w1Key.publicKey))}`),
      fault: 'stands on line 2 already',
    },
    'the-log’s-own-key-as-a-witness': {
      policy: changed(1, `witness one ${vkeyOf(witnessKey('w', COSIGNATURE, logKey))}`),
      fault: 'stands on line 1 already',
    },
    'one-log-twice': { policy: changed(1, `log ${log.vkey}`), fault: 'stands on line 1 already' },
    'two-quorums': { policy: `${policyOf(POLICY)}quorum none\n`, fault: 'set on line 6 already' },
    'no-quorum': { policy: changed(5, null), fault: 'no quorum line' },
    'a-quorum-of-nobody': { policy: changed(5, 'quorum four'), fault: '"four" is not defined' },
    'a-quorum-above-its-group': {
      policy: changed(4, 'quorum all-three\ngroup all-three 2 one two three'),
      fault: 'line 5 of the policy: "all-three" is not defined',
    },
    'an-item-too-many': { policy: changed(5, 'quorum all-three now'), fault: 'a quorum is: quorum NAME' },
    'an-address-of-another-scheme': {
      policy: changed(2, `witness two ${w2.vkey} ftp://w2.example/`),
      fault: 'is not an address',
    },
    'a-comment-beside-a-line': {
      policy: changed(5, 'quorum all-three # of two'),
      fault: 'a comment has a line of its own',
    },
    'lines-that-end-in-crlf': { policy: policyOf(POLICY).replaceAll('\n', '\r\n'), fault: 'a carriage return' },
    'a-control-character': { policy: changed(5, 'quorum all-three\u0000'), fault: 'a control character' },
    'a-thousand-lines': { policy: `${'\n'.repeat(999)}quorum none\n`, fault: 'has 1001 lines; 1000 are the most' },
    nothing: { policy: '', fault: 'no quorum line' },
  },
  proof: {
    'of-another-entry': proofVector({ entry: entry(1), fault: 'does not lead from entry 2' }),
    'at-another-index': proofVector({
      proof: swap(proofText(2), 'index 2', 'index 3'),
      fault: 'does not lead from entry 3',
    }),
    'at-an-index-beyond-the-tree': proofVector({
      proof: swap(proofText(2), 'index 2', 'index 5'),
      fault: 'is not in a tree of 5',
    }),
    'at-an-index-with-a-leading-zero': proofVector({
      proof: swap(proofText(2), 'index 2', 'index 02'),
      fault: 'index "02"',
    }),
    'with-a-hash-too-few': proofVector({
      proof: proofText(2).replace(/\n[^\n]+\n\n/, '\n\n'),
      fault: 'a proof of 2 hashes is not that of entry 2',
    }),
    'with-a-hash-too-many': proofVector({
      proof: swap(proofText(2), '\n\n', `\n${root}\n\n`),
      fault: 'a proof of 4 hashes',
    }),
    'with-64-hashes': proofVector({
      proof: swap(proofText(2), '\n\n', `\n${`${root}\n`.repeat(61)}\n`),
      fault: 'has 64 hashes; 63 are the most',
    }),
    'with-a-hash-whose-base64-has-stray-bits': proofVector({
      proof: swap(proofText(2), hashOf(2), stray(hashOf(2))),
      fault: 'hash 1 of the proof',
    }),
    'with-a-swapped-hash': proofVector({
      proof: proofText(2).replace(/index 2\n(\S+)\n(\S+)\n/, 'index 2\n$2\n$1\n'),
      fault: 'does not lead from entry 2',
    }),
    'of-a-checkpoint-without-the-quorum': proofVector({
      proof: proofText(2, w1.cosign(checkpoint, TIME)),
      fault: 'has not the quorum "all-three": 1 of 3',
    }),
    'of-a-checkpoint-with-one-witness-twice': proofVector({
      proof: proofText(2, w1.cosign(w1.cosign(checkpoint, TIME), TIME + 1)),
      fault: 'has not the quorum "all-three": 1 of 3',
    }),
    'of-a-checkpoint-with-a-wrong-cosignature-beside-a-quorum': proofVector({
      proof: proofText(2, flipped(cosigned, 'witness.example/w3', 9)),
      fault: 'a wrong signature by "witness.example/w3"',
    }),
    'of-a-checkpoint-that-the-log-has-not-signed': proofVector({
      proof: proofText(2, swap(cosigned, `${lineOf(cosigned, log.origin)}\n`, '')),
      fault: 'not signed by a key that the policy has for "papers.example/log"',
    }),
    'of-a-checkpoint-for-another-size': proofVector({
      proof: proofText(2, swap(cosigned, '\n5\n', '\n6\n')),
      fault: 'a wrong signature by "papers.example/log"',
    }),
    'of-another-log': proofVector({
      proof: tlogProofText({
        index: 2,
        path: other.tree().inclusionProof(2),
        checkpoint: other.checkpoint(),
        extra: null,
      }),
      fault: 'the policy has no log "papers.example/other"',
    }),
    'of-the-same-key-under-another-origin': proofVector({
      proof: proofText(2, fork.checkpoint()),
      fault: 'the policy has no log "papers.example/fork"',
    }),
    'of-another-version': proofVector({
      proof: swap(proofText(2), 'proof@v1', 'proof@v2'),
      fault: 'does not begin with the line',
    }),
    'without-an-index': proofVector({
      proof: swap(proofText(2), 'index 2\n', ''),
      fault: 'in place of its index line',
    }),
    'with-two-indexes': proofVector({
      proof: swap(proofText(2), 'index 2', 'index 2\nindex 2'),
      fault: 'hash 1 of the proof "index 2"',
    }),
    'with-extra-data-after-the-index': proofVector({
      proof: swap(proofText(2), 'index 2', 'index 2\nextra aGVsbG8='),
      fault: 'hash 1 of the proof "extra',
    }),
    'with-extra-data-whose-base64-has-stray-bits': proofVector({
      proof: swap(proofText(2), 'index 2', 'extra aGVsbG9=\nindex 2'),
      fault: 'extra "aGVsbG9=" is not base64',
    }),
    'without-a-checkpoint': proofVector({ proof: proofText(2, ''), fault: 'not a signed note' }),
    'lines-that-end-in-crlf': proofVector({ proof: proofText(2).replaceAll('\n', '\r\n'), fault: 'does not begin' }),
    nothing: proofVector({ proof: '', fault: 'does not begin' }),
  },
  answer: {
    'a-conflict-of-another-type': { status: 409, type: 'text/plain', body: '5\n', fault: 'without a size of type' },
    'a-conflict-in-words': { status: 409, type: 'text/x.tlog.size', body: 'five\n', fault: '"five" is not a number' },
    'a-conflict-with-a-leading-zero': { status: 409, type: 'text/x.tlog.size', body: '05\n', fault: '"05"' },
    'a-conflict-without-its-newline': { status: 409, type: 'text/x.tlog.size', body: '5', fault: 'not one line' },
    'a-conflict-of-two-lines': { status: 409, type: 'text/x.tlog.size', body: '5\n6\n', fault: 'is not a number' },
    'an-unknown-log': { status: 404, type: null, body: 'unknown log', fault: 'does not follow this log' },
    'a-refused-signature': { status: 403, type: null, body: '', fault: "does not take the checkpoint's signature" },
    'an-inconsistent-tree': { status: 422, type: null, body: '', fault: 'not consistent' },
    'a-fault-of-its-own': { status: 502, type: null, body: '<html>', fault: 'answered 502: "<html>"' },
    'a-web-page': { status: 200, type: 'text/html', body: '<html>\n', fault: 'does not consist of signature lines' },
    'an-empty-answer': { status: 200, type: null, body: '', fault: 'does not consist of signature lines' },
    'a-whole-checkpoint': { status: 200, type: null, body: cosigned, fault: 'does not consist of signature lines' },
    'a-line-without-its-newline': {
      status: 200,
      type: null,
      body: ANSWER.slice(0, -1),
      fault: 'does not consist of signature lines',
    },
    'seventeen-lines': {
      status: 200,
      type: null,
      body: `${ANSWER.split('\n')[0]}\n`.repeat(17),
      fault: '17 signature lines',
    },
  },
};

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function base64Of(data: Uint8Array): string {
  return Buffer.from(data).toString('base64');
}

/** The same 32 bytes in base64 that ends otherwise. */
function stray(base64: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const last = alphabet.indexOf(base64[42] ?? '');
  return `${base64.slice(0, 42)}${alphabet[last ^ 1]}=`;
}

function strayUrl(base64url: string): string {
  return stray(`${base64url.replaceAll('-', '+').replaceAll('_', '/')}=`)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 43);
}

/** The first hash of an entry's proof. */
function hashOf(index: number): string {
  return toBase64(log.tree().inclusionProof(index)[0] ?? new Uint8Array());
}

rmSync(FOLDER, { recursive: true, force: true });
for (const [validity, kinds] of Object.entries({ valid, invalid })) {
  for (const [kind, vectors] of Object.entries(kinds)) {
    mkdirSync(new URL(`${validity}/${kind}/`, FOLDER), { recursive: true });
    for (const [claim, vector] of Object.entries(vectors)) {
      const file = `${validity}/${kind}/${claim.replaceAll('’', '')}.json`;
      writeFileSync(new URL(file, FOLDER), `${JSON.stringify(vector, null, 2)}\n`);
    }
  }
}

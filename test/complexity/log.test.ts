import { test } from 'node:test';
import { parseCheckpoint } from '../../src/proof/log/checkpoint.ts';
import { parseLeaf } from '../../src/proof/log/leaf.ts';
import { parseTlogProof } from '../../src/proof/log/log-proof.ts';
import { parsePolicy } from '../../src/proof/log/policy.ts';
import { parseTilePath, readEntryBundle } from '../../src/proof/log/tile.ts';
import { readAddCheckpointAnswer } from '../../src/signing/log/witness.ts';
import { ed25519Witness, MemoryLog } from '../support/log.ts';
import { assertLinear, type Frame, repeated, SHAPES } from './growth.ts';

const KIB = 1024;
const PLAIN: Frame = ['', ''];
/** What every text of signed notes has in it. */
const HASH = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';
const HEAD = `papers.example/log\n5\n${HASH}\n`;
const log = new MemoryLog();
const witness = ed25519Witness('witness.example/w1', 4);

/** Every reader of the log's texts, the longest that it takes, and where in it a stranger may repeat himself. */
const READERS: [name: string, longest: number, frames: readonly Frame[], read: (text: string) => unknown][] = [
  [
    'checkpoint',
    128 * KIB,
    [PLAIN, [HEAD, '\n\n— a AAAAAAA=\n'], [`${HEAD}\n`, '\n'], [`${HEAD}\n— a `, '\n']],
    parseCheckpoint,
  ],
  [
    'proof',
    128 * KIB,
    [
      PLAIN,
      ['c2sp.org/tlog-proof@v1\n', `\n\n${HEAD}`],
      ['c2sp.org/tlog-proof@v1\nindex ', `\n\n${HEAD}`],
      ['c2sp.org/tlog-proof@v1\nextra ', `\nindex 0\n\n${HEAD}`],
      ['c2sp.org/tlog-proof@v1\nindex 0\n', `\n\n${HEAD}`],
    ],
    parseTlogProof,
  ],
  [
    'leaf',
    64 * KIB,
    [PLAIN, ['receipt-hash/v1\n', '\n'], ['withdrawal/v1\npaper ', '\n'], ['newsdesk-receipt/v1\n', '\n\n— a AAAA\n']],
    parseLeaf,
  ],
  [
    'policy',
    256 * KIB,
    [
      PLAIN,
      ['log ', '\nquorum none\n'],
      [`log ${log.vkey} https://`, '\nquorum none\n'],
      [`witness one ${witness.vkey}\ngroup g any `, ' one\nquorum g\n'],
      ['', '\nquorum none\n'],
    ],
    parsePolicy,
  ],
  ['answer of a witness', 64 * KIB, [PLAIN, ['— a ', '\n']], (text) => readAddCheckpointAnswer(200, null, text)],
  [
    'conflict of a witness',
    64 * KIB,
    [PLAIN, ['1', '\n']],
    (text) => readAddCheckpointAnswer(409, 'text/x.tlog.size', text),
  ],
  ['type of a witness’ answer', 64 * KIB, [PLAIN], (text) => readAddCheckpointAnswer(409, text, '5\n')],
  ['path of a tile', 16 * KIB, [PLAIN, ['tile/0/x', '/000'], ['tile/0/000.p/', '']], parseTilePath],
  [
    'entry bundle',
    128 * KIB,
    [PLAIN, ['\0\0', '']],
    (text) => readEntryBundle({ level: 'entries', index: 0, width: 256 }, Buffer.from(text)),
  ],
];

for (const [name, longest, frames, read] of READERS) {
  test(`${name}: time grows with the input`, async () => {
    for (const frame of frames) {
      for (const shape of SHAPES) {
        const input = repeated(shape, frame);
        const what = `${name} ${JSON.stringify(shape)} in ${JSON.stringify(frame)}`;
        await assertLinear(what, input, read as (input: never) => unknown, { longest });
      }
    }
  });
}

import { createPrivateKey, sign as nodeSign, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { generationAudit } from '../../src/desk/generation-audit.ts';
import { signerFrom, verifyNoble, verifyNode } from '../../src/proof/ed25519.ts';
import { parseNote } from '../../src/proof/note.ts';
import { deskOf } from '../../src/server/context.ts';
import { type Bench, filedPaper, openPaper } from './paper.ts';
import { aSecond, type Figure, median } from './table.ts';

const SIZE = Number(process.env.BENCH_PRESS ?? 10_000);
const SAMPLE = 400;
const ROUNDS = 5;
/** What comes before the seed in a private key's DER (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

interface Signed {
  message: Uint8Array;
  signature: Uint8Array;
}

/** The audit of a whole ledger, and of bare signatures, beside noble; and how fast the door signs. */
export async function verifyPart(bench: Bench): Promise<Figure[]> {
  const folder = filedPaper(bench, SIZE, 'verify');
  const app = openPaper(folder);
  const keys = app.store.desk.verifyingKeys('records');
  const { publicKey } = deskOf(app).signingKey.signer;
  const sample: Signed[] = [];
  const audits: number[] = [];
  for (let round = 0; round < 3; round++) {
    const audit = generationAudit(keys);
    let count = 0;
    const start = performance.now();
    for (const entry of app.store.desk.entries()) {
      if (entry.type !== 'generation') continue;
      const faults = audit.next(entry);
      if (faults.length > 0) throw new Error(`the ledger does not hold: ${faults[0]}`);
      count++;
      if (sample.length < SAMPLE) sample.push(signedIn(entry.receipt));
    }
    audits.push(count / ((performance.now() - start) / 1_000));
  }
  app.close();
  rmSync(folder, { recursive: true });

  const seed = randomBytes(32);
  const signer = signerFrom('bench', seed);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const node: number[] = [];
  const noble: number[] = [];
  const signs: number[] = [];
  const nodeSigns: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    node.push(rate(sample, ({ signature, message }) => verifyNode(signature, message, publicKey)));
    noble.push(rate(sample, ({ signature, message }) => verifyNoble(signature, message, publicKey)));
    signs.push(rate(sample, ({ message }) => signer.sign(message).length === 64));
    nodeSigns.push(rate(sample, ({ message }) => nodeSign(null, message, privateKey).length === 64));
  }
  const row = (what: string, ours: number[], other: number[]): Figure => ({
    what,
    ours: aSecond(median(ours)),
    other: aSecond(median(other)),
    ratio: median(ours) / median(other),
    budget: '',
    holds: null,
  });
  return [
    row(`audit of a ledger of ${SIZE}, every check : noble’s verify alone`, audits, noble),
    row('signatures checked in bulk : noble’s verify', node, noble),
    row('receipts signed : node:crypto’s sign', signs, nodeSigns),
  ];
}

function signedIn(receipt: string): Signed {
  const parsed = parseNote(receipt);
  const signature = parsed?.signatures[0]?.signature;
  if (parsed === null || signature === undefined) throw new Error('a receipt is not a signed note');
  return { message: Buffer.from(parsed.text, 'utf8'), signature };
}

function rate(sample: Signed[], work: (signed: Signed) => boolean): number {
  const start = performance.now();
  for (const signed of sample) if (!work(signed)) throw new Error('a signature does not hold');
  return sample.length / ((performance.now() - start) / 1_000);
}

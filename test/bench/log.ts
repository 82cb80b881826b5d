import { randomFillSync } from 'node:crypto';
import { signerFrom } from '../../src/proof/ed25519.ts';
import { appendLeaves } from '../../src/proof/log/append.ts';
import { checkpointText } from '../../src/proof/log/checkpoint.ts';
import { HASH_LENGTH } from '../../src/proof/log/fields.ts';
import { tlogProofText } from '../../src/proof/log/log-proof.ts';
import { nodeCrypto, readPolicy } from '../../src/proof/log/node-crypto.ts';
import { type TileReader, tilePath, tilesBetween } from '../../src/proof/log/tile.ts';
import { logTree } from '../../src/proof/log/tree.ts';
import { verifyTlogProof } from '../../src/proof/log/verify.ts';
import { leafHash } from '../../src/proof/merkle.ts';
import { signNote } from '../../src/proof/signing.ts';
import { ed25519Witness, MemoryLog } from '../support/log.ts';
import { browserVerifyFigure, type ProofSample } from './log-browser.ts';
import { filingCost, observingCost } from './log-cost.ts';
import { headCost } from './log-heads.ts';
import type { Bench } from './paper.ts';
import { aSecond, type Figure, median, note } from './table.ts';

const SIZES = (process.env.BENCH_LOG ?? '10000,1000000').split(',').map(Number);
/** As many leaves as a busy service signs between two checkpoints. */
const BATCH = 1_000;
const ROUNDS = 15;
const BUDGET_RATE = 10_000;
const BUDGET_BYTES = 40_000_000;
const BUDGET_VERIFY_MS = 20;
/** A larger tree may take this many times as long as the smallest: it is some levels higher. */
const FLAT = 3;

const origin = 'papers.example/log';
const signer = signerFrom(origin, new Uint8Array(32).fill(3));

/** Tiles in memory. */
interface Grown {
  size: number;
  tiles: Map<string, Uint8Array>;
  read: TileReader;
}

function emptyLog(): Grown {
  const tiles = new Map<string, Uint8Array>();
  const read: TileReader = (tile) => {
    const bytes = tiles.get(tilePath(tile));
    if (bytes === undefined) throw new Error(`there is no ${tilePath(tile)}`);
    return bytes;
  };
  return { size: 0, tiles, read };
}

function append(log: Grown, hashes: Uint8Array[]): void {
  const { size, tiles } = appendLeaves(log.size, hashes, log.read);
  for (const { tile, bytes } of tiles) log.tiles.set(tilePath(tile), bytes);
  log.size = size;
}

/** Fills a log up to a size with hashes of nothing in particular. */
function fill(log: Grown, size: number): void {
  while (log.size < size) {
    const bytes = randomFillSync(new Uint8Array(Math.min(65_536, size - log.size) * HASH_LENGTH));
    append(
      log,
      Array.from({ length: bytes.length / HASH_LENGTH }, (_, at) =>
        bytes.slice(at * HASH_LENGTH, (at + 1) * HASH_LENGTH),
      ),
    );
  }
}

/** The median of some rounds, in ms. */
function timed(work: () => unknown): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return median(rounds);
}

/** Appends, heads and proofs of logs of several sizes, in memory; and a proof as a reader checks it. */
export async function logPart(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  const log = emptyLog();
  let least: { checkpoint: number; proofs: number } | null = null;
  for (const target of SIZES) {
    note(`a log of ${target.toLocaleString('en')} leaves`);
    fill(log, target);
    const size = log.size;
    const whole = (): string => `${size.toLocaleString('en')} leaves`;
    const checkpoint = timed(() => {
      signNote(checkpointText({ origin, size, root: logTree(size, log.read).root() }), signer);
    });
    let at = 0;
    const proofs = timed(() => {
      const tree = logTree(size, log.read);
      at = (at + Math.floor(size / 7)) % size;
      tree.inclusionProof(at);
      tree.consistencyProof(Math.max(1, at));
    });
    least ??= { checkpoint, proofs };
    figures.push(figureOf(`log: a head, signed, of ${whole()}`, checkpoint, least.checkpoint));
    figures.push(figureOf(`log: an inclusion and a consistency proof of ${whole()}`, proofs, least.proofs));
    const bytes = [...tilesBetween(0, size)]
      .filter(({ level }) => level !== 'entries')
      .reduce((sum, { width }) => sum + width * HASH_LENGTH, 0);
    if (size === 1_000_000) figures.push(bytesFigure(bytes));
    const appended = timed(() => {
      const entries = Array.from({ length: BATCH }, (_, n) => `receipt-hash/v1\n${'a'.repeat(1_000)}${n}\n`);
      append(log, entries.map(leafHash));
      signNote(checkpointText({ origin, size: log.size, root: logTree(log.size, log.read).root() }), signer);
    });
    const rate = BATCH / (appended / 1_000);
    figures.push({
      what: `log: leaves of 1 kB appended to ${whole()}, ${BATCH} a head`,
      ours: aSecond(rate),
      other: aSecond(BUDGET_RATE),
      ratio: rate / BUDGET_RATE,
      budget: `${aSecond(BUDGET_RATE)}`,
      holds: rate >= BUDGET_RATE,
    });
  }
  const sample = proofSample();
  figures.push(await verifyFigure(sample), await browserVerifyFigure(sample));
  figures.push(filingCost(bench), await observingCost(bench), ...(await headCost(bench)));
  return figures;
}

function figureOf(what: string, ms: number, least: number): Figure {
  const [ours, other] = [ms, least].map((time) => `${time.toFixed(2)} ms`) as [string, string];
  return { what, ours, other, ratio: ms / least, budget: `${FLAT} of the smallest`, holds: ms <= least * FLAT };
}

function bytesFigure(bytes: number): Figure {
  const megabytes = (count: number): string => `${(count / 1e6).toFixed(1)} MB`;
  return {
    what: 'log: tiles of a million leaves',
    ours: megabytes(bytes),
    other: '',
    ratio: null,
    budget: megabytes(BUDGET_BYTES),
    holds: bytes < BUDGET_BYTES,
  };
}

/** A proof with two cosignatures. */
function proofSample(): ProofSample {
  const log = new MemoryLog(origin);
  log.append(Array.from({ length: 10_000 }, (_, at) => `entry ${at}`));
  const [one, two] = [ed25519Witness('witness.example/w1', 4), ed25519Witness('witness.example/w2', 5)];
  const checkpoint = two.cosign(one.cosign(log.checkpoint(), 1_795_000_000), 1_795_000_000);
  const index = 4_321;
  const tlog_proof = tlogProofText({ index, path: log.tree().inclusionProof(index), checkpoint, extra: null });
  return {
    entry: `entry ${index}`,
    log: { origin, index, tlog_proof },
    policy: `log ${log.vkey}\nwitness one ${one.vkey}\nwitness two ${two.vkey}\ngroup both all one two\nquorum both\n`,
  };
}

async function verifyFigure({ entry, log, policy: policyText }: ProofSample): Promise<Figure> {
  const policy = readPolicy(policyText);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await verifyTlogProof(entry, log.tlog_proof, policy, nodeCrypto);
    times.push(performance.now() - start);
  }
  const ms = median(times);
  return {
    what: 'log: a proof with two cosignatures verified, in Node',
    ours: `${ms.toFixed(2)} ms`,
    other: '',
    ratio: null,
    budget: `${BUDGET_VERIFY_MS} ms`,
    holds: ms < BUDGET_VERIFY_MS,
  };
}

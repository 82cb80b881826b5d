import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { joined, toBase64, toHex } from '../../src/proof/bytes.ts';
import { signerFrom } from '../../src/proof/ed25519.ts';
import { type VerifierKey, vkeyText } from '../../src/proof/key-text.ts';
import { keyHash, vkey } from '../../src/proof/keyring.ts';
import { appendLeaves } from '../../src/proof/log/append.ts';
import { checkpointText, parseCheckpoint } from '../../src/proof/log/checkpoint.ts';
import { COSIGNATURE, cosignatureMessage, ML_DSA_COSIGNATURE, treeMessage } from '../../src/proof/log/signatures.ts';
import {
  entryBundle,
  TILE_WIDTH,
  type Tile,
  type TileReader,
  tilePath,
  tilesBetween,
} from '../../src/proof/log/tile.ts';
import { type LogTree, logTree } from '../../src/proof/log/tree.ts';
import { leafHash } from '../../src/proof/merkle.ts';
import { signNote } from '../../src/proof/signing.ts';

/** A log in memory with a key from a test seed, and witnesses that sign everything. */

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

/** Files by path below a log's URL. */
export class MemoryLog {
  readonly files = new Map<string, Uint8Array>();
  readonly entries: Uint8Array[] = [];
  readonly origin: string;
  readonly #signer: ReturnType<typeof signerFrom>;

  constructor(origin = 'papers.example/log', byte = 3) {
    this.origin = origin;
    this.#signer = signerFrom(origin, seed(byte));
  }

  get vkey(): string {
    return vkey(this.origin, this.#signer.publicKey);
  }

  get size(): number {
    return this.entries.length;
  }

  readonly read: TileReader = (tile) => this.file(tile);

  file(tile: Tile): Uint8Array {
    const bytes = this.files.get(tilePath(tile));
    if (bytes === undefined) throw new Error(`there is no ${tilePath(tile)}`);
    return bytes;
  }

  /** The tree at its present or an earlier size. */
  tree(size = this.size): LogTree {
    if (size === this.size) return logTree(size, this.read);
    return logTree(size, appendLeaves(0, this.entries.slice(0, size).map(leafHash), this.read).read);
  }

  append(entries: (string | Uint8Array)[]): void {
    const added = entries.map((entry) => joined(entry));
    const { size, tiles } = appendLeaves(this.size, added.map(leafHash), this.read);
    const old = this.size;
    for (const entry of added) this.entries.push(entry);
    for (const { tile, bytes } of tiles) this.files.set(tilePath(tile), bytes);
    for (const tile of tilesBetween(old, size)) {
      if (tile.level !== 'entries') continue;
      const start = tile.index * TILE_WIDTH;
      this.files.set(tilePath(tile), entryBundle(this.entries.slice(start, start + tile.width)));
    }
  }

  checkpoint(size = this.size): string {
    return signNote(checkpointText({ origin: this.origin, size, root: this.tree(size).root() }), this.#signer);
  }
}

export interface TestWitness {
  vkey: string;
  /** Adds a cosignature line to a checkpoint. */
  cosign(checkpoint: string, time: number): string;
}

/** A witness that signs with Ed25519. Every byte of its seed is `byte`. */
export function ed25519Witness(name: string, byte: number): TestWitness {
  const signer = signerFrom(name, seed(byte));
  const key = witnessKey(name, COSIGNATURE, signer.publicKey);
  return {
    vkey: vkeyOf(key),
    cosign: (checkpoint, time) => {
      const message = cosignatureMessage(time, parseCheckpoint(checkpoint).note.text);
      return checkpoint + timestampedLine(key, time, signer.sign(message));
    },
  };
}

/** The DER prefix of the seed in an ML-DSA-44 private key (RFC 9881). */
const ML_DSA_44_SEED = Buffer.from('3034020100300b060960864801650304031104228020', 'hex');

/** A witness that signs with ML-DSA-44. Every byte of its seed is `byte`. Its signatures differ each time. */
export function mldsa44Witness(name: string, byte: number): TestWitness {
  const der = Buffer.concat([ML_DSA_44_SEED, seed(byte)]);
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { pub } = createPublicKey(secret).export({ format: 'jwk' }) as { pub: string };
  const key = witnessKey(name, ML_DSA_COSIGNATURE, new Uint8Array(Buffer.from(pub, 'base64url')));
  return {
    vkey: vkeyOf(key),
    cosign: (checkpoint, time) => {
      const message = treeMessage(name, time, parseCheckpoint(checkpoint));
      return checkpoint + timestampedLine(key, time, sign(null, message, secret));
    },
  };
}

/** A signature line whose blob begins with a timestamp. */
export function timestampedLine(key: VerifierKey, time: number, signature: Uint8Array): string {
  const stamp = new Uint8Array(8);
  new DataView(stamp.buffer).setBigUint64(0, BigInt(time));
  const hash = keyHash(key.name, key.publicKey, key.type);
  return `— ${key.name} ${toBase64(joined(hash, stamp, signature))}\n`;
}

/** A verifier key of any type, with the key hash of its bytes. */
export function witnessKey(name: string, type: number, publicKey: Uint8Array): VerifierKey {
  return { name, type, publicKey, hash: toHex(keyHash(name, publicKey, type)) };
}

export const vkeyOf = (key: VerifierKey): string => vkeyText(key);

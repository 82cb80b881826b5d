import { signerFrom } from '../../src/proof/ed25519.ts';
import { vkey } from '../../src/proof/keyring.ts';
import { appendLeaves } from '../../src/proof/log/append.ts';
import { checkpointText } from '../../src/proof/log/checkpoint.ts';
import type { LogService } from '../../src/proof/log/leaf.ts';
import { readPolicy } from '../../src/proof/log/node-crypto.ts';
import type { Policy } from '../../src/proof/log/policy.ts';
import { TILE_WIDTH } from '../../src/proof/log/tile.ts';
import { logTree } from '../../src/proof/log/tree.ts';
import { signNote } from '../../src/proof/signing.ts';
import type { LogHead, LogTables } from '../../src/shared/transparency/log-tables.ts';
import { ed25519Witness } from './log.ts';

/** When every test head was signed and cosigned, in seconds since 1970. */
const SIGNED = 1_780_000_000;

/** Signs and cosigns heads in a database's tables, with a key and a witness from test seeds. */
export class LogHeads {
  readonly origin = 'papers.example/log';
  readonly witness = ed25519Witness('witness.example/w1', 5);
  readonly vkey: string;
  readonly policy: Policy;
  readonly policyText: string;
  readonly #signer = signerFrom(this.origin, new Uint8Array(32).fill(3));
  readonly #tables: LogTables;
  readonly #log: LogService;

  constructor(tables: LogTables, log: LogService) {
    this.#tables = tables;
    this.#log = log;
    this.vkey = vkey(this.origin, this.#signer.publicKey);
    this.policyText = `log ${this.vkey}\nwitness w1 ${this.witness.vkey}\nquorum w1\n`;
    this.policy = readPolicy(this.policyText);
  }

  /** Signs a head over the present leaves. */
  sign(): LogHead {
    const [tables, log] = [this.#tables, this.#log];
    const old = tables.newestHead(log, this.origin)?.size ?? 0;
    const hashes = tables.leafHashes(log, old, tables.size(log));
    const { size, tiles, read } = appendLeaves(old, hashes, tables.tiles(log));
    for (const { tile, bytes } of tiles) {
      const stored = tile.level === 0 ? tile.width : tables.tiles(log)(tile).length / 32;
      const added = Array.from({ length: tile.width - stored }, (_, at) =>
        bytes.subarray(32 * (stored + at), 32 * (stored + at + 1)),
      );
      if (added.length > 0) tables.addNodes(log, tile.level, tile.index * TILE_WIDTH + stored, added);
    }
    const root = logTree(size, read).root();
    const checkpoint = signNote(checkpointText({ origin: this.origin, size, root }), this.#signer);
    tables.addHead(log, { origin: this.origin, size, signed_at: SIGNED * 1_000, checkpoint });
    const head = tables.newestHead(log, this.origin);
    if (head === null) throw new Error('the head is not stored');
    return head;
  }

  /** Cosigns a head; the one witness is the quorum. Returns the cosigned checkpoint. */
  cosign({ origin, size, checkpoint }: LogHead): string {
    const cosigned = this.witness.cosign(checkpoint, SIGNED);
    const line = cosigned.slice(checkpoint.length, -1);
    this.#tables.addCosignature(this.#log, { origin, size, vkey: this.witness.vkey, time: SIGNED, line });
    this.#tables.setCosigned(this.#log, origin, size, cosigned);
    return cosigned;
  }
}

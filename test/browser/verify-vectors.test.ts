import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { checkProof } from '../../src/parts/client/verify/check.ts';
import { signerFrom } from '../../src/proof/ed25519.ts';
import { jwks, thumbprint, type VerifyingKey } from '../../src/proof/keyring.ts';
import { keysFromVkeys } from '../../src/proof/proof.ts';

// The checks of the story page, which hash by WebCrypto, over the vectors that every verifier must tell apart.

const VECTORS = new URL('../vectors/proof/', import.meta.url);

/** Altered only in `receipt_verify`, which helps whoever checks by hand: the page takes its keys from the key document. */
const NOT_READ = new Set([
  'a-text-among-the-verifier-keys',
  'a-verifier-key-more',
  'a-verifier-key-that-is-none',
  'another-algorithm',
  'another-kid-to-verify-by-hand',
  'another-public-key-to-verify-by-hand',
  'another-text-to-verify-by-hand',
  'another-verifier-key',
  'no-receipt-verify',
  'verifier-keys-that-are-no-texts',
]);

/** The two keys that the vectors are signed by. */
const SIGNERS: VerifyingKey[] = [1, 2].map((byte) => {
  const { name, publicKey } = signerFrom('desk.example/door', new Uint8Array(32).fill(byte));
  return { kid: thumbprint(publicKey), name, publicKey, nbf: 0, retired_at: null };
});

interface Vector {
  proof: unknown;
  /** Verifier keys that the reader trusts at any time. */
  trusted?: string[];
  /** Keys in their time. */
  keys?: { vkey: string; nbf: string; retired_at: string | null }[];
  /** The places of what nobody signed. */
  unsigned?: string[];
}

for (const kind of ['valid', 'invalid'] as const) {
  for (const file of readdirSync(new URL(`${kind}/`, VECTORS))) {
    const name = basename(file, '.json');
    const holds = kind === 'valid' || NOT_READ.has(name);
    test(`${name} ${holds ? 'holds' : 'fails'} on the page as well`, async () => {
      const text = readFileSync(new URL(`${kind}/${file}`, VECTORS), 'utf8');
      const { proof, trusted, keys: listed, unsigned } = JSON.parse(text) as Vector;
      const inTime = listed?.flatMap(({ vkey, nbf, retired_at }) =>
        keysFromVkeys([vkey]).map((key) => ({
          ...key,
          nbf: Date.parse(nbf),
          retired_at: retired_at === null ? null : Date.parse(retired_at),
        })),
      );
      const keys = jwks(inTime ?? (trusted === undefined ? SIGNERS : keysFromVkeys(trusted)));
      const { id, revision, content_hash } = (proof ?? {}) as { id: string; revision: number; content_hash: string };
      const { checks, unsigned: named } = await checkProof({ proof, keys }, { id, revision, content_hash });
      const failed = checks.filter((check) => !check.holds).map(({ title }) => title);
      assert.equal(failed.length === 0, holds, failed.join());
      if (unsigned !== undefined) assert.deepEqual(named.sort(), unsigned);
    });
  }
}

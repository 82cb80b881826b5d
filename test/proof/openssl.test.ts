import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { basisOf, contentHash } from '../../src/proof/basis.ts';
import { signerFrom } from '../../src/proof/ed25519.ts';
import { jwks, thumbprint } from '../../src/proof/keyring.ts';
import { proofOf } from '../../src/proof/proof.ts';
import { signReceipt } from '../../src/proof/signing.ts';
import { tempFolder } from '../support/app-context.ts';

/**
 * How to check a receipt without Broadsheet, with a shell, jq and OpenSSL 3.
 * docs/verifying.md shows these lines; this test runs them as they stand.
 */
const STEPS = `
# 1. The signed text, byte for byte, and the signature: the last 64 of the 68 bytes in the note's last line.
jq -j .receipt_verify.signed proof.json > receipt.txt
jq -j .receipt proof.json | tail -n 1 | cut -d ' ' -f 3 | base64 -d | tail -c 64 > receipt.sig
# 2. The door's public key as PEM: twelve fixed bytes that say "Ed25519", then the 32 of the key.
{ printf '\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041\\000'; jq -r .receipt_verify.public_key proof.json | base64 -d; } > door.der
openssl pkey -pubin -inform DER -in door.der -out door.pem
# 3. Whether the signature is the door's.
openssl pkeyutl -verify -pubin -inkey door.pem -rawin -in receipt.txt -sigfile receipt.sig
# 4. Whether the piece is the one that the receipt is of: two equal lines. (jq -cS gives the RFC 8785 form of a basis: its member names are ASCII and its numbers whole.)
grep '^content_hash ' receipt.txt
printf 'content_hash sha256:%s\\n' "$(jq -cSj .basis proof.json | openssl dgst -sha256 -r | cut -d ' ' -f 1)"
`;

/** The same with the key taken from the paper's key document, which is the one to trust. */
const KEY_FROM_DOCUMENT = `
{ printf '\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041\\000'
  jq -r --arg kid "$(jq -r .receipt_verify.kid proof.json)" '.keys[] | select(.kid == $kid) | .x + "="' newsdesk-keys.json | tr -- '-_' '+/' | base64 -d
} > door.der
openssl pkey -pubin -inform DER -in door.der -out door.pem
openssl pkeyutl -verify -pubin -inkey door.pem -rawin -in receipt.txt -sigfile receipt.sig
`;

const missing = ['openssl', 'jq'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
const skip = missing.length > 0 && `there is no ${missing.join(', no ')} here`;

test('a receipt is verified with openssl alone', { skip }, (t) => {
  const folder = tempFolder(t);
  const signer = signerFrom('desk.example/door', new Uint8Array(32).fill(1));
  const kid = thumbprint(signer.publicKey);
  const piece = {
    id: '01jd000000000000000000000a',
    revision: 1,
    headline: 'Ужгород, "café" and a \\ backslash',
    dek: 'Waves 🌊 and no word of them',
    prose: 'The\ttide \u2028 turned at six.[^1]\n\nIt was dry.[^2]',
    cited_facts: [
      {
        n: 1,
        statement: 'It turned.',
        source: 'Harbour Office',
        instrument: 'https://harbour.example/',
        claim_key: null,
      },
      { n: 2, statement: 'It was dry.', source: 'Town Register', instrument: 'Folio 12', claim_key: null },
    ],
    category: 'Port & Sea',
    kind: 'news' as const,
    byline: { name: 'Ines Calloway', title: 'Editor' },
    credit: 'After <the> Harbour Office’s tables.',
    authors: [{ name: 'Zoë “Z” Ångström', url: 'https://zoe.example/?a&b' }],
    written_by: null,
    provenance: null,
  };
  const content_hash = contentHash(basisOf(piece));
  const receipt = {
    paper: 'harbor-ledger',
    piece: piece.id,
    revision: 1,
    content_hash,
    prev: null,
    seq: 1,
    filed_at: '2026-11-21T07:06:00.000Z',
    filed_by: 'cli',
    kid,
  };
  const { note, receipt_hash } = signReceipt(receipt, signer);
  const generation = {
    revision: 1,
    seq: 1,
    content_hash,
    receipt_hash,
    filed_at: receipt.filed_at,
    kid,
    receipt: note,
  };
  const key = { kid, name: signer.name, publicKey: signer.publicKey, nbf: 0, retired_at: null };
  const proof = proofOf(piece, {
    generations: [generation],
    keys: [key],
    keysUrl: 'https://desk.example/.well-known/newsdesk-keys.json',
    log: null,
  });
  const file = join(folder, 'proof.json');
  writeFileSync(file, JSON.stringify(proof));
  writeFileSync(join(folder, 'newsdesk-keys.json'), JSON.stringify(jwks([key])));
  const shell = (steps: string) =>
    spawnSync('bash', ['-euo', 'pipefail', '-c', steps], { cwd: folder, encoding: 'utf8' });

  const sound = shell(STEPS);
  assert.equal(sound.status, 0, sound.stdout + sound.stderr);
  assert.match(sound.stdout, /Signature Verified Successfully/);
  const [said, found] = sound.stdout.trim().split('\n').slice(-2);
  assert.equal(found, said);
  assert.equal(found, `content_hash ${content_hash}`);

  const trusting = shell(KEY_FROM_DOCUMENT);
  assert.equal(trusting.status, 0, trusting.stderr);
  assert.match(trusting.stdout, /Signature Verified Successfully/);

  const signed = proof.receipt_verify.signed.replace('filed_by cli', 'filed_by you');
  writeFileSync(file, JSON.stringify({ ...proof, receipt_verify: { ...proof.receipt_verify, signed } }));
  const altered = shell(STEPS);
  assert.notEqual(altered.status, 0);
  assert.match(altered.stdout + altered.stderr, /Signature Verification Failure/);
});

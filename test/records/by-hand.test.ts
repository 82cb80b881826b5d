import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

// Somebody who has only an answer, the key document, docs/protocol.md and RFC 6962: nothing of Broadsheet's own code is
// used here.

const vector = (name: string) =>
  JSON.parse(readFileSync(new URL(`../vectors/observation/valid/${name}.json`, import.meta.url), 'utf8'));

const sha256 = (...parts: (string | Uint8Array)[]): Buffer =>
  createHash('sha256')
    .update(Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array))))
    .digest();

/** The fields of a receipt whose signature holds. */
function receiptOf(note: string, vkey: string): Map<string, string> {
  const [name = '', , key = ''] = vkey.split('+');
  const publicKey = Buffer.from(key, 'base64').subarray(1);
  const at = note.indexOf('\n\n') + 1;
  const [text, line] = [note.slice(0, at), note.slice(at + 1)];
  const [, signer, blob = ''] = line.trimEnd().split(' ');
  assert.equal(signer, name);
  const bytes = Buffer.from(blob, 'base64');
  assert.deepEqual(bytes.subarray(0, 4), sha256(`${name}\n\x01`, publicKey).subarray(0, 4));
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') };
  assert(verify(null, Buffer.from(text), createPublicKey({ key: jwk, format: 'jwk' }), bytes.subarray(4)));
  const [header, ...lines] = text.trimEnd().split('\n');
  assert.equal(header, 'domain-observation/v1');
  return new Map(lines.map((said) => [said.split(' ')[0] ?? '', said.slice(said.indexOf(' ') + 1)]));
}

test('a full record is checked with node:crypto alone', () => {
  const { keys, record } = vector('a-full-record');
  const receipt = receiptOf(record.receipt, keys[0].vkey);
  // MTH (RFC 6962, section 2.1): split at the largest power of two below the size.
  const root = (leaves: string[]): Buffer => {
    if (leaves.length === 1) return sha256('\x00', leaves[0] as string);
    let k = 1;
    while (k * 2 < leaves.length) k *= 2;
    return sha256('\x01', root(leaves.slice(0, k)), root(leaves.slice(k)));
  };
  assert.equal(`sha256:${root(record.disclosures).toString('hex')}`, receipt.get('record_root'));
  assert.equal(String(record.disclosures.length), receipt.get('record_fields'));
  const fields = new Map(record.disclosures.map((text: string) => JSON.parse(text).slice(1)));
  assert.equal(fields.get('domain'), receipt.get('domain'));
  assert.equal(fields.get('observed_at'), receipt.get('observed_at'));
});

test('a preview is checked with node:crypto alone', () => {
  const { keys, preview } = vector('a-preview');
  const receipt = receiptOf(preview.receipt, keys[0].vkey);
  const size = Number(receipt.get('record_fields'));
  // The other way about from RFC 9162: from the root's split points down to the leaf.
  const climb = (index: number, count: number, leaf: Buffer, path: string[]): Buffer => {
    if (count === 1) return leaf;
    let k = 1;
    while (k * 2 < count) k *= 2;
    const sibling = Buffer.from(path.at(-1) ?? '', 'hex');
    return index < k
      ? sha256('\x01', climb(index, k, leaf, path.slice(0, -1)), sibling)
      : sha256('\x01', sibling, climb(index - k, count - k, leaf, path.slice(0, -1)));
  };
  assert(preview.disclosures.length > 3);
  for (const { index, disclosure, path } of preview.disclosures) {
    const reached = climb(index, size, sha256('\x00', disclosure), path);
    assert.equal(`sha256:${reached.toString('hex')}`, receipt.get('record_root'), disclosure);
  }
});

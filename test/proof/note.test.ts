import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ed from '@noble/ed25519';
import { contentHash } from '../../src/proof/basis.ts';
import { signerFrom, verifyNoble, verifyNode } from '../../src/proof/ed25519.ts';
import { isSignedBy, parseVkey, vkey } from '../../src/proof/keyring.ts';
import { parseNote } from '../../src/proof/note.ts';
import { parseReceipt, receiptText } from '../../src/proof/receipt.ts';
import { signNote } from '../../src/proof/signing.ts';
import * as fc from '../support/properties.ts';

const name = fc.string({ unit: 'grapheme-ascii', minLength: 1 }).filter((text) => /^[^\s+]+$/.test(text));
const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
/** Texts that a note may hold: sound Unicode, no control characters but newlines. */
const noteText = fc
  .string({ unit: 'binary', minLength: 1 })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: taking them out is the point
  .map((text) => text.replace(/[\u0000-\u0009\u000b-\u001f]/g, '\n').replace(/\n*$/, '\n'))
  .filter((text) => text.length > 1);

test('a note that was signed is read again as it was, and both verifiers take it', () => {
  fc.assert(
    fc.property(noteText, name, seed, (text, who, secret) => {
      const signer = signerFrom(who, secret);
      assert.deepEqual(signer.sign(Buffer.from(text)), ed.sign(Buffer.from(text), secret), 'noble signs alike');
      const note = parseNote(signNote(text, signer));
      assert(note !== null);
      assert.equal(note.text, text);
      assert.deepEqual(
        note.signatures.map((line) => line.name),
        [who],
      );
      const key = parseVkey(vkey(who, signer.publicKey));
      assert.deepEqual(key, { name: who, publicKey: signer.publicKey });
      for (const verify of [verifyNoble, verifyNode]) assert(isSignedBy(note, key, verify));
    }),
    { numRuns: 60 },
  );
});

test('any change to a note invalidates it', () => {
  const signer = signerFrom('desk.example/door', new Uint8Array(32).fill(1));
  const whole = signNote('The tide turned.\nAt six.\n', signer);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.string({ unit: 'grapheme', maxLength: 2 }), (at, put) => {
      const altered = whole.slice(0, at) + put + whole.slice(at + 1);
      fc.pre(altered !== whole);
      const note = parseNote(altered);
      for (const verify of [verifyNoble, verifyNode]) {
        assert(note === null || !isSignedBy(note, signer, verify), JSON.stringify(altered));
      }
    }),
    { numRuns: 300 },
  );
});

test('two verifiers agree on any signature and any key', () => {
  const signer = signerFrom('desk.example/door', new Uint8Array(32).fill(1));
  const message = Buffer.from('The tide turned.\n');
  const signature = signer.sign(message);
  const flip = (bytes: Uint8Array, bit: number): Uint8Array => {
    const flipped = Uint8Array.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return flipped;
  };
  for (let bit = 0; bit < 512; bit += 3) {
    const other = flip(signature, bit);
    assert.equal(
      verifyNoble(other, message, signer.publicKey),
      verifyNode(other, message, signer.publicKey),
      `bit ${bit}`,
    );
  }
  for (let bit = 0; bit < 256; bit++) {
    const other = flip(signer.publicKey, bit);
    assert.equal(verifyNoble(signature, message, other), verifyNode(signature, message, other), `bit ${bit}`);
  }
});

test('a content hash does not depend on the order of members', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (value, random) => {
      const shuffled = (item: unknown): unknown => {
        if (Array.isArray(item)) return item.map(shuffled);
        if (typeof item !== 'object' || item === null) return item;
        const members = Object.entries(item).map(
          ([key, member]) => [key, shuffled(member), random.next().value] as const,
        );
        return Object.fromEntries(members.sort((a, b) => a[2] - b[2]).map(([key, member]) => [key, member]));
      };
      assert.equal(contentHash(shuffled(value)), contentHash(value));
    }),
  );
});

test('a receipt that was written is read again as it was', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => /^\S+$/.test(text));
  const hash = fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => `sha256:${Buffer.from(bytes).toString('hex')}`);
  const number = fc.integer({ min: 1, max: 999_999_999_999_999 });
  fc.assert(
    fc.property(
      fc.record({
        paper: word,
        piece: word,
        revision: number,
        content_hash: hash,
        prev: fc.option(hash),
        seq: number,
        filed_at: fc
          .date({
            min: new Date('0000-01-01T00:00:00Z'),
            max: new Date('9999-12-31T23:59:59.999Z'),
            noInvalidDate: true,
          })
          .map((date) => date.toISOString()),
        filed_by: word,
        kid: word,
      }),
      (receipt) => assert.deepEqual(parseReceipt(receiptText(receipt)), { ...receipt }),
    ),
  );
});

test('a receipt is not written with a newline in a value', () => {
  const receipt = {
    paper: 'harbor-ledger',
    piece: 'a\nseq 7',
    revision: 1,
    content_hash: 'sha256:0',
    prev: null,
    seq: 1,
    filed_at: '2026-11-21T07:06:00.000Z',
    filed_by: 'cli',
    kid: 'k',
  };
  assert.throws(() => receiptText(receipt), /piece in a receipt holds a newline/);
});

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import canonicalize from 'canonicalize';
import { type ArchiveStatement, archiveIn, archiveText } from '../../src/proof/archive-note.ts';
import { contentHash, sha256 } from '../../src/proof/basis.ts';
import type { Generation } from '../../src/proof/chain.ts';
import { type DumpStatement, dumpIn, dumpText } from '../../src/proof/dump-note.ts';
import { verifyNoble, verifyNode } from '../../src/proof/ed25519.ts';
import { type Evidence, evidenceText, parseEvidence } from '../../src/proof/evidence-note.ts';
import { factFaults } from '../../src/proof/fact-document.ts';
import { type FactNote, factText, parseFact } from '../../src/proof/fact-note.ts';
import { chainFaults } from '../../src/proof/generation.ts';
import { NotIJson, parseIJson } from '../../src/proof/i-json.ts';
import { isSignedBy, parseVkey, thumbprint, type VerifyingKey } from '../../src/proof/keyring.ts';
import { parseNote, type Verify } from '../../src/proof/note.ts';
import { keysFromVkeys, proofFaults } from '../../src/proof/proof.ts';
import { unsignedIn } from '../../src/proof/proof-form.ts';
import { parseReceipt, type Receipt, receiptText } from '../../src/proof/receipt.ts';
import { type ObservationReceipt, observationText, parseObservation } from '../../src/proof/records/receipt.ts';
import { documentFaults } from '../../src/proof/records/verify/document-faults.ts';
import { documentIn } from '../../src/proof/records/verify/documents.ts';
import { parseReview, type Review, reviewText } from '../../src/proof/review-note.ts';
import { readManifest } from '../../src/records/archive/manifest.ts';
import { caught, Fault } from '../../src/shared/fault.ts';
import { previewFaults, receiptChainFaults, recordFaults } from '../support/records-faults.ts';

// A vector's file name is the claim it makes: `proof/invalid/an-altered-prose.json`
// holds a proof whose prose was altered. The keys are of test seeds (32 bytes 01, 32 bytes 02).
// Verifiers in other languages can be run over this folder.

const VECTORS = new URL('../vectors/', import.meta.url);

/** Two implementations of Ed25519 that must agree on every vector. */
const VERIFIERS: [string, Verify][] = [
  ['noble', verifyNoble],
  ['node:crypto', verifyNode],
];

/** What a vector of each kind is: the claims that do not hold, none for a valid one. */
const kinds: Record<string, (vector: never, verify: Verify) => string[]> = {
  hash({ value, canonical, content_hash }: { value: unknown; canonical?: string; content_hash: string }) {
    const hash = hashOf(value);
    if (canonical === undefined) return hash === content_hash ? [] : ['it has another hash'];
    assert.equal(canonicalize(value), canonical);
    assert.equal(sha256(canonical), content_hash);
    return hash === content_hash ? [] : ['it has another hash'];
  },
  note({ note, vkey }: { note: string; vkey: string }, verify) {
    const parsed = parseNote(note);
    const key = parseVkey(vkey);
    return parsed !== null && key !== null && isSignedBy(parsed, key, verify) ? [] : ['it is not signed by the key'];
  },
  receipt({ text, receipt }: { text: string; receipt?: Receipt }) {
    const parsed = parseReceipt(text);
    if (parsed === null) return ['it is not a receipt'];
    assert.deepEqual(parsed, receipt);
    assert.equal(receiptText(parsed), text);
    return [];
  },
  review({ text, review }: { text: string; review?: Review }) {
    const parsed = parseReview(text);
    if (parsed === null) return ['it is not a review'];
    assert.deepEqual(parsed, review);
    assert.equal(reviewText(parsed), text);
    return [];
  },
  fact({ text, fact, document, keys }: FactVector, verify) {
    if (text === undefined) return factFaults(document, verify, keys?.map(doorKey));
    const parsed = parseFact(text);
    if (parsed === null) return ['it is not a version of a fact'];
    assert.deepEqual(parsed, fact);
    assert.equal(factText(parsed), text);
    return [];
  },
  evidence({ text, evidence }: { text: string; evidence?: Evidence }) {
    const parsed = parseEvidence(text);
    if (parsed === null) return ['it is not evidence'];
    assert.deepEqual(parsed, evidence);
    assert.equal(evidenceText(parsed), text);
    return [];
  },
  archive({ note, archive, manifest, keys = [] }: ArchiveVector) {
    if (note === undefined) {
      const read = caught(Fault, () => readManifest(JSON.stringify(manifest), keys.map(doorKey), 'it'));
      return read instanceof Fault ? [read.message] : [];
    }
    const parsed = archiveIn(note);
    if (parsed === null) return ['it is not the note of a manifest'];
    assert.deepEqual(parsed, archive);
    assert.equal(archiveText(parsed), parseNote(note)?.text);
    return [];
  },
  dump({ note, dump }: { note: string; dump?: DumpStatement }) {
    const parsed = dumpIn(note);
    if (parsed === null) return ['it is not the note of a dump'];
    assert.deepEqual(parsed, dump);
    assert.equal(dumpText(parsed), parseNote(note)?.text);
    return [];
  },
  chain({ keys, generations }: { keys: KeyVector[]; generations: Generation[] }, verify) {
    return chainFaults(generations, keys.map(doorKey), verify);
  },
  observation(vector: ObservationVector, verify) {
    const keys = (vector.keys ?? []).map(doorKey);
    if (vector.record !== undefined) return recordFaults(vector.record, keys, verify);
    if (vector.preview !== undefined) return previewFaults(vector.preview, keys, verify);
    if (vector.chain !== undefined) return receiptChainFaults(vector.chain, keys, verify, vector.whole === true);
    const parsed = parseObservation(vector.text ?? '');
    if (parsed === null) return ['it is not a receipt'];
    assert.deepEqual(parsed, vector.receipt);
    assert.equal(observationText(parsed), vector.text);
    return [];
  },
  document({ text, keys }: { text: string; keys: KeyVector[] }, verify) {
    const document = documentIn(text);
    return document === null ? ['it is no document'] : documentFaults(document, keys.map(doorKey), verify);
  },
  json({ text }: { text: string }) {
    try {
      parseIJson(text);
      return [];
    } catch (error) {
      assert(error instanceof NotIJson);
      return [error.message];
    }
  },
  proof({ proof, trusted, keys, unsigned }: ProofVector, verify) {
    // What nobody signed is named, so that nobody takes it for checked.
    if (unsigned !== undefined) assert.deepEqual(unsignedIn(proof as object).sort(), unsigned);
    return proofFaults(proof, verify, keys?.map(doorKey) ?? (trusted && keysFromVkeys(trusted)));
  },
};

/** A receipt's text, a full record, a preview or a chain of receipts of the records service. */
interface ObservationVector {
  keys?: KeyVector[];
  text?: string;
  receipt?: ObservationReceipt;
  record?: Parameters<typeof recordFaults>[0];
  preview?: Parameters<typeof previewFaults>[0];
  chain?: string[];
  whole?: boolean;
}

/** The note of a manifest, or a whole manifest. */
interface ArchiveVector {
  note?: string;
  archive?: ArchiveStatement;
  manifest?: unknown;
  keys?: KeyVector[];
}

/** A note's text, or a fact's document. */
interface FactVector {
  text?: string;
  fact?: FactNote;
  document?: unknown;
  keys?: KeyVector[];
}

interface ProofVector {
  proof: unknown;
  trusted?: string[];
  keys?: KeyVector[];
  unsigned?: string[];
}

interface KeyVector {
  vkey: string;
  nbf: string;
  retired_at: string | null;
}

function doorKey({ vkey, nbf, retired_at }: KeyVector): VerifyingKey {
  const key = parseVkey(vkey);
  assert(key !== null);
  const kid = thumbprint(key.publicKey);
  return { ...key, kid, nbf: Date.parse(nbf), retired_at: retired_at === null ? null : Date.parse(retired_at) };
}

function hashOf(value: unknown): string | null {
  try {
    return contentHash(value);
  } catch {
    return null;
  }
}

function vectorsIn(folder: string): [string, Record<string, unknown>][] {
  return readdirSync(new URL(folder, VECTORS))
    .sort()
    .map((name) => [
      basename(name, '.json'),
      JSON.parse(readFileSync(new URL(folder + name, VECTORS), 'utf8')) as Record<string, unknown>,
    ]);
}

// Those of the log and of pictures have tests of their own (test/proof/log/vectors.test.ts, test/press/svg-vectors.test.ts).
assert.deepEqual(readdirSync(VECTORS).sort(), [...Object.keys(kinds), 'log', 'svg'].sort());

for (const [kind, check] of Object.entries(kinds)) {
  for (const [claim, vector] of vectorsIn(`${kind}/valid/`)) {
    test(`${kind}, valid: ${claim.replaceAll('-', ' ')}`, () => {
      for (const [name, verify] of VERIFIERS) assert.deepEqual(check(vector as never, verify), [], name);
    });
  }
  for (const [claim, vector] of vectorsIn(`${kind}/invalid/`)) {
    test(`${kind}, invalid: ${claim.replaceAll('-', ' ')}`, () => {
      for (const [name, verify] of VERIFIERS) {
        const faults = check(vector as never, verify);
        assert.notDeepEqual(faults, [], `${name} takes it`);
        // It must fail for the reason that the vector claims.
        const expected = vector.fault as string | undefined;
        if (expected !== undefined)
          assert(
            faults.some((fault) => fault.includes(expected)),
            `${name}: ${faults.join('; ')}`,
          );
      }
    });
  }
}

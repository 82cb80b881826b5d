import assert from 'node:assert/strict';
import { test } from 'node:test';
import canonicalize from 'canonicalize';
import type { Piece } from '../../src/desk/door/piece.ts';
import { checkProof } from '../../src/parts/client/verify/check.ts';
import { basisOf, contentHash } from '../../src/proof/basis.ts';
import type { Generation } from '../../src/proof/chain.ts';
import { signerFrom, verifyNode } from '../../src/proof/ed25519.ts';
import { generationAuditor } from '../../src/proof/generation.ts';
import { parseIJson } from '../../src/proof/i-json.ts';
import { jwks, thumbprint, type VerifyingKey } from '../../src/proof/keyring.ts';
import { LOG_PROOF } from '../../src/proof/log/log-proof.ts';
import { mismatches } from '../../src/proof/members.ts';
import { type Proof, proofFaults, proofOf } from '../../src/proof/proof.ts';
import { unsignedIn } from '../../src/proof/proof-form.ts';
import { signReceipt } from '../../src/proof/signing.ts';
import { altered, change, withoutMembers } from '../support/mutations.ts';
import * as fc from '../support/properties.ts';

// Thousands of altered proofs, and keys whose time was moved: the command line's verifier, the story page's and the
// auditor must judge each alike, and what they take must be what was signed. With test/records/differential.test.ts a
// night of `.ci/wide` has 360,000 alterations.

const HOUR = 3_600_000;
const AT = Date.UTC(2026, 10, 20, 12);

const PIECE: Piece = {
  id: '01jd000000000000000000000a',
  slug: 'tide',
  revision: 1,
  headline: 'Tide tables move “an hour” — 潮',
  dek: 'What the harbor board measured',
  prose: 'The board measured the tide.[^1] It moved.[^2]\n\n<not a tag> & more',
  cited_facts: [1, 2].map((n) => ({
    n,
    statement: `Fact ${n}`,
    source: `Source ${n}`,
    instrument: '',
    claim_key: null,
  })),
  category: 'Harbor',
  kind: 'news',
  persona: 'mara',
  byline: { name: 'Mara', title: 'Harbor desk (AI persona)' },
  language: 'en',
  image: null,
  credit: 'After the board’s table',
  authors: [{ name: 'Ann Lee', url: 'https://ann.example/' }, { name: 'Bo Ray' }],
  written_by: null,
  provenance: 'archive',
  aliases: [],
  tags: ['Tides'],
  correction: null,
  revised_at: null,
};

/** Two keys: the second took the first one's place between the second and the third revision. */
const SIGNERS = [1, 2].map((byte) => signerFrom('desk.example/door', new Uint8Array(32).fill(byte)));
const KEYS: VerifyingKey[] = SIGNERS.map(({ name, publicKey }, index) => ({
  kid: thumbprint(publicKey),
  name,
  publicKey,
  nbf: index === 0 ? AT : AT + 2 * HOUR,
  retired_at: index === 0 ? AT + 2 * HOUR : null,
}));

const PIECES = [1, 2, 3].map((revision) => ({ ...PIECE, revision, headline: `${PIECE.headline} (${revision})` }));
const GENERATIONS: Generation[] = [];
for (const [index, piece] of PIECES.entries()) {
  const which = index < 2 ? 0 : 1;
  const kid = (KEYS[which] as VerifyingKey).kid;
  const filed_at = new Date(AT + index * HOUR).toISOString();
  const content_hash = contentHash(basisOf(piece));
  const { revision, id } = piece;
  const prev = GENERATIONS.at(-1)?.receipt_hash ?? null;
  const said = {
    paper: 'harbor-ledger',
    piece: id,
    revision,
    content_hash,
    prev,
    seq: revision,
    filed_at,
    filed_by: 'cli',
    kid,
  };
  const { note, receipt_hash } = signReceipt(said, SIGNERS[which] as (typeof SIGNERS)[0]);
  GENERATIONS.push({ revision, seq: revision, content_hash, receipt_hash, filed_at, kid, receipt: note });
}
const KEYS_URL = 'https://desk.example/.well-known/newsdesk-keys.json';
const PROOF = proofOf(PIECES[2] as Piece, { generations: GENERATIONS, keys: KEYS, keysUrl: KEYS_URL, log: null });

/** The outcome of one verifier: whether all holds. A text that cannot be read does not; nothing may throw. */
type Judge = (text: string, keys: VerifyingKey[]) => boolean | Promise<boolean>;

function parsed(text: string): unknown {
  try {
    return parseIJson(text);
  } catch {
    return undefined;
  }
}

const commandLine: Judge = (text, keys) => proofFaults(parsed(text), verifyNode, keys).length === 0;

const storyPage: Judge = async (text, keys) => {
  const proof = parsed(text);
  const { id, revision, content_hash } = (proof ?? {}) as Proof;
  const { checks } = await checkProof({ proof, keys: jwks(keys) }, { id, revision, content_hash });
  return checks.every(({ holds }) => holds);
};

/** As an audit of a ledger that has these generations, of which the newest is this piece. */
const audit: Judge = (text, keys) => {
  const proof = parsed(text) as Proof | undefined;
  try {
    const { id, revision, content_hash, basis, receipt, generations, log } = proof as Proof;
    if (mismatches({ log: log ?? null }, { 'log??': LOG_PROOF }).length > 0) return false;
    const piece = { ...PIECE, ...basis, credit: basis.credit ?? null, written_by: basis.written_by ?? null } as Piece;
    // What a ledger cannot keep, it has not.
    if (canonicalize(basisOf(piece)) !== canonicalize(basis) || basis.id !== id || basis.revision !== revision)
      return false;
    const audited = generationAuditor(keys);
    const faults = generations.flatMap((generation, index) => {
      const isLast = index === generations.length - 1;
      const of = isLast ? piece : ({ ...PIECES[index], id } as Piece);
      return audited.next({ ...generation, paper: 'harbor-ledger', piece: of });
    });
    const last = generations.at(-1);
    const isNewest = last?.receipt === receipt && last.content_hash === content_hash && last.revision === revision;
    return faults.length === 0 && isNewest;
  } catch {
    return false;
  }
};

/** A proof without what is named as unsigned, and without what tells how to check by hand. */
function signedPart(text: string): string {
  const {
    receipt_verify: _,
    hash_basis: __,
    log,
    ...said
  } = withoutMembers(JSON.parse(text), unsignedIn(JSON.parse(text) as object));
  // A proof from before there was a log has no such member.
  return canonicalize({ ...said, log: log ?? null }) ?? '';
}

const handPart = (text: string): string => canonicalize((JSON.parse(text) as Proof).receipt_verify) ?? '';

const sound = JSON.stringify(PROOF);
/** How far the times of both keys are moved, in ms: mostly not at all, or just over the edge. */
const shift = fc.constantFrom(0, 0, 0, -1, 1, HOUR - 1, HOUR, -HOUR, -30 * 24 * HOUR);
const mutants = fc.record({ changes: fc.array(change, { maxLength: 2 }), shift, which: fc.nat(2) });

test('all verifiers agree on any alteration of a proof or its keys’ times', async () => {
  for (const judge of [commandLine, storyPage, audit])
    assert.equal(await judge(sound, KEYS), true, 'it holds as it is');
  await fc.assert(
    fc.asyncProperty(mutants, async ({ changes, shift, which }) => {
      const text = altered(sound, changes);
      const keys = KEYS.map((key, index) => ({
        ...key,
        // A key document says `nbf` in whole seconds.
        nbf: which === 0 && index === 1 ? key.nbf + Math.round(shift / 1000) * 1000 : key.nbf,
        retired_at: which === 1 && key.retired_at !== null ? key.retired_at + shift : key.retired_at,
      }));
      const [here, page, ledger] = [
        await commandLine(text, keys),
        await storyPage(text, keys),
        await audit(text, keys),
      ];
      if (here) {
        assert.deepEqual([page, ledger], [true, true], 'the command line takes what others refuse');
        assert.equal(signedPart(text), signedPart(sound), 'what holds is what was signed, or is named as unsigned');
        const proof = JSON.parse(text) as Proof;
        const { unsigned } = await checkProof({ proof, keys: jwks(keys) }, proof);
        assert.deepEqual(unsigned, unsignedIn(proof), 'the page names the same');
        return;
      }
      // The lines for those who check by hand are read by the command line alone.
      const isByHand = parsed(text) !== undefined && handPart(text) !== handPart(sound);
      if (!isByHand) assert.deepEqual([page, ledger], [false, false], 'the command line refuses what others take');
    }),
    { numRuns: 300 },
  );
});

test('a receipt outside its key’s time is refused by all, to the millisecond', async () => {
  const [first, second] = KEYS as [VerifyingKey, VerifyingKey];
  const cases: [keys: VerifyingKey[], holds: boolean][] = [
    [[{ ...first, retired_at: AT + HOUR + 1 }, second], true],
    [[{ ...first, retired_at: AT + HOUR }, second], false],
    [[{ ...first, retired_at: AT - 30 * 24 * HOUR }, second], false],
    [[{ ...first, nbf: AT + 1000 }, second], false],
    [[first, { ...second, nbf: AT + 2 * HOUR + 1000 }], false],
  ];
  for (const [keys, holds] of cases) {
    for (const judge of [commandLine, storyPage, audit]) assert.equal(await judge(sound, keys), holds);
  }
});

import { z } from '@hono/zod-openapi';
import type { Story } from '../../../src/desk/archive.ts';
import { showsReview } from '../../../src/desk/review.ts';
import { refuseWithdrawn } from '../../../src/desk/withdrawal.ts';
import { proofOf } from '../../../src/proof/proof.ts';
import type { AppContext } from '../../../src/server/context.ts';
import type { PaperContext } from '../../env.ts';
import { faults, LogProofBody, ok } from '../../openapi/responses.ts';
import { cached } from '../../responses/reply.ts';
import { archiveOf, pieceNotFound, requirePiece } from '../context.ts';
import { idParam, operationsUnder } from '../route.ts';

const hash = z.string().openapi({ pattern: '^sha256:[0-9a-f]{64}$' });

/** A disclosed field of an observation, with its path to the root (protocol 5.6). */
const ShownField = z.object({ index: z.int(), disclosure: z.string(), path: z.array(z.string()) });

export const ProofBody = z
  .object({
    id: z.string(),
    revision: z.int(),
    content_hash: hash,
    basis: z
      .looseObject({ v: z.literal(1), id: z.string(), revision: z.int(), headline: z.string(), prose: z.string() })
      .openapi({ description: 'The exact inputs of the hash.' }),
    hash_basis: z.string().openapi({ description: 'How the hash is computed from them.' }),
    receipt: z.string().openapi({ description: 'The door’s receipt: a C2SP signed note, verbatim.' }),
    receipt_verify: z.object({
      alg: z.literal('Ed25519'),
      signed: z.string().openapi({ description: 'The signed text.' }),
      key_name: z.string(),
      kid: z.string(),
      public_key: z.string().openapi({ description: 'Base64 of 32 bytes.' }),
      vkey: z.string(),
      keys_url: z.url(),
      vkeys: z.array(z.string()),
    }),
    generations: z.array(
      z.object({
        revision: z.int(),
        seq: z.int(),
        content_hash: hash,
        receipt_hash: hash,
        filed_at: z.iso.datetime(),
        kid: z.string(),
        receipt: z.string(),
      }),
    ),
    log: LogProofBody,
    clock: z.array(z.string()).optional().meta({
      description:
        'Signed corrections of a clock that ran ahead, where they cover one of the generations: a later `filed_at` counts as their true time.',
    }),
    reviews: z
      .array(z.object({ note: z.string(), vkey: z.string() }))
      .optional()
      .meta({
        description: 'Who approved which revision, where the paper shows that: signed notes, oldest first.',
      }),
    evidence: z
      .array(
        z.object({
          ...{ n: z.number().int(), note: z.string(), vkey: z.string() },
          observation: z
            .object({ receipt: z.string(), disclosures: z.array(ShownField), log: LogProofBody.optional() })
            .optional()
            .meta({ description: 'The signed observation of a hostname that the note names: protocol 4.10.' }),
        }),
      )
      .optional()
      .meta({ description: 'What the desk found in the source of each cited fact that it read: signed notes.' }),
  })
  .openapi('Proof', {
    description: 'Proves who filed the piece and that it has not changed. It never proves a claim true.',
  });

const proof = {
  operationId: 'readProof',
  summary: 'The content hash, its basis, and the signed receipt of every revision',
  description:
    'Also for drafts and withdrawn pieces: what was filed remains proved. Not for a piece whose headline is withheld.',
  request: { params: idParam },
  responses: { 200: ok(ProofBody, 'The proof.'), ...faults(410) },
};

/** The proof of a piece, in any state, made once per newest receipt, cosigned head, correction of the clock, review and reading. */
export function readProof(app: AppContext) {
  const { log, clockCorrections } = app.store.database;
  const { pieces, nextEvidenceSeq } = app.store.desk;
  return operationsUnder('Proof')(proof, (c) => {
    const name = c.req.valid('param').id;
    const newest = pieces.newestReceipt(c.get('site').slug, name);
    if (newest === null) throw pieceNotFound(name);
    // The proof contains the signed text, and so the headline.
    if (newest.headline_withheld) refuseWithdrawn(requirePiece(archiveOf(app, c), newest.id), 'proof');
    const reviews = reviewsShown(app, c, newest.id).length;
    const make = () => proofFor(app, c, requirePiece(archiveOf(app, c), newest.id));
    const state = [log.cosignedSize('desk'), clockCorrections(), reviews, nextEvidenceSeq(c.get('site').slug)];
    return cached(`proof ${newest.receipt_hash} ${state.join(' ')}`, make);
  });
}

/** The reviews of a piece that its proof lists. */
function reviewsShown(app: AppContext, c: PaperContext, id: string): string[] {
  return showsReview(c.get('site').paper) ? archiveOf(app, c).reviewNotes(id) : [];
}

export function proofFor(app: AppContext, c: PaperContext, story: Story) {
  const archive = archiveOf(app, c);
  const keysUrl = `${c.get('site').root}/.well-known/newsdesk-keys.json`;
  const generations = archive.generations(story.id);
  const log = archive.logProof(generations.at(-1)?.receipt ?? '');
  const sources = { generations, keys: archive.keys(), keysUrl, log, clock: archive.clockNotes() };
  const proof = proofOf(story, { ...sources, reviews: reviewsShown(app, c, story.id), evidence: story.evidence });
  return { ...proof, basis: { ...proof.basis } };
}

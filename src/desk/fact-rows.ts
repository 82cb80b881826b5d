import * as z from 'zod';
import { factDocument, type ListedFact, listedFact } from '../proof/fact-document.ts';
import { FACT_STATUSES } from '../proof/fact-note.ts';
import { type Archive, STATES } from './archive.ts';
import type { CitingRow } from './fact.ts';
import { storyUrl } from './story.ts';

const time = z.iso.datetime();

/** A version of a fact in wire format (protocol 4.8). */
export const FactRecord = z
  .object({
    claim_key: z.string(),
    version: z.int().min(1),
    statement: z.string(),
    source: z.string().meta({ description: 'The publisher.' }),
    instrument: z.string().meta({ description: 'The document that says it: an address or a name.' }),
    quote: z.string().nullable().meta({ description: 'The words of the document that support the statement.' }),
    status: z.enum(FACT_STATUSES).meta({
      description: '`corrected`: an earlier version was wrong, and this one is right. `retracted`: it is not true.',
    }),
    note: z.string().nullable().meta({ description: 'Why this version was made; null for the first.' }),
    fact_hash: z.string().meta({ description: 'SHA-256 of the RFC 8785 form of what it says.' }),
    seq: z.int().min(1).meta({ description: 'Its number among all versions of the paper’s facts.' }),
    signed_at: time,
    kid: z.string(),
    receipt: z.string().meta({ description: 'The version’s signed note, verbatim.' }),
    vkey: z.string().meta({ description: 'The verifier key of its signer.' }),
  })
  .meta({
    id: 'Fact',
    description: 'A version of a fact that a paper recorded. It proves what was recorded, never that it is true.',
  });
export type FactRecord = z.infer<typeof FactRecord>;

/** A piece that cites a fact, in wire format. */
export const CitingPiece = z
  .object({
    id: z.string(),
    headline: z.string(),
    url: z.url(),
    revision: z.int().min(1),
    version: z.int().min(1).meta({ description: 'The version of the fact with which the piece was filed.' }),
    current: z.boolean().meta({ description: 'Whether that is the newest version.' }),
    state: z.enum(STATES),
  })
  .meta({ id: 'CitingPiece', description: 'A piece that cites a fact.' });
export type CitingPiece = z.infer<typeof CitingPiece>;

/** `newest` is the newest version of the fact. */
export function citingPiece(
  { id, slug, headline, revision, version, state }: CitingRow,
  root: string,
  newest: number,
): CitingPiece {
  return { id, headline, url: storyUrl(root, slug), revision, version, current: version === newest, state };
}

/** The newest version of a fact in wire format. Throws for an unknown key. */
export function factRecord(archive: Pick<Archive, 'factVersions' | 'keys'>, claim_key: string): ListedFact {
  const fact = archive.factVersions(claim_key).at(-1);
  if (fact === undefined) throw new Error(`there is no fact ${claim_key}`);
  return listedFact(fact, fact.receipt, archive.keys());
}

/** The document of a fact (protocol 4.8). Throws for an unknown key. */
export function factDocumentOf(archive: Archive, claim_key: string) {
  const versions = archive.factVersions(claim_key);
  const log = archive.isLogCosigned() ? archive.logProof(versions.at(-1)?.receipt ?? '') : null;
  return factDocument({ versions, keys: archive.keys(), log, clock: archive.clockNotes() });
}

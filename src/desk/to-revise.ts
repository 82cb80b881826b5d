import * as z from 'zod';
import { isoTime } from '../proof/time.ts';
import { EVIDENCE_STATES, type FactToRevise, subjectNamed } from './evidence.ts';

/** A fact that should be revised, in wire format. */
export const FactToReviseRow = z
  .object({
    claim_key: z.string().nullable().meta({ description: 'The fact; null for an entry without a key.' }),
    piece: z.string().nullable().meta({ description: 'The id of the piece with that entry.' }),
    n: z.int().nullable().meta({ description: 'The number of the entry.' }),
    version: z.int().meta({ description: 'The version of the fact, or the revision of the piece.' }),
    status: z.enum(EVIDENCE_STATES),
    read_at: z.iso.datetime(),
    instrument: z.string(),
    statement: z.string(),
    reason: z.string().nullable().meta({ description: 'Why a signed observation is not valid.' }),
    changes: z
      .array(z.string())
      .meta({ description: 'What the hostname of a signed observation answers differently now, one line each.' }),
  })
  .meta({ id: 'FactToRevise' });

export function toReviseRow(fact: FactToRevise): z.infer<typeof FactToReviseRow> {
  const { subject, state, read_at, ...row } = fact;
  const of = subjectNamed(subject);
  const [claim_key, piece, n] = 'claim_key' in of ? [of.claim_key, null, null] : [null, of.piece, of.n];
  return { claim_key, piece, n, status: state, read_at: isoTime(read_at), ...row };
}

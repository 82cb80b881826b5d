import { DUMP_HEADER, parseDump } from '../../../proof/dump-note.ts';
import { verifyNode } from '../../../proof/ed25519.ts';
import { checkNote } from '../../../proof/generation.ts';
import { signingPeriodFaults } from '../../../proof/key-text.ts';
import type { DumpProof } from '../../../proof/records/verify/documents.ts';
import type { Check } from '../verify/check.ts';
import { check, type Keys, spoken } from './receipts.ts';

/** The checks of a dump's note. It contains the hashes of the files, which the reader compares. */
export function* dumpChecks({ day, note }: DumpProof, keys: Keys): Generator<Check> {
  const { said, key, fault } = checkNote(note, { parse: parseDump, header: DUMP_HEADER }, keys.listed, verifyNode);
  if (said === null) return yield check('It is the note of a dump', [fault ?? ''], '');
  const { generation, rows, parquet, ndjson, signed_at, kid } = said;
  const hex = (hash: string): string => hash.slice('sha256:'.length);
  yield check(
    'It is the note of a dump',
    said.day === day ? [] : [`the document is of ${day}, and its note of ${said.day}`],
    `Dump no. ${generation} of ${said.day}, with ${rows} observations, made ${spoken(signed_at)}. In a terminal, sha256sum must print ${hex(parquet)} for its Parquet file, and ${hex(ndjson)} for its NDJSON file as it was downloaded.`,
  );
  yield check(
    'The service’s key signed it',
    fault === null ? [] : [fault],
    `The Ed25519 signature holds under the key of “${key?.name}”, listed in ${keys.from} as ${kid}.`,
  );
  if (fault !== null || key === null) return;
  yield check(
    'The key was in force then',
    signingPeriodFaults('signed', signed_at, key),
    'The note falls into the time in which that key signed.',
  );
}

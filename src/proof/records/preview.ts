import { toHex } from '../bytes.ts';
import { inclusionPaths, leafHash } from '../merkle.ts';
import { isOneOf, present } from '../narrow.ts';
import { disclosuresOf, type Observation } from './observation.ts';
import { type DomainRecord, signalsOf } from './record.ts';

/** A disclosed field and its proof: sibling hashes in lower-case hex, lowest first (RFC 9162, section 2.1.3). */
export interface ShownField {
  index: number;
  disclosure: string;
  path: string[];
}

/** The fields that a preview discloses. The other fields stay hidden behind their salts. */
const SHOWN = ['domain', 'observed_at', 'registrable_domain', 'signals.NS', 'summary', 'unicode'] as const;

const NOTICE =
  'This is a reduced preview and is not itself signed. Its receipt is: it commits to the full record, and each disclosure leads by its path to the root that was signed.';

const HOW =
  'An account key or a payment shows every field. Held-back fields are salted leaves of the same signed tree; they can be checked against this receipt when they are shown.';

/** The answer to a request without a key (protocol 5.6). */
export type Preview = ReturnType<typeof previewOf>;

export function previewOf({ record, seq, seed, receipt }: Observation) {
  const names = Object.keys(record).sort();
  const disclosures = disclosuresOf(record, seed);
  const pathOf = inclusionPaths(disclosures.map(leafHash));
  const shown: ShownField[] = names.flatMap((name, index) =>
    isOneOf(SHOWN, name) ? [{ index, disclosure: present(disclosures[index]), path: pathOf(index).map(toHex) }] : [],
  );
  return {
    preview: true as const,
    signed: false as const,
    notice: NOTICE,
    ...identity(record, seq),
    nameservers: record['signals.NS']?.values ?? [],
    disclosures: shown,
    held_back: { fields: names.length - shown.length, how: HOW },
    receipt,
  };
}

/** The answer to a request with a key or a payment. */
export type FullRecord = ReturnType<typeof fullRecordOf>;

export function fullRecordOf({ record, seq, seed, receipt }: Observation) {
  return {
    preview: false as const,
    signed: true as const,
    ...identity(record, seq),
    signals: signalsOf(record),
    certificate: record.certificate,
    certificate_status: record.certificate_status,
    wildcard: record.wildcard,
    services: record.services,
    disclosures: disclosuresOf(record, seed),
    receipt,
  };
}

function identity({ domain, unicode, registrable_domain, observed_at, summary }: DomainRecord, seq: number) {
  return { domain, unicode, registrable_domain, observed_at, seq, summary };
}

import { domainToUnicode } from 'node:url';
import { isoOrNull, isoTime, nextDayAt } from '../../proof/time.ts';
import {
  FILE_PATH,
  LOOKS_DAILY,
  MISSING_FOR,
  type OptState,
  type OwnerEvent,
  type OwnerProof,
  PROOF_WAYS,
  proofText,
  TXT_LABEL,
} from './owner.ts';

/** The result codes of a check, in words. */
const WORDS: Record<string, string> = {
  found: 'the proof is there',
  other_text: 'what is there does not have the proof',
  nxdomain: 'there is no such name in the DNS',
  nodata: 'the name has no TXT record',
  no_address: 'the name has no address',
  redirect: 'the server answers with a redirect, which is not followed',
  private_address: 'the name has an address that is not public',
  too_long: 'the file has more than 64 kB',
  status_404: 'the server answers 404: there is no such file',
  status_410: 'the server answers 410: there is no such file',
  servfail: 'the name servers failed (SERVFAIL), which says nothing about the proof',
  timeout: 'there was no answer in time, which says nothing about the proof',
  tls: 'the TLS certificate is not valid, which says nothing about the proof',
  refused: 'the connection or the question was refused, which says nothing about the proof',
};

const wordsOf = (detail: string): string =>
  WORDS[detail] ?? `the answer was “${detail.replaceAll('_', ' ')}”, which says nothing about the proof`;

/** What an account publishes to prove a name: a TXT record or a file. */
export function proofPlaces({ name, token }: Pick<OwnerProof, 'name' | 'token'>) {
  const text = proofText(token);
  return {
    txt: { name: `${TXT_LABEL}.${name}`, value: text },
    file: { url: `https://${name}${FILE_PATH}`, content: `${text}\n` },
  };
}

export type ProofState = 'unproven' | 'proven' | 'missing' | 'revoked';

const stateOf = ({ proven_at, missing_at, revoked_at }: OwnerProof): ProofState =>
  revoked_at !== null ? 'revoked' : proven_at === null ? 'unproven' : missing_at === null ? 'proven' : 'missing';

/** An account's proof of a name, as the API and the pages show it. */
export function proofRow(proof: OwnerProof) {
  const { name, result, missing_at } = proof;
  return {
    hostname: name,
    unicode: domainToUnicode(name),
    registrable_domain: proof.registrable,
    state: stateOf(proof),
    way: proof.proven_at === null ? null : proof.way,
    ...proofPlaces(proof),
    made_at: isoTime(proof.made_at),
    proven_at: isoOrNull(proof.proven_at),
    found_at: isoOrNull(proof.found_at),
    checked_at: isoOrNull(proof.checked_at),
    checks:
      result === null ? null : PROOF_WAYS.map((way) => ({ way, ...result[way], message: wordsOf(result[way].detail) })),
    next_check_at: isoOrNull(proof.due_at),
    missing_since: isoOrNull(missing_at),
    ends_at: missing_at === null ? null : isoTime(missing_at + MISSING_FOR),
    revoked_at: isoOrNull(proof.revoked_at),
    revoked_for: proof.revoked_for,
  };
}

/** An opt-out as an account sees it. */
export const optRow = ({ at, ...state }: OptState) => ({ ...state, since: isoOrNull(at) });

/** How many on-demand looks at a hostname are left on this UTC day, after `used`. */
export const looksRow = (used: number, now: number) => ({
  ...{ left: Math.max(0, LOOKS_DAILY - used), of: LOOKS_DAILY },
  resets_at: isoTime(nextDayAt(now)),
});

/** A proof with the name's opt-out and remaining looks. */
export type OwnedRow = ReturnType<typeof proofRow> & {
  opt: ReturnType<typeof optRow>;
  looks: ReturnType<typeof looksRow>;
};

export function eventRow({ event, at, made_by }: OwnerEvent) {
  return { event, at: isoTime(at), made_by: made_by.startsWith('account:') ? 'account' : made_by };
}

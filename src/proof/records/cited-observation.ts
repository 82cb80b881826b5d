import canonicalize from 'canonicalize';
import { sha256 } from '../basis.ts';
import { toHex } from '../bytes.ts';
import { type Evidence, evidenceIn } from '../evidence-note.ts';
import { parseVkey, thumbprint, type VerifyingKey } from '../keyring.ts';
import { LOG_PROOF, type LogProof } from '../log/log-proof.ts';
import { logProofFaults } from '../log/logged-entries.ts';
import type { Shape } from '../members.ts';
import { inclusionPaths, leafHash } from '../merkle.ts';
import { membersIn } from '../narrow.ts';
import { parseNote, type Verify } from '../note.ts';
import { parseSpan } from '../time.ts';
import { type Disclosed, parseDisclosure } from './disclosure.ts';
import type { FullRecord, Preview, ShownField } from './preview.ts';
import { type ObservationReceipt, parseObservation } from './receipt.ts';
import { checkReceipt, rootsOfPaths } from './verify/document-faults.ts';
import { shownFieldRules } from './verify/document-rules.ts';
import { signatureRules } from './verify/observation-rules.ts';

/**
 * A signed observation as the instrument of a cited fact (protocol 4.10): its receipt, the disclosed fields with their
 * paths to the root, and the proof that it is in its service's log, if one was given.
 */
export interface CitedObservation {
  receipt: string;
  disclosures: ShownField[];
  log?: LogProof | null;
}

export const CITED_OBSERVATION: Shape = {
  receipt: 'a text',
  disclosures: [{ index: 'a whole number', disclosure: 'a text', path: ['a text'] }],
  'log??': LOG_PROOF,
};

/** The observation in a document of the domain records, as a piece cites it. */
export function citedObservation(answer: Preview | (FullRecord & { log?: LogProof | null })): CitedObservation {
  const { receipt } = answer;
  if (answer.preview) return { receipt, disclosures: answer.disclosures };
  const { disclosures, log } = answer;
  const pathOf = inclusionPaths(disclosures.map(leafHash));
  const shown = disclosures.map((disclosure, index) => ({ index, disclosure, path: pathOf(index).map(toHex) }));
  return { receipt, disclosures: shown, ...(log == null ? {} : { log }) };
}

/** The disclosed fields of an observation, in order. Throws a TypeError for a malformed one. */
export function fieldsOf({ disclosures }: Pick<CitedObservation, 'disclosures'>): Disclosed[] {
  return disclosures.map(({ disclosure }) => {
    const field = parseDisclosure(disclosure);
    if (field === null) throw new TypeError(`not a disclosure: ${JSON.stringify(disclosure)}`);
    return field;
  });
}

/** An observation as text, in which quotes are looked for: its number, then one line per field. */
export function renderedObservation({ seq }: Pick<ObservationReceipt, 'seq'>, fields: readonly Disclosed[]): string {
  const lines = fields.map(({ name, value }) => `${name.replace(/^signals\./, '')} ${plain(name, value)}`);
  return [`observation ${seq}`, ...lines].join('\n');
}

/**
 * A value as it appears in a line: text unchanged, a signal as its values or else its status, anything else in
 * canonical form.
 */
function plain(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  const { values, status } = membersIn(value);
  const isList = Array.isArray(values) && values.every((one) => typeof one === 'string');
  if (!name.startsWith('signals.') || !isList || typeof status !== 'string') return canonicalize(value) ?? '';
  return values.length === 0 ? status : values.join(', ');
}

/** The hostname that an address asks for, null if it names none, and the end of the requested time in ms, exclusive. */
export interface AskedFor {
  domain: string | null;
  until: number | null;
}

/** Parses the address of an observation; null when its `as_of` is neither a day nor a time. */
export function askedFor(address: string): AskedFor | null {
  const [path = '', query = ''] = address.split('#', 1)[0]?.split(/\?(.*)/s, 2) ?? [];
  const [before = '', kind = '', domain = ''] = path.split('/').slice(-3);
  const isNamed = kind === 't' || (before === 'v1' && kind === 'domains');
  const asOf = query.split('&').find((one) => one.startsWith('as_of=')) ?? 'as_of=';
  const span = asOf === 'as_of=' ? undefined : parseSpan(decoded(asOf.slice('as_of='.length)));
  return span === null ? null : { domain: isNamed ? domain : null, until: span?.until ?? null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** How an observation differs from what its address asks for. */
export function addressFaults(address: string, { domain, observed_at }: ObservationReceipt): string[] {
  const asked = askedFor(address);
  if (asked === null) return ['the as_of of its address is not a day or a time'];
  return [
    ...(asked.domain === null || asked.domain === domain
      ? []
      : [`it is of ${domain}, but its address asks for ${asked.domain}`]),
    ...(asked.until === null || Date.parse(observed_at) < asked.until
      ? []
      : [`it was observed at ${observed_at}, after what its address asks for`]),
  ];
}

/** Checks an observation with keys that are trusted for it. `receipt` is null if it cannot be parsed. */
export function observationFaults(
  observation: CitedObservation,
  address: string,
  keys: VerifyingKey[],
  verify: Verify,
): { receipt: ObservationReceipt | null; hash: string; faults: string[] } {
  const seen = checkReceipt(observation.receipt, keys, verify);
  const { receipt, hash } = seen;
  const faults = signatureRules(seen);
  if (receipt === null) return { receipt, hash, faults };
  const { disclosures, log } = observation;
  faults.push(...shownFieldRules(disclosures, receipt, rootsOfPaths(disclosures, seen)));
  faults.push(...addressFaults(address, receipt), ...logProofFaults(log, observation.receipt));
  return { receipt, hash, faults };
}

/** What is wrong with the observation listed with an evidence note; null if nothing is. */
export function observedFault(
  { observation: said, instrument, text }: Pick<Evidence, 'observation' | 'instrument' | 'text'>,
  observation: CitedObservation | undefined,
  verify: Verify,
): string | null {
  if (said === undefined || said === 'unverified') {
    return observation === undefined ? null : 'its note refers to no observation, but one is listed with it';
  }
  if (observation === undefined) return 'the observation that it names is missing';
  const key = parseVkey(said.observed_by);
  if (key === null) return 'its observed_by is not a verifier key';
  const own = { ...key, kid: thumbprint(key.publicKey), nbf: 0, retired_at: null };
  const { receipt, hash, faults } = observationFaults(observation, instrument, [own], verify);
  if (receipt === null || faults.length > 0) return `observation: ${faults[0]}`;
  if (hash !== said.receipt) return 'the observation is not the one that it names';
  const isItsText = sha256(renderedObservation(receipt, fieldsOf(observation))) === text;
  return isItsText ? null : 'text is not the hash of what the observation says';
}

/**
 * Data of the observation that evidence refers to, and the name of its key. `listed_by` is the host that should list
 * the key: the host of the address if that names a domain, else the one in the key's name (protocol 4.10). Null without
 * an observation. Verifies nothing.
 */
export function observedIn({ note, observation }: { note: string; observation?: CitedObservation | undefined }) {
  const { observation: said, instrument = '' } = evidenceIn(note) ?? {};
  const receipt = parseObservation(parseNote(observation?.receipt ?? '')?.text ?? '');
  if (receipt === null || said === undefined || said === 'unverified') return null;
  const { domain, seq, observed_at, kid } = receipt;
  const key = said.observed_by.split('+')[0] ?? '';
  const isNamed = askedFor(instrument)?.domain != null;
  const listed_by = (isNamed ? URL.parse(instrument)?.host : null) ?? key.replace(/\/.*/s, '');
  return { domain, seq, observed_at, key, listed_by, kid };
}

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
 * A signed observation as the instrument of a cited fact (protocol 4.10): its receipt, the fields that the desk was
 * shown, each with its path to the root, and its place in the log of its service, where that was given.
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

/** What a document of the domain records shows of one observation. */
export function citedObservation(answer: Preview | (FullRecord & { log?: LogProof | null })): CitedObservation {
  const { receipt } = answer;
  if (answer.preview) return { receipt, disclosures: answer.disclosures };
  const { disclosures, log } = answer;
  const pathOf = inclusionPaths(disclosures.map(leafHash));
  const shown = disclosures.map((disclosure, index) => ({ index, disclosure, path: pathOf(index).map(toHex) }));
  return { receipt, disclosures: shown, ...(log == null ? {} : { log }) };
}

/** The fields that an observation shows, in their order. Throws a TypeError for a malformed one. */
export function fieldsOf({ disclosures }: Pick<CitedObservation, 'disclosures'>): Disclosed[] {
  return disclosures.map(({ disclosure }) => {
    const field = parseDisclosure(disclosure);
    if (field === null) throw new TypeError(`not a disclosure: ${JSON.stringify(disclosure)}`);
    return field;
  });
}

/** The text of an observation, in which quotes are looked for: its number, then a line for each field. */
export function renderedObservation({ seq }: Pick<ObservationReceipt, 'seq'>, fields: readonly Disclosed[]): string {
  const lines = fields.map(({ name, value }) => `${name.replace(/^signals\./, '')} ${plain(name, value)}`);
  return [`observation ${seq}`, ...lines].join('\n');
}

/** A value as a line has it: text as it is, a signal as its values or else its status, anything else in canonical form. */
function plain(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  const { values, status } = membersIn(value);
  const isList = Array.isArray(values) && values.every((one) => typeof one === 'string');
  if (!name.startsWith('signals.') || !isList || typeof status !== 'string') return canonicalize(value) ?? '';
  return values.length === 0 ? status : values.join(', ');
}

/** What an address asks for: a hostname, where it names one, and the end of the asked time in ms, exclusive. */
export interface AskedFor {
  domain: string | null;
  until: number | null;
}

/** What the address of an observation asks for; null when its `as_of` is not a day or a time. */
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

/** Whether an observation is not what an address asks for. */
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

/** Checks an observation by keys that are trusted for it. `receipt` is null for one that cannot be parsed. */
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

/** What does not hold of the observation beside a note of evidence; null when all does. */
export function observedFault(
  { observation: said, instrument, text }: Pick<Evidence, 'observation' | 'instrument' | 'text'>,
  observation: CitedObservation | undefined,
  verify: Verify,
): string | null {
  if (said === undefined || said === 'unverified') {
    return observation === undefined ? null : 'its note is of no observation, but there is one beside it';
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
 * What the receipt of an observation says that evidence names, the name of the key, and the host that lists it: that of an
 * address that names a domain, else the one in the name (protocol 4.10). Null without one. Not checked.
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

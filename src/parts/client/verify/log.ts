import { fill } from '../../../phrases/fill.ts';
import { LogFault } from '../../../proof/log/log-fault.ts';
import type { LogProof } from '../../../proof/log/log-proof.ts';
import { type Policy, parsePolicy } from '../../../proof/log/policy.ts';
import type { Check } from './check.ts';
import { NotFetched } from './fetched.ts';
import { type LoggedReceipt, loggedEntry, verifyLogged } from './log-proof.ts';
import { ENGLISH, type Words } from './words.ts';

/** Whether witnesses have seen a receipt: a check, or in `open` why it could not be checked. */
export type LogOutcome = { check: Check } | { open: string };

/** Where a policy is, and how to fetch its text. */
export interface PolicySource {
  address: string;
  /** Throws `NotFetched`. */
  fetch(): Promise<string>;
}

/** Checks a receipt's position in the log by the policy of the site. */
export async function logOutcome(
  receipt: string,
  log: LogProof | null | undefined,
  source: PolicySource,
  words: Words = ENGLISH,
): Promise<LogOutcome> {
  if (log == null) return { open: words.unconfirmed };
  try {
    const entry = loggedEntry(receipt, log);
    const policy = await policyFrom(source);
    return inWords(words, await verifyLogged(entry, log, policy), policy, source.address);
  } catch (error) {
    if (error instanceof NotFetched) {
      return { open: `Which witnesses have seen the receipt was not checked, because ${error.message}` };
    }
    if (!(error instanceof LogFault)) throw error;
    return {
      check: { title: words.witnessed, holds: false, found: [`The log’s proof does not hold: ${error.message}.`] },
    };
  }
}

/** Fetches and parses a policy. Throws `NotFetched` and, for an invalid one, a LogFault. */
export async function policyFrom(source: PolicySource): Promise<Policy> {
  const text = await source.fetch();
  try {
    return parsePolicy(text);
  } catch (fault) {
    throw fault instanceof LogFault
      ? new LogFault(`the policy at ${source.address} is invalid: ${fault.message}`)
      : fault;
  }
}

function inWords(words: Words, logged: LoggedReceipt, policy: Policy, address: string): LogOutcome {
  const { origin, index, size } = logged;
  const leafWords = fill(words.place, { index, origin, size });
  if (!logged.isQuorumMet) {
    return { open: `Whether enough witnesses have seen the receipt was not checked. ${uncheckedWords(logged)}` };
  }
  if (logged.cosigners.length === 0) {
    const none = `No witness has signed that head; the policy at ${address} asks for none.`;
    return {
      check: { title: words.log, holds: true, found: [leafWords, none, uncheckedWords(logged)].filter(Boolean) },
    };
  }
  const seen = logged.cosigners.map(({ witness, time }) => `“${witness.name}” on ${secondInWords(time)}`).join(', ');
  const found = [
    leafWords,
    `Witnesses have signed that head: ${seen}. By then the receipt was there. Of ${countOf(policy)} that the policy at ${address} names, that is its quorum; whether they are independent, it cannot say.`,
    uncheckedWords(logged),
  ];
  return { check: { title: words.witnessed, holds: true, found: found.filter((line) => line !== '') } };
}

/** The witnesses whose signatures this browser cannot check, in words; empty when there are none. */
export function uncheckedWords({ unchecked }: Pick<LoggedReceipt, 'unchecked'>): string {
  if (unchecked.length === 0) return '';
  const names = unchecked.map((name) => `“${name}”`).join(', ');
  return `Not checked here: ${names}, whose kind of signature (ML-DSA-44) browsers do not know yet.`;
}

const countOf = ({ witnesses }: Policy): string => (witnesses.length === 1 ? 'the 1' : `the ${witnesses.length}`);

/** A time of a witness, in seconds since 1970. */
export function secondInWords(time: number): string {
  const iso = new Date(time * 1_000).toISOString();
  return `${iso.slice(0, 10)} at ${iso.slice(11, 19)} UTC`;
}

import { factFaults, isFactDocument, unsignedInFact } from '../../../src/proof/fact-document.ts';
import { DuplicateMember, parseIJson } from '../../../src/proof/i-json.ts';
import { keysOf, type VerifyingKey } from '../../../src/proof/keyring.ts';
import { LogFault } from '../../../src/proof/log/log-fault.ts';
import type { LogProof } from '../../../src/proof/log/log-proof.ts';
import { checkLogged, type LoggedReceipt } from '../../../src/proof/log/logged.ts';
import { readPolicy } from '../../../src/proof/log/node-crypto.ts';
import type { Policy } from '../../../src/proof/log/policy.ts';
import { isProof, proofFaults } from '../../../src/proof/proof.ts';
import { unsignedIn } from '../../../src/proof/proof-form.ts';
import { documentFaults } from '../../../src/proof/records/verify/document-faults.ts';
import { documentIn, type RecordsDocument } from '../../../src/proof/records/verify/documents.ts';
import { verifyEd25519 } from './ed25519.ts';

/** What a caller of `verify` trusts. Both are texts as they were fetched. */
export interface Trust {
  /**
   * A key document, `newsdesk-keys.json` or `records-keys.json`: only its keys count, each in its time. Without it, a
   * document is checked by the keys that it names itself, which anyone can make.
   */
  keys?: string;
  /**
   * A tlog-policy (https://c2sp.org/tlog-policy): one of its logs must have every receipt, with its quorum of
   * witnesses.
   */
  policy?: string;
}

/** The result of `verify`. */
export interface Verdict {
  /**
   * `proof` for a story, `fact` for a fact of a paper, a kind of the domain records, or `misshapen` for anything else.
   */
  kind: 'proof' | 'fact' | RecordsDocument['kind'];
  /** Whether there are no faults. */
  holds: boolean;
  /** What is wrong, one sentence each. */
  faults: string[];
  /** The paths of members that no signature covers, and that were therefore not checked. */
  unsigned: string[];
  /** Where each receipt is in the log; null without a policy, or when one is not there. */
  logged: LoggedReceipt[] | null;
}

/**
 * Verifies a document that Broadsheet issued: the `proof.json` of a story (protocol 4.6), a fact (4.8), or of the
 * domain records a receipt, badge, preview, record, page of provenance, evidence bundle (protocol 5.7) or the proof of
 * a dump (5.11), whose files the caller hashes. `document` is its text as it was fetched. The faults say why a document
 * is not valid. Throws a TypeError when `trust` is invalid.
 */
export async function verify(document: string, trust: Trust = {}): Promise<Verdict> {
  const keys = trust.keys === undefined ? undefined : trustedKeys(trust.keys);
  const policy = trust.policy === undefined ? undefined : trustedPolicy(trust.policy);
  const found = documentIn(document);
  if (found !== null && (found.kind !== 'misshapen' || found.of !== 'document')) {
    const faults = documentFaults(found, keys ?? ownKeys(found), verifyEd25519);
    return verdict(found.kind, faults, found.unsigned, rowsIn(found), policy);
  }
  const proof = parsed(document);
  if (typeof proof === 'string') return verdict('misshapen', [proof], [], null, undefined);
  if (isFactDocument(proof.value)) {
    const faults = factFaults(proof.value, verifyEd25519, keys);
    const { fact, log } = proof.value;
    return verdict('fact', faults, unsignedInFact(proof.value), [{ receipt: fact.receipt, log }], policy);
  }
  const faults = proofFaults(proof.value, verifyEd25519, keys);
  if (!isProof(proof.value)) return verdict('misshapen', faults, [], null, undefined);
  return verdict('proof', faults, unsignedIn(proof.value), [proof.value], policy);
}

interface Row {
  receipt: string;
  log?: LogProof | null;
}

async function verdict(
  kind: Verdict['kind'],
  faults: string[],
  unsigned: string[],
  rows: Row[] | null,
  policy: Policy | undefined,
): Promise<Verdict> {
  if (policy === undefined) return { kind, holds: faults.length === 0, faults, unsigned, logged: null };
  const checked = await Promise.all((rows ?? []).map(({ log, receipt }) => checkLogged(log, receipt, policy)));
  const missing = rows === null ? [`log: a ${kind} has no proof that its receipt is in the log`] : [];
  const all = [...faults, ...missing, ...checked.flatMap((one) => one.faults)];
  const logged = checked.flatMap((one) => one.logged ?? []);
  return {
    kind,
    holds: all.length === 0,
    faults: [...new Set(all)],
    unsigned,
    logged: rows !== null && logged.length === rows.length ? logged : null,
  };
}

/** The receipts of a document that come with their position in the log; null for kinds that never have one. */
function rowsIn(document: RecordsDocument): Row[] | null {
  if (document.kind === 'evidence') return document.bundle.records;
  if (document.kind === 'dump') return [{ receipt: document.proof.note, log: document.proof.log ?? null }];
  return document.kind === 'provenance' ? document.page.items : null;
}

/** The keys that a document names itself: only evidence bundles do. */
const ownKeys = (document: RecordsDocument): VerifyingKey[] =>
  document.kind === 'evidence' ? keysOf(document.bundle) : [];

/** The value of a JSON text, or why it is invalid. */
function parsed(text: string): { value: unknown } | string {
  try {
    return { value: parseIJson(text) };
  } catch (error) {
    if (error instanceof DuplicateMember) return `the document ${error.message}`;
    return 'this is not a document of Broadsheet: it is not JSON';
  }
}

function trustedKeys(text: string): VerifyingKey[] {
  const document = parsed(text);
  const keys = typeof document === 'string' ? [] : keysOf(document.value);
  if (keys.length > 0) return keys;
  throw new TypeError('keys has no valid key; give the text of newsdesk-keys.json or records-keys.json');
}

function trustedPolicy(text: string): Policy {
  try {
    return readPolicy(text);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
    throw new TypeError(`policy is not a tlog-policy: ${error.message}`);
  }
}

import type { Signal, SignalStatus } from '../../../proof/records/signal.ts';
import { MOST_VALUES } from '../probe-schema.ts';
import { type Message, RCODE, RECORD_TYPES, type ResourceRecord, readMessage, readName } from './message.ts';
import type { Question } from './question.ts';
import { dataText } from './rdata.ts';

export type Answer = Pick<Signal, 'status' | 'ttl' | 'values' | 'flags'> & {
  /** Whether EDNS may have caused the failure; if so, query again without it. */
  ednsRefused: boolean;
};

const NO_FLAGS = { aa: false, ad: false, tc: false };

/** Parses an answer that matches the question. Any bytes yield a status. */
export function readAnswer(question: Pick<Question, 'name' | 'type'>, bytes: Uint8Array): Answer {
  let message: Message;
  try {
    message = readMessage(bytes);
  } catch {
    return { status: 'malformed', ttl: null, values: [], flags: NO_FLAGS, ednsRefused: false };
  }
  const { rcode, aa, ad, tc } = message;
  const flags = { aa, ad, tc };
  const bare = (status: SignalStatus): Answer => ({ status, ttl: null, values: [], flags, ednsRefused: false });
  switch (rcode) {
    case RCODE.noError:
    case RCODE.nxDomain:
      break;
    case RCODE.servFail:
      return bare('servfail');
    case RCODE.refused:
      return bare('refused');
    case RCODE.notImp:
      return { ...bare('notimp'), ednsRefused: true };
    case RCODE.formErr:
    case RCODE.badVers:
      return { ...bare('error'), ednsRefused: true };
    default:
      return bare('error');
  }
  if (tc) return bare('truncated');
  try {
    const { status, ttl, values } = recordsIn(question, message, bytes);
    return { status, ttl, values, flags, ednsRefused: false };
  } catch {
    return bare('malformed');
  }
}

type Found = Pick<Signal, 'status' | 'ttl' | 'values'>;

function recordsIn({ name, type }: Pick<Question, 'name' | 'type'>, message: Message, bytes: Uint8Array): Found {
  const nothing = (status: SignalStatus): Found => ({ status, ttl: null, values: [] });
  const { answers } = message;
  if (answers.length === 0) {
    if (message.rcode === RCODE.nxDomain) return nothing('nxdomain');
    const delegation = referral(message);
    if (delegation.length === 0) return nothing('nodata');
    // A referral is reliable only about the delegation itself.
    const at = delegation.filter(({ owner }) => owner === name);
    return type === 'NS' && at.length > 0 ? valuesOf(at, at, bytes) : nothing('error');
  }
  const chain = type === 'CNAME' ? [] : aliasesFrom(name, answers, bytes);
  if (chain === null) return nothing('loop');
  const owner = chain.at(-1)?.target ?? name;
  const wanted = answers.filter((record) => record.type === RECORD_TYPES[type] && record.owner === owner);
  if (wanted.length > 0) return valuesOf(wanted, [...chain.map(({ record }) => record), ...wanted], bytes);
  // RFC 6604: the code applies to the target of the alias. The name itself exists.
  if (chain.length > 0) return nothing('nodata');
  // The name has records, but none that answers the question.
  return nothing('malformed');
}

/** The name servers of a referral: a non-authoritative answer without records and SOA (RFC 2308, section 2.2). */
function referral({ aa, authorities }: Message): ResourceRecord[] {
  if (aa || authorities.some((record) => record.type === RECORD_TYPES.SOA)) return [];
  return authorities.filter((record) => record.type === RECORD_TYPES.NS);
}

/** The chain of aliases starting at a name, in order; null for a loop. */
function aliasesFrom(
  name: string,
  answers: ResourceRecord[],
  bytes: Uint8Array,
): { record: ResourceRecord; target: string }[] | null {
  const byOwner = new Map<string, ResourceRecord>();
  for (const record of answers) if (record.type === RECORD_TYPES.CNAME) byOwner.set(record.owner, record);
  const chain: { record: ResourceRecord; target: string }[] = [];
  const seen = new Set([name]);
  for (let record = byOwner.get(name); record !== undefined; record = byOwner.get(chain.at(-1)?.target ?? '')) {
    const target = readName(bytes, record.start).name;
    if (seen.has(target)) return null;
    seen.add(target);
    chain.push({ record, target });
  }
  return chain;
}

function valuesOf(wanted: ResourceRecord[], all: ResourceRecord[], bytes: Uint8Array): Found {
  if (wanted.length > MOST_VALUES) return { status: 'too_many', ttl: null, values: [] };
  const values = [...new Set(wanted.map((record) => dataText(bytes, record)))].sort();
  return { status: 'ok', ttl: Math.min(...all.map(({ ttl }) => ttl)), values };
}

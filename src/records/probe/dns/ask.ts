import { isKnown, type Signal, type SignalStatus } from '../../../proof/records/signal.ts';
import { type Answer, readAnswer } from './answer.ts';
import type { RecordType } from './message.ts';
import { type Match, matchAnswer, type Spelling, writeQuestion } from './question.ts';
import type { Exchange, Transport, Upstream } from './upstream.ts';

/** How many times a question is sent, across all resolvers. */
const TRIES = 3;
/** The timeout of the first attempt, in ms. It doubles with each attempt. */
const FIRST_WAIT = 1_500;
/** The pause before a resolver is queried again, in ms, plus or minus half. It doubles with each attempt. */
const FIRST_PAUSE = 100;

const NO_FLAGS = { aa: false, ad: false, tc: false };
const UNASKED: Signal = { status: 'skipped', ttl: null, values: [], transport: null, rtt_ms: null, flags: NO_FLAGS };

/** A resolver that replied with one of these would do so again, so only the others are queried. */
const PERMANENT: ReadonlySet<SignalStatus> = new Set(['refused', 'notimp', 'error']);

/** Queries the records of a type. Never rejects: every failure becomes a status. */
export type Ask = (name: string, type: RecordType) => Promise<Signal>;

interface AskOptions {
  /** Used in rotation: each question starts with the next resolver. */
  upstreams: readonly Upstream[];
  transport: Transport;
  randomBytes(length: number): Uint8Array;
  sleep(ms: number): Promise<void>;
  tries?: number;
  /** In ms. */
  firstWait?: number;
}

/** A client of resolvers: EDNS with DO, TCP after truncation, and failover to the next resolver. */
export function createAsk({ upstreams, tries = TRIES, firstWait = FIRST_WAIT, ...tools }: AskOptions): Ask {
  let turn = 0;
  return async (name, type) => {
    const first = turn++ % Math.max(upstreams.length, 1);
    let order = [...upstreams.slice(first), ...upstreams.slice(0, first)];
    order = [...order.filter(({ isResting }) => !isResting), ...order.filter(({ isResting }) => isResting)];
    let last = UNASKED;
    if (!isAskable(name)) return last;
    for (let attempt = 0; attempt < tries; attempt++) {
      const upstream = order[attempt % order.length];
      if (upstream === undefined) return last;
      if (attempt >= order.length) {
        const chance = (tools.randomBytes(1)[0] ?? 0) / 256;
        await tools.sleep(FIRST_PAUSE * 2 ** (attempt - order.length) * (0.5 + chance));
      }
      const wait = firstWait * 2 ** attempt;
      last = await upstream.turn(() => attemptAt({ ...tools, upstream, wait }, name, type));
      if (isKnown(last) || last.status === 'loop' || last.status === 'too_many') return last;
      if (PERMANENT.has(last.status)) order = order.filter((other) => other !== upstream);
    }
    return last;
  };
}

/** RFC 1035, section 2.3.4: with its length bytes and the root, a name has at most 255 octets. */
function isAskable(name: string): boolean {
  return name.length <= 253 && name.split('.').every(({ length }) => length >= 1 && length <= 63);
}

interface AttemptOptions extends Pick<AskOptions, 'transport' | 'randomBytes'> {
  upstream: Upstream;
  wait: number;
}

/** Queries one resolver once, and again over TCP or without EDNS when its answer requires that. */
async function attemptAt(tools: AttemptOptions, name: string, type: RecordType): Promise<Signal> {
  const { upstream } = tools;
  const said = await sendOnce(tools, 'udp', name, type, true);
  upstream.replied(said.exchange.outcome !== 'timeout' && said.exchange.outcome !== 'unreachable');
  if (said.answer?.status === 'truncated' || said.match === 'respelled') {
    // TCP answers cannot be spoofed blindly, so lower case suffices.
    const again = await sendOnce(tools, 'tcp', name, type, false);
    const cut = said.answer?.status === 'truncated';
    if (cut && again.answer === null) return signalFrom(said, 'udp', upstream, 'truncated');
    return signalFrom(again, 'tcp', upstream);
  }
  if (said.answer?.ednsRefused)
    return signalFrom(await sendOnce(tools, 'udp', name, type, true, false), 'udp', upstream);
  return signalFrom(said, 'udp', upstream);
}

interface Attempt {
  exchange: Exchange;
  answer: Answer | null;
  match: Match;
}

async function sendOnce(
  { transport, upstream, randomBytes, wait }: AttemptOptions,
  by: 'udp' | 'tcp',
  name: string,
  type: RecordType,
  mix: boolean,
  edns = true,
): Promise<Attempt> {
  const chance = randomBytes(34);
  const spelling: Spelling = {
    id: ((chance[0] ?? 0) << 8) | (chance[1] ?? 0),
    mixed: mix ? chance.subarray(2) : null,
    edns,
  };
  const question = writeQuestion(name, type, spelling);
  const accepts = (bytes: Uint8Array) => matchAnswer(question, bytes) !== 'other';
  const exchange = await transport[by](upstream.server, question.bytes, accepts, wait);
  if (exchange.outcome !== 'answered') return { exchange, answer: null, match: 'other' };
  const match = matchAnswer(question, exchange.bytes);
  return { exchange, answer: readAnswer(question, exchange.bytes), match };
}

function signalFrom(
  { exchange, answer }: Attempt,
  transport: 'udp' | 'tcp',
  upstream: Upstream,
  status: SignalStatus = answer?.status ?? failureOf(exchange),
): Signal {
  return {
    status,
    ttl: answer?.ttl ?? null,
    values: answer?.values ?? [],
    transport: answer && transport,
    rtt_ms: exchange.outcome === 'answered' ? Math.round(exchange.ms * 1_000) / 1_000 : null,
    flags: answer?.flags ?? NO_FLAGS,
    resolver: upstream.text,
  };
}

function failureOf({ outcome }: Exchange): SignalStatus {
  return outcome === 'timeout' || outcome === 'unreachable' ? outcome : 'malformed';
}

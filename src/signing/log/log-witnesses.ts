import type { Logger } from 'pino';
import { vkeyText } from '../../proof/key-text.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { LogFault, shown } from '../../proof/log/log-fault.ts';
import type { Policy, PolicyWitness } from '../../proof/log/policy.ts';
import { SECOND } from '../../proof/time.ts';
import { only } from '../../shared/fault.ts';
import { WITNESS_WAIT_MAX, witnessWait } from '../../shared/outbound/retry.ts';
import type { LogCosignature, LogHead, WitnessState } from '../../shared/transparency/log-tables.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import type { Store } from '../../store/store.ts';
import { type CoveredLeaves, cosignatureFrom, cosignedText, cosignHead, type WitnessedLog } from './cosigned-head.ts';
import { cureOf } from './log-fence.ts';
import { type Submitted, submitHead } from './submit-head.ts';
import { WitnessContradicts, WitnessDiverged } from './witness.ts';
import type { SubmitCheckpoint } from './witness-client.ts';

/** The witnesses at one address. A server that signs with several keys answers a request with all their signatures. */
export interface WitnessServer {
  /** Without a trailing slash. */
  address: string;
  witnesses: PolicyWitness[];
}

/** Groups witnesses by address. Those without an address are not asked. */
export function serversOf({ witnesses }: Policy): WitnessServer[] {
  const asked = witnesses.filter(({ url }) => url !== null);
  const servers = Map.groupBy(asked, ({ url }) => (url ?? '').replace(/\/+$/, ''));
  return Array.from(servers, ([address, own]) => ({ address, witnesses: own }));
}

/** The names of a server's witnesses in the policy, in words. */
export function namesOf({ witnesses }: WitnessServer): string {
  return witnesses.map(({ name }) => name).join(' and ');
}

/** The minimum interval between two requests to a witness, in ms. */
const REQUEST_EVERY = SECOND;
/** The pause after a request failed because of this machine, not the witness, in ms. */
const REST = 10 * SECOND;

interface Parts {
  store: Pick<Store, 'database'>;
  /** The current time, in ms. */
  now(): number;
  submit: SubmitCheckpoint;
  /** Runs in the transaction in which a head meets its quorum. */
  covered(leaves: CoveredLeaves): void;
  logger: Logger;
}

/** The result of a request to a witness. */
type Word = 'agrees' | 'silent' | { /** Why this copy must not sign. */ fence: string };

export type LogWitnesses = ReturnType<typeof logWitnesses>;

/** The witnesses of one log, for the process that holds its lease. The policy may differ between calls. */
export function logWitnesses(
  { store, now, submit, covered, logger }: Parts,
  { log, origin }: Pick<WitnessedLog, 'log' | 'origin'>,
) {
  const tables = store.database.log;
  /** The running request to each address. */
  const underWay = new Map<string, Promise<Word>>();
  /** When an address may be asked again (ms of the monotonic clock). */
  const resting = new Map<string, number>();
  /**
   * The head that all witnesses are asked for, until it meets its quorum or no answer is pending. Otherwise slow
   * witnesses would sign different heads, none of which meets the quorum.
   */
  let target: LogHead | null = null;

  const stateOf = ({ key }: PolicyWitness): WitnessState => tables.witness(log, origin, vkeyText(key));
  const seenBy = ({ witnesses }: WitnessServer): number =>
    Math.max(...witnesses.map((witness) => stateOf(witness).seen_size));
  /** The witnesses of a server that have not signed a head, but still can. */
  const missing = (server: WitnessServer, { size }: LogHead): WitnessState[] => {
    if (seenBy(server) > size) return [];
    const signed = new Set(tables.cosignatures(log, origin, size).map(({ vkey }) => vkey));
    return server.witnesses.map(stateOf).filter(({ vkey }) => !signed.has(vkey));
  };
  const isCosigned = ({ size }: LogHead): boolean => (tables.newestCosigned(log, origin)?.size ?? 0) >= size;
  /** Whether a head has met its quorum, or no pending witness can complete it. */
  const isDone = (head: LogHead, servers: WitnessServer[]): boolean =>
    isCosigned(head) ||
    servers.every(
      (server) => !underWay.has(server.address) && missing(server, head).every(({ fault }) => fault !== null),
    );

  function cosign(policy: Policy, head: LogHead): void {
    const leaves = cosignHead(tables, { log, origin, policy }, head);
    if (leaves !== null) covered(leaves);
  }

  /**
   * Cosigns the newest head if its quorum is met, and sends it to the witnesses that have not signed it, without
   * waiting. Sends nothing while the log is fenced.
   */
  function ask(policy: Policy): void {
    const servers = serversOf(policy);
    const newest = tables.newestHead(log, origin);
    if (newest === null || tables.fence(log) !== null) return;
    if (target === null || (target.size < newest.size && isDone(target, servers))) target = newest;
    const head = target;
    // The quorum may need no witness, or a new policy may be met by existing cosignatures.
    if (cosignedText(tables, { log, origin, policy }, head) !== null)
      store.database.transact(() => cosign(policy, head));
    for (const server of servers) {
      const { address } = server;
      if (underWay.has(address) || performance.now() < (resting.get(address) ?? 0)) continue;
      // A time further ahead than the longest wait dates from before the clock was set back.
      const isDue = ({ next_at }: WitnessState) => next_at <= now() || next_at > now() + WITNESS_WAIT_MAX;
      if (missing(server, head).some(isDue)) void start(policy, server, head);
    }
  }

  /** Sends a request. Never rejects. */
  function start(policy: Policy, server: WitnessServer, head: LogHead): Promise<Word> {
    const request = submitTo(policy, server, head)
      .catch((error: unknown): Word => {
        resting.set(server.address, performance.now() + REST);
        logger.error(
          { job: 'log', log, witness: namesOf(server), err: error },
          'asking a witness failed; it is asked again',
        );
        return 'silent';
      })
      .finally(() => underWay.delete(server.address));
    underWay.set(server.address, request);
    return request;
  }

  async function submitTo(policy: Policy, server: WitnessServer, head: LogHead): Promise<Word> {
    const began = now();
    const submitted = await submitHead({
      head,
      seen: seenBy(server),
      newestHead: () => tables.newestHead(log, origin) ?? head,
      tiles: tables.tiles(log),
      send: (body) => submit(server.address, body),
    });
    const outcomes = await Promise.all(
      server.witnesses.map(async (witness) => ({ witness, outcome: await outcomeOf(witness, submitted) })),
    );
    const { fault } = submitted;
    const fence = fault instanceof WitnessContradicts ? fenceText(namesOf(server), fault, log) : null;
    const changes = store.database.transact(() => {
      const recorded = outcomes.map(({ witness, outcome }) => record(witness, submitted, outcome, began));
      cosign(policy, submitted.head);
      if (fence !== null) tables.setFence(log, fence);
      return recorded;
    });
    for (const change of changes) change?.();
    for (const { witness, outcome } of outcomes) {
      const failed = outcome instanceof LogFault;
      measurements.emit('witness', { log, witness: witness.name, outcome: failed ? 'failed' : 'cosigned' });
    }
    if (fence !== null) return { fence };
    return outcomes.some(({ outcome }) => !(outcome instanceof LogFault)) ? 'agrees' : 'silent';
  }

  async function outcomeOf(
    { key }: PolicyWitness,
    { head, lines, fault }: Submitted,
  ): Promise<LogCosignature | LogFault> {
    return fault ?? cosignatureFrom(lines, head, key, now()).catch(only(LogFault));
  }

  /** Stores the result of a request. Returns a function that logs whether the witness stopped or resumed signing. */
  function record(
    witness: PolicyWitness,
    { head, seen }: Submitted,
    outcome: LogCosignature | LogFault,
    began: number,
  ): (() => void) | null {
    const before = stateOf(witness);
    const about = { job: 'log', log, witness: witness.name };
    if (outcome instanceof LogFault) {
      const next_at = now() + witnessWait(before.failures + 1);
      tables.setWitness(log, origin, {
        ...before,
        seen_size: Math.max(before.seen_size, seen),
        fault: outcome.message,
        // The start of a series of failures is kept.
        fault_at: before.fault_at ?? began,
        failures: before.failures + 1,
        next_at,
      });
      if (before.fault !== null) return null;
      return () => logger.warn({ ...about, fault: outcome.message }, 'a witness did not sign; it is asked again');
    }
    tables.addCosignature(log, outcome);
    const next_at = began + REQUEST_EVERY;
    tables.setWitness(log, origin, {
      ...before,
      seen_size: Math.max(before.seen_size, head.size),
      cosigned_size: Math.max(before.cosigned_size ?? 0, head.size),
      cosigned_at: now(),
      fault: null,
      fault_at: null,
      failures: 0,
      next_at,
    });
    if (before.fault === null) return null;
    return () => logger.info({ ...about, size: head.size }, 'a witness signs again');
  }

  return {
    ask,
    /**
     * Submits the newest head to every witness, even while fenced. Returns why this copy must not sign, because a
     * witness contradicts it, or did so earlier and does not answer now. Null when it may sign.
     */
    async check(policy: Policy): Promise<string | null> {
      const newest = tables.newestHead(log, origin);
      if (newest === null) return null;
      const present = tables.fence(log);
      await Promise.all(underWay.values());
      const fences = await Promise.all(
        serversOf(policy).map(async (server) => {
          const word = await start(policy, server, newest);
          if (word === 'agrees') return null;
          if (word !== 'silent') return word.fence;
          return present?.startsWith(saidBy(namesOf(server))) ? present : null;
        }),
      );
      return fences.find((fence) => fence !== null) ?? null;
    },
    /** Resolves when all requests have ended and their results are stored. */
    async settled() {
      await Promise.all(underWay.values());
    },
  };
}

/** Why a copy of a log must not sign, and what to do, in one line. */
function fenceText(witness: string, contradiction: WitnessContradicts, log: LogService): string {
  const another =
    contradiction instanceof WitnessDiverged ? 'another copy of this log signs too: stop one of them, and ' : '';
  return `${saidBy(witness)}${contradiction.message}; ${another}${cureOf(log)}`;
}

/** How the reason begins for a fence that a witness caused. */
function saidBy(witness: string): string {
  return `witness ${shown(witness)}: `;
}

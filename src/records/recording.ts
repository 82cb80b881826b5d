import { receiptHashLeaf } from '../proof/log/logged-entries.ts';
import { observe } from '../proof/records/observation.ts';
import type { Probe } from '../proof/records/signal.ts';
import type { Signer } from '../proof/signing.ts';
import { MINUTE } from '../proof/time.ts';
import type { AppContext } from '../server/context.ts';
import { OWNER_ROUND } from './accounts/owner.ts';
import type { Delta } from './delta.ts';
import { settleExpectations } from './expectations.ts';
import { facetsOf } from './facets.ts';
import { operatorOf } from './hostname.ts';
import { recordOf } from './record.ts';
import { compareAnswers, isUnconfirmed, type OriginOf, withRotations } from './rotation.ts';
import { trackedValues } from './tracked-values.ts';

type Records = AppContext['store']['records'];

export interface RecordingOptions {
  signer: Signer;
  kid: string;
  /** When the key came into force, in ms. */
  nbf?: number;
  /** The current time, in ms. */
  now: number;
  every: number;
  randomBytes(length: number): Uint8Array;
  /** The operator's table of origins; if undefined, the origins noted while there was one. */
  originOf?: OriginOf | undefined;
}

/** The outcome of a probe: signed and stored, or dropped because its lease was lost. */
export type Recorded = { outcome: 'recorded'; seq: number; deltas: Delta[] } | { outcome: 'lost' };

/**
 * Records one probe under its lease, in one transaction. A probe submitted twice is recorded once: the second time, its
 * lease is gone.
 */
export function recordProbe(tables: Records, lease: string, probe: Probe, options: RecordingOptions): Recorded {
  return tables.transact(() => {
    const host = tables.leased(lease, probe.hostname);
    if (host === null) return { outcome: 'lost' };
    const { now, every } = options;
    const observed_at = observedAt(probe.at, now, host.last?.observed_at ?? null, options.nbf);
    const record = recordOf(probe, host, observed_at);
    const prev = host.last?.receipt_hash ?? null;
    const observation = observe({ record, seq: tables.nextSeq(), prev, seed: options.randomBytes(32) }, options);
    tables.addObservation(host.id, observation);
    // Logs only a hash: the receipt itself must disappear if its hostname opts out.
    tables.logLeaf(receiptHashLeaf(observation.receipt));

    const tracked = trackedValues(probe);
    const before = tables.baseline(host.id);
    const known = tables.rotations(host.id);
    const originOf =
      options.originOf === undefined
        ? tables.originsAt(observation.seq)
        : tables.notedOrigins(observation.seq, options.originOf);
    const compared = compareAnswers({ baseline: before, rotations: known }, tracked, originOf);
    const { updates, changes } = compared;
    const baseline = { ...before, ...updates };
    const rotations = withRotations(known, compared.rotations);
    const deltas = tables.addDeltas(host, changes, observation.seq, now);
    tables.addSightings(host.id, tracked, observed_at);
    if (Object.keys(updates).length > 0) {
      tables.setBaseline(host.id, updates);
      tables.setFacets(host.id, facetsOf(baseline), now);
    }

    tables.setRotations(host.id, compared.rotations);

    const failures = Object.values(tracked).every((values) => values === null) ? host.failures + 1 : 0;
    const turns = new Set(changes.flatMap(({ signal, rotation }) => (rotation === 'set' ? [signal] : [])));
    const lookAt = settleExpectations(
      tables.expectations,
      {
        ...{ hostname: host.hostname, observation: observation.seq, observed_at, now, baseline },
        isKnown: (signal) => tracked[signal] != null && baseline[signal] !== undefined,
        isTurn: (signal) => rotations[signal]?.set != null && !turns.has(signal),
      },
      options.originOf,
    );
    const prompt = tables.owners.isOwned(host.id);
    const random = (options.randomBytes(1)[0] ?? 0) / 256;
    tables.requeue(host.id, {
      seq: observation.seq,
      due_at: Math.min(
        nextProbeAt({
          now,
          every: prompt ? Math.min(every, OWNER_ROUND) : every,
          unconfirmed: isUnconfirmed(baseline, rotations),
          failures,
          random,
        }),
        lookAt ?? Number.POSITIVE_INFINITY,
      ),
      looked_at: observed_at,
      failures,
      operator: operatorOf(host.hostname, baseline.NS?.values ?? []),
      prompt,
    });
    return { outcome: 'recorded', seq: observation.seq, deltas };
  });
}

// When hostnames are probed. The functions are pure: callers pass the clock and randomness. All times in ms.

/** How long after a value went missing the confirming probe runs. */
export const CONFIRM_AFTER = 5 * MINUTE;
/** How long to wait after a probe that learned nothing. It doubles each time. */
export const RETRY_AFTER = 10 * MINUTE;
/** The fraction of the interval by which a probe may be early or late, so that load peaks do not repeat daily. */
const DRIFT = 0.05;

interface ScheduleInput {
  now: number;
  every: number;
  unconfirmed: boolean;
  failures: number;
  /** In [0, 1). */
  random: number;
}

/** When a hostname is due again. Missed probes are not made up for. */
export function nextProbeAt({ now, every, unconfirmed, failures, random }: ScheduleInput): number {
  if (failures > 0) return now + Math.min(every, RETRY_AFTER * 2 ** Math.min(failures - 1, 20));
  if (unconfirmed) return now + Math.min(every, CONFIRM_AFTER);
  return now + Math.round(every * (1 - DRIFT + 2 * DRIFT * random));
}

/**
 * The time of an observation: when the probe began, but never later than now, and never earlier than the domain's last
 * observation or the start of the key's validity (`nbf`). So if the clock was set back, times may be equal but never
 * out of order.
 */
export function observedAt(lookedAt: number, now: number, last: number | null, nbf = 0): number {
  return Math.max(last ?? 0, nbf, Math.min(lookedAt, now));
}

import { present } from '../proof/narrow.ts';
import { type DomainRecord, type RecordSignal, signalsOf } from '../proof/records/record.ts';
import { isKnown, type Probe, type SignalStatus } from '../proof/records/signal.ts';
import { isoTime } from '../proof/time.ts';
import type { Hostname } from './hostname.ts';
import { servicesSeen } from './services.ts';

/** Builds the record of a probe, with the time that its receipt will state. */
export function recordOf(probe: Probe, host: Hostname, observed_at: number): DomainRecord {
  const signals = Object.entries(probe.signals).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    certificate: probe.certificate,
    certificate_status: probe.certificate_status,
    domain: host.hostname,
    observed_at: isoTime(observed_at),
    registrable_domain: host.registrable_domain,
    services: servicesSeen(probe),
    ...Object.fromEntries(
      signals.map(([type, { status, ttl, values, transport, rtt_ms, flags }]) => [
        `signals.${type}`,
        { status, ttl, values, transport, rtt_ms: rtt_ms === null ? null : Math.round(rtt_ms), flags },
      ]),
    ),
    summary: summaryOf(probe.signals),
    unicode: host.unicode,
    wildcard: probe.wildcard,
  };
}

export function summaryOf(signals: Record<string, { status: SignalStatus; values: string[] }>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(signals)
      .filter(([, signal]) => isKnown(signal))
      .map(([type, { values }]) => [type, values.length]),
  );
}

/**
 * A record in two parts: the body, stored once while the zone stays the same, and the circumstances of one probe.
 * Stored whole, a million hostnames probed daily would repeat their zones every day.
 */
export interface RecordParts {
  body: Record<string, unknown>;
  /** One for each signal, sorted by the signal's name. */
  circumstances: Circumstance[];
}

/** TTL, transport, round-trip time, and the flags as letters: `a` for aa, `d` for ad, `t` for tc. */
export type Circumstance = [ttl: number | null, transport: 'udp' | 'tcp' | null, rtt_ms: number | null, flags: string];

/** Splits a record. Neither part contains `observed_at`: the receipt and the row have it. */
export function partsOf(record: DomainRecord): RecordParts {
  const { observed_at: _, ...rest } = record;
  const body: Record<string, unknown> = rest;
  const circumstances: Circumstance[] = [];
  for (const [type, { status, values, ttl, transport, rtt_ms, flags }] of inOrder(signalsOf(record))) {
    body[`signals.${type}`] = { status, values };
    const letters = `${flags.aa ? 'a' : ''}${flags.ad ? 'd' : ''}${flags.tc ? 't' : ''}`;
    circumstances.push([ttl, transport, rtt_ms, letters]);
  }
  return { body, circumstances };
}

export function recordFromParts({ body, circumstances }: RecordParts, observed_at: string): DomainRecord {
  const record = { ...body, observed_at } as DomainRecord;
  for (const [index, [type, { status, values }]] of inOrder(signalsOf(record)).entries()) {
    const [ttl, transport, rtt_ms, letters] = present(circumstances[index]);
    const flags = { aa: letters.includes('a'), ad: letters.includes('d'), tc: letters.includes('t') };
    record[`signals.${type}`] = { status, ttl, values, transport, rtt_ms, flags };
  }
  return record;
}

function inOrder(signals: Record<string, RecordSignal>): [string, RecordSignal][] {
  return Object.entries(signals).sort(([a], [b]) => (a < b ? -1 : 1));
}

import { present } from '../narrow.ts';
import type { DomainRecord, RecordSignal } from './record.ts';
import { signalsOf } from './record.ts';

/**
 * A record in two parts: the body, which does not change between probes while the zone stays the same and is stored
 * only once, and the circumstances of one probe. Without this split, a million hostnames probed daily would write their
 * zones every day.
 */
export interface RecordParts {
  body: Record<string, unknown>;
  /** For each signal, in the order of its name. */
  circumstances: Circumstance[];
}

/** TTL, transport, round-trip time, and the flags as letters: `a` for aa, `d` for ad, `t` for tc. */
type Circumstance = [ttl: number | null, transport: 'udp' | 'tcp' | null, rtt_ms: number | null, flags: string];

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

/** Joins the two parts again. */
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

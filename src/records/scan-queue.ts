import type { Probe } from './signal.ts';

/** Hostnames that are reserved for one scanner until the lease ends. */
export interface ScanLease {
  lease: string;
  hostnames: string[];
}

/**
 * The outcome of one probe: signed and stored; lost, because another scanner leased the hostname in the meantime or it
 * is no longer watched; or refused for its content.
 */
export type ProbeOutcome =
  | { hostname: string; outcome: 'recorded'; seq: number; changes: string[] }
  | { hostname: string; outcome: 'lost' }
  | { hostname: string; outcome: 'refused'; message: string };

/** Where a scanner gets its work and submits its probes: the database, or the API of another machine. */
export interface ScanQueue {
  /** Leases up to `max` due hostnames; null when none are due. */
  lease(max: number): Promise<ScanLease | null>;
  /** Submits probes under their lease; returns their outcomes in the same order. */
  submit(lease: string, probes: Probe[]): Promise<ProbeOutcome[]>;
  /** Ends a lease. Hostnames without a submitted probe are due again at once. */
  release(lease: string): Promise<void>;
}

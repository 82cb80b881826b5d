import type { Probe } from './signal.ts';

/** Hostnames that one scanner alone looks at, until the lease ends. */
export interface ScanLease {
  lease: string;
  hostnames: string[];
}

/**
 * What became of one look: signed and kept; dropped, because another scanner
 * took the hostname meanwhile or nobody watches it any more; or refused for
 * what it says.
 */
export type ProbeOutcome =
  | { hostname: string; outcome: 'recorded'; seq: number; changes: string[] }
  | { hostname: string; outcome: 'lost' }
  | { hostname: string; outcome: 'refused'; message: string };

/** Where a scanner gets its work and hands in what it saw: the database, or the doors of another machine. */
export interface ScanQueue {
  /** At most `max` hostnames that are due; null when nothing is. */
  lease(max: number): Promise<ScanLease | null>;
  /** Enters looks under their lease; outcomes in their order. */
  submit(lease: string, probes: Probe[]): Promise<ProbeOutcome[]>;
  /** Ends a lease: what was not entered is due at once. */
  release(lease: string): Promise<void>;
}

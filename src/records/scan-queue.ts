import type { Probe } from './signal.ts';

/** Hostnames that one scanner alone looks at, until the lease ends. */
export interface Leased {
  lease: string;
  hostnames: string[];
}

/**
 * What became of one look: signed and kept; dropped, because another scanner
 * took the hostname meanwhile or nobody watches it any more; or refused for
 * what it says.
 */
export type Entered =
  | { hostname: string; outcome: 'recorded'; seq: number; changes: string[] }
  | { hostname: string; outcome: 'lost' }
  | { hostname: string; outcome: 'refused'; message: string };

/** Where a scanner gets its work and hands in what it saw: the database, or the doors of another machine. */
export interface ScanQueue {
  /** At most `max` hostnames that are due; null when nothing is. */
  lease(max: number): Promise<Leased | null>;
  /** Enters looks under their lease; outcomes in their order. */
  enter(lease: string, looks: Probe[]): Promise<Entered[]>;
  /** Ends a lease: what was not entered is due at once. */
  release(lease: string): Promise<void>;
}

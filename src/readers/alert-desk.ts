import type { AlertTable } from './alert-table.ts';
import type { EventTable } from './event-table.ts';

/** When a paper's digests go out. */
export interface AlertHour {
  /** 0 to 23, on the clock of the zone. */
  hour: number;
  /** A name of the IANA time zone database. */
  time_zone: string;
}

/** What choosing who is told of what works with. */
export interface AlertDesk {
  alerts: AlertTable;
  events: EventTable;
  papers(): (AlertHour & { slug: string })[];
  /** Runs `work` as one transaction that nothing else of any process comes between. */
  transact<T>(work: () => T): T;
  /** The present time, in ms. */
  now(): number;
  newId(): string;
}

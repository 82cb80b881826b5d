import type { AlertTable } from './alert-table.ts';
import type { AlertHour } from './digest.ts';
import type { EventTable } from './event-table.ts';

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

import type { RecordingTables } from '../records/recording.ts';
import type { Db } from './open.ts';
import { recordsFaults } from './records-audit.ts';
import { deltaTable } from './records-deltas.ts';
import { facetTables } from './records-facets.ts';
import { hostnameTable } from './records-hostnames.ts';
import { observationTable } from './records-observations.ts';
import { queueTable } from './records-queue.ts';
import { sightingTables } from './records-sightings.ts';
import { valueTables } from './records-values.ts';

/** Everything that the records service keeps. */
export function recordsTables(db: Db, transact: <T>(work: () => T) => T) {
  const tables = {
    transact,
    ...hostnameTable(db, transact),
    ...queueTable(db),
    ...observationTable(db),
    ...deltaTable(db),
    ...sightingTables(db),
    ...facetTables(db),
    ...valueTables(db, transact),
    /** What does not hold between these tables; empty when all of it does. */
    tableFaults: (): string[] => recordsFaults(db),
  };
  return tables satisfies RecordingTables;
}

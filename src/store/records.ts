import type { RecordingTables } from '../records/recording.ts';
import type { LogTables } from '../transparency/log-tables.ts';
import { recordsFaults } from './records-audit.ts';
import { recordsClockTables } from './records-clock.ts';
import { damageTable } from './records-damage.ts';
import { deltaTable } from './records-deltas.ts';
import { facetTables } from './records-facets.ts';
import { hostnameTable } from './records-hostnames.ts';
import { observationTable } from './records-observations.ts';
import { queueTable } from './records-queue.ts';
import { sightingTables } from './records-sightings.ts';
import { valueTables } from './records-values.ts';
import type { Db, Transact } from './sql.ts';

export type RecordsTables = ReturnType<typeof recordsTables>;

/** All tables of the domain records. Observations are logged in `log`. */
export function recordsTables(db: Db, transact: Transact, log: Pick<LogTables, 'append'>) {
  const tables = {
    transact,
    ...hostnameTable(db, transact),
    ...queueTable(db),
    ...observationTable(db),
    logLeaf: (entry: string): void => log.append('records', entry),
    ...recordsClockTables(db),
    ...deltaTable(db),
    ...sightingTables(db),
    ...facetTables(db),
    ...valueTables(db, transact),
    ...damageTable(db),
    /** Faults between these tables; empty when they agree. */
    tableFaults: (): string[] => recordsFaults(db),
  };
  return tables satisfies RecordingTables;
}

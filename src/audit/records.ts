import { auditHost } from '../records/audit.ts';
import type { AuditParts } from './parts.ts';

/**
 * Checks the observations and the tables derived from them. Appends to `faults` and returns the number of
 * observations.
 */
export function auditRecords(
  { store }: Pick<AuditParts, 'store'>,
  faults: string[],
  progress: AuditParts['progress'] = () => {},
): number {
  const { records } = store;
  const keys = store.doorKeys();
  const total = records.observationTotals().count;
  let count = 0;
  faults.push(...records.tableFaults());
  for (const { id, hostname } of records.everyHost()) {
    const host = records.find(hostname);
    const audit = auditHost(
      {
        hostname,
        isShown: host?.state !== 'opted_out',
        seq: host?.seq ?? null,
        observations: records.observationsOf(id),
        changesOf: (seq) => records.changesOf(id, seq),
        baseline: records.baseline(id),
        sightings: records.history(id, {}, Number.MAX_SAFE_INTEGER),
        facets: records.facetsOf(id),
      },
      keys,
    );
    faults.push(...audit.faults);
    const isCovered = records.optOutOf(hostname) !== null;
    if (isCovered !== (host?.state === 'opted_out')) {
      faults.push(`${hostname}: its state is ${host?.state}, though ${isCovered ? 'an' : 'no'} opt-out covers it`);
    }
    count += audit.observations;
    progress('audit', count, total, hostname);
  }
  if (count !== total) faults.push('observations: some belong to no hostname');
  return count;
}

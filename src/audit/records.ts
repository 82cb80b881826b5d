import type { HostAudit } from '../records/audit.ts';
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
  const total = records.observationTotals().count;
  const damaged = new Set(records.damagedObservations().map(({ seq }) => seq));
  let count = 0;
  faults.push(...records.tableFaults());
  for (const host of records.everyHost()) {
    const { hostname } = host;
    const audit = auditStoredHost(store, host, damaged);
    faults.push(...audit.faults);
    if (audit.faults.length > 0 && audit.unmarked.length > 0) {
      faults.push(
        `${hostname}: an older version cut values at U+0000; if nothing else is wrong here, run \`npm run -s broadsheet -- audit --accept-damage ${audit.unmarked.join(' ')} --reason TEXT\``,
      );
    }
    const { state } = records.find(hostname) ?? {};
    const isCovered = records.optOutOf(hostname) !== null;
    if (isCovered !== (state === 'opted_out')) {
      faults.push(`${hostname}: its state is ${state}, though ${isCovered ? 'an' : 'no'} opt-out covers it`);
    }
    count += audit.observations;
    progress('audit', count, total, hostname);
  }
  if (count !== total) faults.push('observations: some belong to no hostname');
  return count;
}

/** Audits one host as the database has it, taking these observations as marked. */
export function auditStoredHost(
  { records, verifyingKeys, corrections }: AuditParts['store'],
  { id, hostname }: { id: number; hostname: string },
  damaged: ReadonlySet<number>,
): HostAudit {
  const host = records.find(hostname);
  return auditHost(
    {
      hostname,
      isShown: host?.state !== 'opted_out',
      seq: host?.seq ?? null,
      observations: records.observationsOf(id),
      changesOf: (seq) => records.changesOf(id, seq),
      baseline: records.baseline(id),
      sightings: records.history(id, {}, Number.MAX_SAFE_INTEGER),
      facets: records.facetsOf(id),
      isDamaged: (seq) => damaged.has(seq),
    },
    verifyingKeys('records'),
    corrections('records', ''),
  );
}

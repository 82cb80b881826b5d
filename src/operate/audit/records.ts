import { auditHost, type HostAudit } from '../../records/audit.ts';
import type { AppContext } from '../../server/context.ts';
import { CLI } from '../../shared/command-line.ts';
import { Fault } from '../../shared/fault.ts';
import { pushAll } from '../../shared/push-all.ts';
import { isLine } from '../../shared/shown-text.ts';
import type { Progress } from '../../shared/terminal/progress.ts';

/** Checks observations and what is derived from them. Appends to `faults`. Returns their number. */
export function auditRecords(
  { store }: Pick<AppContext, 'store'>,
  faults: string[],
  progress: Progress['step'] = () => {},
): number {
  const { records } = store;
  const total = records.observationTotals().count;
  const damaged = new Set(records.damagedObservations().map(({ seq }) => seq));
  let count = 0;
  pushAll(faults, records.tableFaults());
  for (const host of records.everyHost()) {
    const { hostname } = host;
    const audit = auditStoredHost(store, host, damaged);
    pushAll(faults, audit.faults);
    if (audit.faults.length > 0 && audit.unmarked.length > 0) {
      faults.push(
        `${hostname}: an older version cut values at U+0000; if nothing else is wrong here, run \`${CLI} audit --accept-damage ${audit.unmarked.join(' ')} --reason TEXT\``,
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
function auditStoredHost(
  { records, desk: { verifyingKeys, corrections } }: AppContext['store'],
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

/** The longest reason, in characters. */
const REASON_MAX = 1_000;

/**
 * Accepts observations that an old version cut at U+0000, all or none. Throws `invalid_request` for the reason,
 * `not_found`, and `conflict` for damage of another kind.
 */
export function acceptDamage({ store, clock }: AppContext, seqs: readonly number[], reason: string): void {
  if (reason.trim() === '' || reason.length > REASON_MAX || !isLine(reason)) {
    throw new Fault('invalid_request', `--reason must be one line of 1 to ${REASON_MAX} characters; say what happened`);
  }
  const { records } = store;
  const hostOf = (seq: number) => {
    const host = records.hostOfObservation(seq);
    if (host === null) throw new Fault('not_found', `there is no observation ${seq}; take a number from the audit`);
    return host;
  };
  records.transact(() => {
    const damaged = new Set(records.damagedObservations().map(({ seq }) => seq));
    const asked = new Set(seqs);
    for (const [first = 0, ...more] of Map.groupBy(asked, (seq) => hostOf(seq).id).values()) {
      const own = [first, ...more];
      const host = hostOf(first);
      const before = auditStoredHost(store, host, new Set());
      const whole = own.find((seq) => !before.unmarked.includes(seq));
      if (whole !== undefined) {
        const message = `observation ${whole} holds no U+0000, so no version cut it; only such damage can be accepted`;
        throw new Fault('conflict', message);
      }
      const { faults, unmarked } = auditStoredHost(store, host, new Set([...damaged, ...asked]));
      if (unmarked.length > 0) {
        const all = [...own, ...unmarked].join(' ');
        const message = `${host.hostname} has other observations with U+0000; accept them together: ${all}`;
        throw new Fault('conflict', message);
      }
      const [fault] = faults;
      if (fault !== undefined) throw new Fault('conflict', `this is not what a cut at U+0000 leaves: ${fault}`);
    }
    for (const seq of asked) if (!damaged.has(seq)) records.markDamaged({ seq, at: clock.now(), reason });
  });
}

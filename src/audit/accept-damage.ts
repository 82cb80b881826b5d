import { Fault } from '../fault.ts';
import { isLine } from '../ledger/door.ts';
import type { AuditParts } from './parts.ts';
import { auditStoredHost } from './records.ts';

/** The longest reason, in characters. */
const REASON_MAX = 1_000;

/**
 * Marks observations as damaged by a version that cut values at U+0000, so that an audit no longer reports what it left.
 * Marks all or none. Throws `invalid_request` for a reason that is not a line, `not_found` for an unknown observation,
 * and `conflict` where the damage is of another kind: when a host differs from its signed records in any other way.
 */
export function acceptDamage(
  { store, now }: Pick<AuditParts, 'store' | 'now'>,
  seqs: readonly number[],
  reason: string,
): void {
  if (reason.trim() === '' || reason.length > REASON_MAX || !isLine(reason)) {
    throw new Fault('invalid_request', `--reason must be one line of 1 to ${REASON_MAX} characters; say what happened`);
  }
  const { records } = store;
  records.transact(() => {
    const marked = new Set(records.damagedObservations().map(({ seq }) => seq));
    const all = new Set([...marked, ...seqs]);
    const asked = new Map<number, { host: { id: number; hostname: string }; own: number[] }>();
    for (const seq of new Set(seqs)) {
      const host = records.hostOfObservation(seq);
      if (host === null) throw new Fault('not_found', `there is no observation ${seq}; take a number from the audit`);
      const { own } = asked.get(host.id) ?? { own: [] };
      asked.set(host.id, { host, own: [...own, seq] });
    }
    for (const { host, own } of asked.values()) {
      const before = auditStoredHost(store, host, new Set());
      const whole = own.find((seq) => !before.unmarked.includes(seq));
      if (whole !== undefined) {
        throw new Fault(
          'conflict',
          `observation ${whole} holds no U+0000, so no version cut it; only such damage can be accepted`,
        );
      }
      const { faults, unmarked } = auditStoredHost(store, host, all);
      if (unmarked.length > 0) {
        throw new Fault(
          'conflict',
          `${host.hostname} has other observations with U+0000; accept them together: ${[...own, ...unmarked].join(' ')}`,
        );
      }
      const [fault] = faults;
      if (fault !== undefined) throw new Fault('conflict', `this is not what a cut at U+0000 leaves: ${fault}`);
    }
    for (const seq of new Set(seqs)) if (!marked.has(seq)) records.markDamaged({ seq, at: now(), reason });
  });
}

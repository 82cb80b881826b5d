import type { Leaf } from '../../ledger/log/leaf.ts';
import { entriesOf } from '../../narrow.ts';
import { plural } from '../../plural.ts';
import type { CheckedLog } from './verify-log.ts';

const KINDS: Record<Leaf['kind'], [one: string, many: string]> = {
  receipt: ['receipt', 'receipts'],
  'receipt-hash': ['hash of a receipt', 'hashes of receipts'],
  withdrawal: ['withdrawal', 'withdrawals'],
  key: ['key', 'keys'],
  'key-retired': ['retired key', 'retired keys'],
  clock: ['correction of the clock', 'corrections of the clock'],
};

const NOBODY_ASKED =
  'Whether others see the same log was not checked: give --policy to demand its signature and the quorum of its witnesses.';

/** Describes a log that was read, in lines for people. */
export function verifiedLogLines(checked: CheckedLog): string[] {
  const { origin, size, leaves, faults, cosigned_by, log } = checked;
  const kinds = entriesOf(leaves).map(([kind, count = 0]) => plural(count, ...KINDS[kind]));
  const result =
    faults.length === 0
      ? `${origin}: ${plural(size, 'leaf', 'leaves')} (${kinds.join(', ')}), the tiles and the root hold`
      : `${log}: the log does not hold`;
  return [...faults.map((fault) => `${log}: ${fault}`), result, ...witnessLines(cosigned_by, faults)];
}

function witnessLines(cosigned: CheckedLog['cosigned_by'], faults: string[]): string[] {
  if (cosigned === null) return faults.length === 0 ? [NOBODY_ASKED] : [];
  if (cosigned.length === 0) return ['The policy asks for no witness, and none that it knows has cosigned.'];
  return [`Cosigned by ${cosigned.map(({ name, at }) => `${name} at ${at}`).join(', ')}.`];
}

import { Fault } from '../fault.ts';
import { isLine } from '../ledger/door.ts';
import { normalized } from '../ledger/marks.ts';

/** The longest reason, in UTF-16 units. */
export const REASON_MAX = 1_000;

/** The reason of an opt-out, in NFC. Throws `invalid_request` naming `field` unless it is one line. */
export function optOutReason(text: string, field: string): string {
  const reason = normalized(text).trim();
  if (reason !== '' && reason.length <= REASON_MAX && isLine(reason)) return reason;
  throw new Fault('invalid_request', `${field} must be one line of 1 to ${REASON_MAX} characters`, { field: 'reason' });
}

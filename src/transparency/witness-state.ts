import type { WitnessState } from './log-tables.ts';

/** How the state of a witness changes with a request. Times in ms. */

interface Failure {
  /** Why it failed, in one line. */
  fault: string;
  /** The largest tree that the witness said it had seen. */
  seen: number;
  began: number;
  next_at: number;
}

/** The state after a request that failed. The series of failures began with the first of them. */
export function afterFailure(before: WitnessState, { fault, seen, began, next_at }: Failure): WitnessState {
  return {
    ...before,
    seen_size: Math.max(before.seen_size, seen),
    fault,
    fault_at: before.fault_at ?? began,
    failures: before.failures + 1,
    next_at,
  };
}

/** The state after the witness cosigned a tree of `size` leaves `at` a time. */
export function afterCosignature(
  before: WitnessState,
  { size, at, next_at }: { size: number; at: number; next_at: number },
): WitnessState {
  return {
    vkey: before.vkey,
    seen_size: Math.max(before.seen_size, size),
    cosigned_size: Math.max(before.cosigned_size ?? 0, size),
    cosigned_at: at,
    fault: null,
    fault_at: null,
    failures: 0,
    next_at,
  };
}

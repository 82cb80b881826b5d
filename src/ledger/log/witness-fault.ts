import { LogFault } from './log-fault.ts';

/**
 * A witness knows a history that this log does not have: its database was restored from a backup or copied, and must
 * sign nothing.
 */
export class WitnessContradicts extends LogFault {}

/** The witness has seen more leaves than the log has signed. */
export class WitnessAhead extends WitnessContradicts {}

/** The witness has seen other leaves. */
export class WitnessDiverged extends WitnessContradicts {}

/** A 409 without a size or a body: omniwitness answers so when it has seen another root of the size that it was sent. */
export class ConflictWithoutSize extends LogFault {}

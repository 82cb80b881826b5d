import type { Problem } from './shape.ts';

/**
 * The codes of faults that callers see. Each code has one HTTP status, in `api/middleware/fault.ts`; the command line
 * prints the message and exits with 1.
 */
export type FaultCode =
  | 'invalid_request'
  | 'payment_required'
  | 'allowance_exhausted'
  | 'key_required'
  | 'key_invalid'
  | 'key_expired'
  | 'key_paused'
  | 'wrong_paper'
  | 'level_too_low'
  | 'terms_unsigned'
  | 'export_needs_account'
  | 'wrong_origin'
  | 'not_found'
  | 'other_node'
  | 'not_watched'
  | 'not_observed'
  | 'method_not_allowed'
  | 'conflict'
  | 'ahead_of_stream'
  | 'withdrawn'
  | 'too_large'
  | 'unsupported_media_type'
  | 'refused_by_door'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'throttled'
  | 'not_implemented'
  | 'unavailable';

/** An error that names its cause and its cure. Any other error is a defect. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly details: Record<string, unknown>;

  constructor(code: FaultCode, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.name = 'Fault';
    this.code = code;
    this.details = details;
  }
}

class Unavailable extends Fault {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/**
 * An `unavailable` that passes by itself. Its message may be shown to anybody; that of any other `unavailable` may
 * name files and processes of this machine, and stays in the log.
 */
export class Busy extends Unavailable {
  override readonly name = 'Busy';
}

/** An `unavailable` of another machine that does not answer. */
export class Unreachable extends Unavailable {
  override readonly name = 'Unreachable';
}

/** An `unavailable` of a database that another process writes to. Its message names the file, which callers never see. */
export class LockedFault extends Unavailable {
  override readonly name = 'LockedFault';
}

/** Why a disk rejects writes. */
export type DiskState = 'full' | 'read_only' | 'failing';

/** An `unavailable` of a disk that rejects writes. Its message names files; callers see only the state. */
export class DiskFault extends Unavailable {
  override readonly name = 'DiskFault';
  readonly state: DiskState;

  constructor(state: DiskState, message: string) {
    super(message);
    this.state = state;
  }
}

/** The most problems that a response lists. */
const PROBLEMS_MAX = 100;

/** Problems as a response lists them: the first hundred, and the total when there are more. */
export function listedProblems(problems: Problem[]): { problems: Problem[]; problems_total?: number } {
  if (problems.length <= PROBLEMS_MAX) return { problems };
  return { problems: problems.slice(0, PROBLEMS_MAX), problems_total: problems.length };
}

/** The fault for a piece or a record that was rejected, with its problems. */
export function refusalOf(problems: Problem[]): Fault {
  const first = problems[0];
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return new Fault('refused_by_door', `${first?.field}: ${first?.message}${more}`, listedProblems(problems));
}

/** A fault's problems, null without any; if some are not listed, a last entry counts them. */
export function problemsIn({ details }: Fault): Problem[] | null {
  const { problems, problems_total: total } = details as Partial<ReturnType<typeof listedProblems>>;
  if (problems === undefined || total === undefined) return problems ?? null;
  const field = problems.at(-1)?.field ?? 'file';
  const message = `and ${total - problems.length} more problems; correct these first`;
  return [...problems, { field, rule: 'more_problems', message }];
}

/** Returns the result of `work`, or the error if it is of this kind; throws any other error. */
export function caught<T, E extends Error>(kind: new (...of: never[]) => E, work: () => T): T | E {
  try {
    return work();
  } catch (error) {
    return only(kind)(error);
  }
}

/** The same for a promise, as its `catch`. */
export const only =
  <E extends Error>(kind: new (...of: never[]) => E) =>
  (error: unknown): E => {
    if (error instanceof kind) return error;
    throw error;
  };

/** The code of a system's error, such as `ENOENT`; '' for an error without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Whether a write did not happen because another process holds the database's lock. */
export function isLocked(error: unknown): boolean {
  return error instanceof LockedFault || codeOf(error).startsWith('SQLITE_BUSY');
}

/** The message of an error, or of any other thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Why a request got no response: the code or the message of what caused the error, else the error's own message. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return codeOf(cause) || (cause instanceof Error ? cause.message : messageOf(error));
}

/** An error's stack, for a defect; of anything else that was thrown, its text. */
export function stackOf(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? String(error);
}

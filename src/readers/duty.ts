/** Work that one process does at a time, whoever else shares the database. */
export interface DutyTable {
  /**
   * Takes a duty, or goes on with it, until a time (ms). `taken` when it was
   * another's or nobody's before, null when another has it now.
   */
  take(name: string, owner: string, now: number, until: number): 'taken' | 'kept' | null;
  /** Gives a duty back before its time. */
  leave(name: string, owner: string): void;
  /** Whether anybody has a duty, as every server does that runs. */
  isAnyHeld(now: number): boolean;
}

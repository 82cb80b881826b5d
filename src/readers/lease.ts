/** Work that one process does at a time, whoever else shares the database. */
export interface LeaseTable {
  /**
   * Takes a duty, or goes on with it, for so many ms. `taken` when it was
   * another's or nobody's before, null when another has it now. The clock is read
   * once nobody else can take it.
   */
  acquire(name: string, owner: string, now: () => number, lasts: number): 'acquired' | 'renewed' | null;
  /** Gives a duty back before its time. */
  release(name: string, owner: string): void;
  /** Whether anybody has a duty, as every server does that runs. */
  isAnyHeld(now: number): boolean;
}

/** Work that signals ask for. */
export interface Coalesced {
  /** Does the work; calls during a run cause exactly one more run after it. */
  request(): void;
  /** Starts no more work. Resolves when the current run has ended. */
  end(): Promise<void>;
}

/** Does work once at a time. It must not reject. */
export function coalesced(work: () => Promise<void>): Coalesced {
  let underWay: Promise<void> | null = null;
  let isWanted = false;
  let isOver = false;
  const go = async () => {
    while (isWanted && !isOver) {
      isWanted = false;
      await work();
    }
    underWay = null;
  };
  return {
    request() {
      isWanted = true;
      underWay ??= go();
    },
    async end() {
      isOver = true;
      await underWay;
    },
  };
}

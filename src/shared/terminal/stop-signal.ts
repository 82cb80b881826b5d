const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** One Ctrl-C may arrive twice within this time, in ms: from the terminal, and from npm, which passes on its own. */
const TOGETHER = 1_000;

/**
 * Calls `stop` for the first signal that asks the process to end, and `again` for later ones, except a duplicate within
 * `TOGETHER`. SIGHUP, the end of a terminal, counts as such a signal unless there is a `reload` for it.
 */
export function onStopSignal(
  stop: () => void,
  { again = () => {}, reload }: { again?: () => void; reload?: () => void } = {},
): void {
  let stoppedAt: number | null = null;
  const onSignal = () => {
    if (stoppedAt === null) {
      stoppedAt = performance.now();
      stop();
    } else if (performance.now() - stoppedAt > TOGETHER) again();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('SIGHUP', reload ?? onSignal);
}

/**
 * Ends a command that writes at the first stop signal, between two of its steps, with the exit code that shells give to
 * the signal. Without this, the signal could end it within a transaction. Signals that the command itself listens to
 * are left to it.
 */
export function endBetweenSteps(): void {
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(128 + number);
    });
  }
}

/** Whether SIGHUP would mean that the terminal was closed. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true;
}

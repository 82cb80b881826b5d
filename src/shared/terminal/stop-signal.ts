const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** One Ctrl-C may arrive twice, from the terminal and from npm, which passes its own on: within this time, in ms. */
const TOGETHER = 1_000;

/**
 * Calls `stop` for the first signal that asks the process to end, and `again` for each that comes later than the same
 * signal by another way would. SIGHUP, the end of a terminal, is one of them unless `reload` takes it.
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
 * Ends a command that writes by its first stop signal between two of its steps, with the exit code that shells give to
 * the signal: never within a transaction, as the signal by itself would. Signals that the command itself listens to are
 * left to it.
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

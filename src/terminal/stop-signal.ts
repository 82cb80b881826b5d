const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Calls `stop` for each signal that asks the process to end. A signal may come twice: Ctrl-C reaches the process
 * from the terminal and from npm.
 */
export function onStopSignal(stop: () => void): void {
  for (const signal of SIGNALS) process.on(signal, stop);
}

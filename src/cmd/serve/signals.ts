import { hasTerminal, onStopSignal } from '../../shared/terminal/stop-signal.ts';

interface SignalLog {
  warn(message: string): void;
  flush(): Promise<void>;
}

/** The handling of signals to this process. */
export type Signals = ReturnType<typeof takeSignals>;

/** Handles the signals of a starting server. Call this before its code is loaded, because a SIGHUP would end it. */
export function takeSignals() {
  let log: SignalLog = { warn() {}, flush: async () => {} };
  const exit = (code: number) => void log.flush().then(() => process.exit(code));
  // Before the server runs, a signal ends the process at once: the next start finishes what this one began.
  let stop = (): void => exit(0);
  let isReloadWanted = false;
  let reload = () => {
    isReloadWanted = true;
  };
  const again = () => {
    log.warn('ending at once; the next start finishes what was in progress');
    exit(1);
  };
  onStopSignal(() => stop(), { again, ...(hasTerminal() ? {} : { reload: () => reload() }) });
  return {
    /** From now on warnings go to this log, which is flushed before a signal ends the process. */
    logTo(next: SignalLog) {
      log = next;
    },
    /** From now on a stop signal calls `next`, instead of ending the process at once. */
    onStop(next: () => void) {
      stop = next;
    },
    /** From now on a SIGHUP calls `next`. Calls it now if there was a SIGHUP while the server started. */
    onReload(next: () => void) {
      reload = next;
      if (isReloadWanted) next();
      isReloadWanted = false;
    },
  };
}

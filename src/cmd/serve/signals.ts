import { hasTerminal, onStopSignal } from '../../shared/terminal/stop-signal.ts';

interface SignalLog {
  warn(message: string): void;
  flush(): Promise<void>;
}

/** What the signals to this process do. */
export type Signals = ReturnType<typeof takeSignals>;

/** Listens to the signals of a server that starts. Called before its code is loaded, because a SIGHUP would end it. */
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
    /** Has warnings written, and the log flushed before a signal ends the process. */
    logTo(next: SignalLog) {
      log = next;
    },
    /** Has a stop signal call `next` from now on, instead of ending the process at once. */
    onStop(next: () => void) {
      stop = next;
    },
    /** Has a SIGHUP call `next` from now on; at once if there was one while the server started. */
    onReload(next: () => void) {
      reload = next;
      if (isReloadWanted) next();
      isReloadWanted = false;
    },
  };
}

import { hasTerminal, onStopSignal } from '../../terminal/stop-signal.ts';

/** What the signals to this process do. */
export interface Signals {
  /** Has warnings written, and the log flushed before a signal ends the process. */
  logTo(log: { warn(message: string): void; flush(): Promise<void> }): void;
  /** Has a stop signal call `stop` from now on, instead of ending the process at once. */
  onStop(stop: () => void): void;
  /** Has a SIGHUP call `reload` from now on; at once if there was one while the server started. */
  onReload(reload: () => void): void;
}

/** Listens to the signals of a server that starts. Called before its code is loaded, because a SIGHUP would end it. */
export function takeSignals(): Signals {
  let log: Parameters<Signals['logTo']>[0] = { warn() {}, flush: async () => {} };
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
    logTo(next) {
      log = next;
    },
    onStop(next) {
      stop = next;
    },
    onReload(next) {
      reload = next;
      if (isReloadWanted) next();
      isReloadWanted = false;
    },
  };
}

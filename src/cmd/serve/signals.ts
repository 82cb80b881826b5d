import { flushed, type ServerLog } from '../../app/server-log.ts';
import { hasTerminal, onStopSignal } from '../../terminal/stop-signal.ts';

/** What the signals to this process do. */
export interface Signals {
  /** Has a stop signal call `stop` from now on, instead of ending the process at once. */
  onStop(stop: () => void): void;
  /** Has a SIGHUP call `reload` from now on; at once if there was one while the server started. */
  onReload(reload: () => void): void;
}

/** Listens to the signals of a server that starts. */
export function takeSignals(logger: ServerLog): Signals {
  const exit = (code: number) => void flushed(logger).then(() => process.exit(code));
  // Before the server runs, a signal ends the process at once: the next start finishes what this one began.
  let stop = (): void => exit(0);
  let isReloadWanted = false;
  let reload = () => {
    isReloadWanted = true;
  };
  const again = () => {
    logger.warn('ending at once; the next start finishes what was in progress');
    exit(1);
  };
  onStopSignal(() => stop(), { again, ...(hasTerminal() ? {} : { reload: () => reload() }) });
  return {
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

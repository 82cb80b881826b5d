import { flushed, type ServerLog } from '../../app/server-log.ts';
import { hasTerminal, onStopSignal } from '../../terminal/stop-signal.ts';

/** What the signals to this process do now. */
export interface SignalActions {
  stop(): void;
  reload(): void;
}

/** Listens to the signals of a server that starts. Set the actions as soon as it can be stopped and reloaded. */
export function takeSignals(logger: ServerLog): SignalActions {
  const exit = (code: number) => void flushed(logger).then(() => process.exit(code));
  // Before the server runs, a signal ends the process at once: the next start finishes what this one began.
  const actions: SignalActions = { stop: () => exit(0), reload() {} };
  const again = () => {
    logger.warn('ending at once; the next start finishes what was in progress');
    exit(1);
  };
  onStopSignal(() => actions.stop(), { again, ...(hasTerminal() ? {} : { reload: () => actions.reload() }) });
  return actions;
}

import pino from 'pino';

export type ServerLog = pino.Logger;

/** The server log is buffered up to this many characters, and for this many ms. */
const BUFFER = 12_288;
const FLUSH_EVERY = 200;

/** A log on standard error that delays no response. It is written on exit, and at once from level warn on. */
export function openServerLog(level: string): ServerLog {
  const output = pino.destination({ dest: 2, sync: false, minLength: BUFFER, periodicFlush: FLUSH_EVERY });
  process.once('exit', () => output.flushSync());
  const warn = pino.levels.values.warn ?? 0;
  const hooks: pino.LoggerOptions['hooks'] = {
    logMethod(args, method, at) {
      method.apply(this, args);
      if (at >= warn) output.flush();
    },
  };
  return pino({ level, hooks }, output);
}

/** A log on standard error that writes each line at once. */
export function openCommandLog(level: string): ServerLog {
  return pino({ level }, pino.destination({ dest: 2, sync: true }));
}

/** How long the end of the process waits for a reader of standard error that has stopped reading, in ms. */
const UNREAD_MAX = 1_000;

/**
 * Resolves when the lines are written or standard error has no reader. One that does not read would keep the process
 * for ever: then it ends by SIGKILL. Call it last.
 */
export function flushed(logger: ServerLog): Promise<void> {
  return new Promise((resolve) => {
    const unread = setTimeout(() => process.kill(process.pid, 'SIGKILL'), UNREAD_MAX);
    logger.flush(() => {
      clearTimeout(unread);
      resolve();
    });
  });
}

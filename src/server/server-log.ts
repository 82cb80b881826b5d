import pino from 'pino';
import { printable, printableLines } from '../shared/terminal/output.ts';

export type ServerLog = pino.Logger;

/** The server log is buffered up to this many characters, and for this many ms. */
const BUFFER = 12_288;
const FLUSH_EVERY = 200;

/**
 * A log on standard error that delays no response. It is written on exit, and at once from level warn on: as JSON, and
 * on a terminal as lines for people.
 */
export function openServerLog(level: string): ServerLog {
  if (process.stderr.isTTY) return pino({ level }, { write: (line) => void process.stderr.write(terminalLine(line)) });
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
  if (process.stderr.isTTY) return openServerLog(level);
  return pino({ level }, pino.destination({ dest: 2, sync: true }));
}

/** A line of the log for people: the time of day, the level unless it is info, the message and its values. */
export function terminalLine(json: string): string {
  const { time, level, msg, pid, hostname, request_id, err, ...values } = JSON.parse(json);
  const name = level === pino.levels.values.info ? '' : `${pino.levels.labels[level]}: `;
  const shown = Object.entries(values).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const line = `${new Date(time).toTimeString().slice(0, 8)} ${name}${msg}${shown.join('')}`;
  return `${printable(line)}\n${err?.stack ? `${printableLines(err.stack)}\n` : ''}`;
}

/** How long the end of the process waits for a reader of standard error that has stopped reading, in ms. */
const UNREAD_MAX = 1_000;

/**
 * Resolves when the lines are written or standard error has no reader. A reader that does not read would keep the
 * process alive for ever: then the process ends itself with SIGKILL. Call it last.
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

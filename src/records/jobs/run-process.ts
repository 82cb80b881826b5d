import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { HOUR, MINUTE } from '../../proof/time.ts';
import { PROJECT } from '../../shared/project.ts';
import { poll } from '../../shared/workers/poll.ts';

/** The pause after a failed run, in ms. */
const REST = 10 * MINUTE;
/** Limits of V8's heap, in MB: the old generation, and the new one, which would otherwise grow beyond 130 MB. */
export const RUN_FLAGS = ['--max-old-space-size=256', '--max-semi-space-size=8'];
/** The most characters kept of a run's error output. */
const SAID_MAX = 4_000;

export interface Runs {
  /** The command: `archive` for `archive run`. */
  command: 'archive' | 'dumps';
  /** The activity for log messages, such as “archiving”. */
  doing: string;
  /** Whether a run is due before the hour is over; asked every minute. */
  isDue?: () => boolean;
}

/**
 * Runs a command every hour in a child process, so that its memory and CPU time are not the server's. Returns a
 * function that stops it at any point: a run survives being killed.
 */
export function startRuns({ command, doing, isDue }: Runs, logger: Logger): () => Promise<void> {
  let child: ChildProcess | null = null;
  let failing: string | null = null;
  let isStopped = false;
  // Runs without `isDue` start at once. The others wait until the server has started, unless `isDue` asks for one.
  let nextAt = isDue === undefined ? Number.NEGATIVE_INFINITY : performance.now() + MINUTE;
  const round = async (): Promise<number> => {
    if (isStopped) return HOUR;
    if (performance.now() < nextAt && isDue?.() !== true) return MINUTE;
    const running = fork(join(PROJECT, 'bin/broadsheet.mjs'), [command, 'run'], {
      execArgv: RUN_FLAGS,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child = running;
    let said = '';
    running.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-SAID_MAX);
    });
    const [code] = await once(running, 'close');
    child = null;
    if (isStopped) return HOUR;
    const reason = code === 0 ? null : said.trim() || `its process ended with ${code}`;
    if (reason !== null && reason !== failing) logger.error({ job: command, reason }, `${doing} failed; retrying`);
    if (reason === null && failing !== null) logger.info({ job: command }, `${doing} works again`);
    failing = reason;
    nextAt = performance.now() + HOUR;
    if (reason !== null) return REST;
    return isDue === undefined ? HOUR : MINUTE;
  };
  const stop = poll(round, { job: command, logger, failed: `${doing} cannot be started; retrying` });
  return async () => {
    isStopped = true;
    child?.kill('SIGKILL');
    await stop();
  };
}

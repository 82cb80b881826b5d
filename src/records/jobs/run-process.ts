import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { HOUR, MINUTE } from '../../proof/time.ts';
import { PROJECT } from '../../shared/project.ts';
import { poll } from '../../shared/workers/poll.ts';

/** The pause after a run that failed, in ms. */
const REST = 10 * MINUTE;
/** The memory of its JavaScript, in MB: what lives, and what is new, which V8 lets grow past 130 MB otherwise. */
export const RUN_FLAGS = ['--max-old-space-size=256', '--max-semi-space-size=8'];
/** As much as is kept of what a run says, in characters. */
const SAID_MAX = 4_000;

export interface Runs {
  /** The command: `archive` for `archive run`. */
  command: 'archive' | 'dumps';
  /** What is said of it: “archiving”. */
  doing: string;
  /** Whether to run before the hour is over; asked every minute. */
  isDue?: () => boolean;
}

/**
 * Runs a command every hour, in a process of its own, so that neither its memory nor its work is that of the server.
 * Returns a function that ends it, at any point: its steps survive that.
 */
export function startRuns({ command, doing, isDue }: Runs, logger: Logger): () => Promise<void> {
  let child: ChildProcess | null = null;
  let failing: string | null = null;
  let isStopped = false;
  // What may be due at once says so; the rest can wait until the server has started.
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

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { DAY, HOUR, MINUTE } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { PROJECT } from '../../shared/project.ts';
import { openArchivePlace } from '../../shared/storage/archive-place.ts';
import { poll } from '../../shared/workers/poll.ts';
import { lookAtArchive } from './archive-look.ts';

/** The pause after a run that failed, in ms. */
const REST = 10 * MINUTE;
/** The memory of its JavaScript, in MB. */
const MEMORY = 256;
/** As much as is kept of what a run says, in characters. */
const SAID_MAX = 4_000;

/** Looks at the archive until its manifest is known: the scanner waits for that. Returns a function that ends it. */
export function startArchiveLook(app: AppContext, logger: Logger): () => Promise<void> {
  const ending = new AbortController();
  const place = openArchivePlace(app.settings, ending.signal);
  const round = async (): Promise<number> => {
    await lookAtArchive(app, place).catch((error: unknown) => {
      if (!ending.signal.aborted) throw error;
    });
    return DAY;
  };
  const failed = 'observations wait until the archive can be read; retrying';
  const stop = poll(round, { job: 'the archive', logger, failed });
  return () => {
    ending.abort();
    return stop();
  };
}

/**
 * Runs `archive run` every hour, in a process of its own, so that neither its memory nor its work is that of the server.
 * Returns a function that ends it, at any point: its steps survive that.
 */
export function startArchiver(logger: Logger): () => Promise<void> {
  let child: ChildProcess | null = null;
  let failing: string | null = null;
  let isStopped = false;
  const round = async (): Promise<number> => {
    if (isStopped) return HOUR;
    const running = fork(join(PROJECT, 'bin/broadsheet.mjs'), ['archive', 'run'], {
      execArgv: [`--max-old-space-size=${MEMORY}`],
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
    if (reason !== null && reason !== failing) logger.error({ job: 'archive', reason }, 'archiving failed; retrying');
    if (reason === null && failing !== null) logger.info({ job: 'archive' }, 'archiving works again');
    failing = reason;
    return reason === null ? HOUR : REST;
  };
  const stop = poll(round, { job: 'the archive', logger, failed: 'the archiver cannot be started; retrying' });
  return async () => {
    isStopped = true;
    child?.kill('SIGKILL');
    await stop();
  };
}

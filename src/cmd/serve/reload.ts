import type { AppContext } from '../../app/context.ts';
import { ownPolicy } from '../../app/log-publication.ts';
import { openBucket, publishAddress } from '../../app/publish-target.ts';
import { type Reload, reloadedSettings } from '../../app/reload.ts';
import type { ServerLog } from '../../app/server-log.ts';
import { readSettingsAgain, type Settings, type SettingsRead } from '../../env.ts';
import { Fault } from '../../fault.ts';
import type { RestartableJob, StartJob } from './restartable-job.ts';

/** Everything that can fail comes before the jobs are stopped. */
interface PreparedReload extends Reload {
  read: SettingsRead;
  /** The new start of each job. */
  starts: StartJob[];
}

/**
 * Reads the settings, the files that they name, and `content/` again. On a fault, everything stays as it is, or goes
 * back to it; the log says which. Never rejects.
 */
export async function reload(app: AppContext, jobs: readonly RestartableJob[], logger: ServerLog): Promise<void> {
  let prepared: PreparedReload;
  try {
    prepared = prepare(app.settings, jobs);
  } catch (error) {
    logger.error(why(error), 'nothing was reloaded');
    return;
  }
  const { read, settings, reloaded, restart, starts } = prepared;
  const before = { settings: app.settings, starts: jobs.map((job) => job.current) };
  app.settings = settings;
  const [failure] = await restartAll(jobs, starts);
  if (failure === undefined) {
    read.takeOver(reloaded.filter((name) => !restart.includes(name)));
    logger.level = settings.logLevel;
    logger.info({ reloaded }, 'reloaded the settings, the keys and lists that they name, and content/');
    if (restart.length > 0) logger.warn({ restart }, 'these settings change with a restart');
    return;
  }
  app.settings = before.settings;
  const stopped = await restartAll(jobs, before.starts);
  if (stopped.length === 0) {
    logger.error({ job: failure.job, ...why(failure.error) }, 'nothing was reloaded');
    return;
  }
  const fields = { jobs: stopped.map(({ job }) => job), ...why(stopped[0]?.error) };
  logger.error(fields, 'nothing was reloaded, and these jobs do not run any more: restart the server');
}

/** Throws what is wrong with the settings. */
function prepare(inForce: Settings, jobs: readonly RestartableJob[]): PreparedReload {
  const read = readSettingsAgain();
  const change = reloadedSettings(inForce, read.settings, read.changed);
  ownPolicy(change.settings);
  if (change.settings.publishUrl !== null) {
    openBucket(change.settings, publishAddress(change.settings, undefined));
  }
  return { ...change, read, starts: jobs.map((job) => job.prepare(change.settings)) };
}

interface Failure {
  job: string;
  error: unknown;
}

/** Returns the jobs that do not run, with the reason. */
async function restartAll(jobs: readonly RestartableJob[], starts: readonly StartJob[]): Promise<Failure[]> {
  const failures: Failure[] = [];
  const restarted = async (job: RestartableJob, start: StartJob) => {
    try {
      await job.restart(start);
    } catch (error) {
      failures.push({ job: job.name, error });
    }
  };
  await Promise.all(
    jobs.flatMap((job, at) => {
      const start = starts[at];
      return start === undefined ? [] : [restarted(job, start)];
    }),
  );
  return failures;
}

function why(error: unknown): { reason: string } | { err: unknown } {
  return error instanceof Fault ? { reason: error.message } : { err: error };
}

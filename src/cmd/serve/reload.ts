import type { AppContext } from '../../server/context.ts';
import { readSettingsAgain, type Settings, type SettingsRead } from '../../server/env.ts';
import type { ServerLog } from '../../server/server-log.ts';
import { Fault } from '../../shared/fault.ts';
import { openBucket, publishAddress } from '../../shared/storage/publish-target.ts';
import { ownPolicy } from '../../signing/log/log-publication.ts';
import type { RestartableJob, StartJob } from './jobs.ts';

/** The settings that a reload changes, by the variable that sets them. All others need a restart. */
const RELOADED = {
  LOG_LEVEL: 'logLevel',
  SMTP_URL: 'smtpUrl',
  MAIL_FROM: 'mailFrom',
  MAILS_PER_MINUTE: 'mailsPerMinute',
  DKIM_KEY_FILE: 'dkim',
  DKIM_SELECTOR: 'dkim',
  LOG_POLICY: 'logPolicy',
  PUBLISH_URL: 'publishUrl',
  AWS_ACCESS_KEY_ID: 'objectStorage',
  AWS_SECRET_ACCESS_KEY: 'objectStorage',
  AWS_SESSION_TOKEN: 'objectStorage',
  AWS_REGION: 'objectStorage',
  AWS_ENDPOINT_URL_S3: 'objectStorage',
  AWS_ENDPOINT_URL: 'objectStorage',
  SHUTDOWN_GRACE: 'shutdownGrace',
} as const satisfies Record<string, keyof Settings>;

/** The settings after a reload. `changed` are the names of the variables that differ. */
export function reloadedSettings(inForce: Settings, read: Settings, changed: readonly string[]) {
  const fieldOf = new Map<string, keyof Settings>(Object.entries(RELOADED));
  const fields = Object.values(RELOADED).map((field) => [field, read[field]]);
  // The lease stays in the store in which it was taken: in another one, another server may hold it.
  const isOfLease = (name: string) => inForce.leaseUrl !== null && fieldOf.get(name) === 'objectStorage';
  return {
    /** The settings in force, with those of `RELOADED` replaced. */
    settings: { ...inForce, ...Object.fromEntries(fields) },
    /** The changed variables that a reload puts in force. */
    reloaded: changed.filter((name) => fieldOf.has(name)),
    /** The changed variables that need a restart, at least for the lease. */
    restart: changed.filter((name) => !fieldOf.has(name) || isOfLease(name)),
  };
}

/** How each job starts. */
type Starts = (readonly [job: RestartableJob, start: StartJob])[];

/** The part of a reload that can fail, which is done before any job is stopped. */
interface PreparedReload extends ReturnType<typeof reloadedSettings> {
  read: SettingsRead;
  starts: Starts;
}

/** Reads settings, their files and `content/` again; after a fault, the old settings stay or return. Never rejects. */
export async function reload(app: AppContext, jobs: readonly RestartableJob[], logger: ServerLog): Promise<void> {
  let prepared: PreparedReload;
  try {
    prepared = prepare(app.settings, jobs);
  } catch (error) {
    logger.error(why(error), 'nothing was reloaded');
    return;
  }
  const { read, settings, reloaded, restart, starts } = prepared;
  const before = { settings: app.settings, starts: jobs.map((job) => [job, job.current] as const) };
  app.settings = settings;
  const [failure] = await restartAll(starts);
  if (failure === undefined) {
    read.takeOver(reloaded.filter((name) => !restart.includes(name)));
    logger.level = settings.logLevel;
    logger.info({ reloaded }, 'reloaded the settings, the keys and lists that they name, and content/');
    if (restart.length > 0) logger.warn({ restart }, 'these settings take effect after a restart');
    return;
  }
  app.settings = before.settings;
  const stopped = await restartAll(before.starts);
  if (stopped.length === 0) {
    logger.error({ job: failure.job, ...why(failure.error) }, 'nothing was reloaded');
    return;
  }
  const fields = { jobs: stopped.map(({ job }) => job), ...why(stopped[0]?.error) };
  logger.error(fields, 'nothing was reloaded, and these jobs no longer run: restart the server');
}

/** Throws a Fault if the new settings are wrong. */
function prepare(inForce: Settings, jobs: readonly RestartableJob[]): PreparedReload {
  const read = readSettingsAgain();
  const change = reloadedSettings(inForce, read.settings, read.changed);
  ownPolicy(change.settings);
  if (change.settings.publishUrl !== null) {
    openBucket(change.settings, publishAddress(change.settings, undefined));
  }
  return { ...change, read, starts: jobs.map((job) => [job, job.prepare(change.settings)]) };
}

/** Returns the jobs that do not run, with the reason. */
async function restartAll(starts: Starts): Promise<{ job: string | undefined; error: unknown }[]> {
  const outcomes = await Promise.allSettled(starts.map(([job, start]) => job.restart(start)));
  return outcomes.flatMap((outcome, at) =>
    outcome.status === 'rejected' ? [{ job: starts[at]?.[0].name, error: outcome.reason }] : [],
  );
}

function why(error: unknown): { reason: string } | { err: unknown } {
  return error instanceof Fault ? { reason: error.message } : { err: error };
}

/** Runs `work` one call at a time. It must not reject. */
export function coalesced(work: () => Promise<void>) {
  let underWay: Promise<void> | null = null;
  let isWanted = false;
  let isOver = false;
  const go = async () => {
    while (isWanted && !isOver) {
      isWanted = false;
      await work();
    }
    underWay = null;
  };
  return {
    /** Does the work; calls during a run cause exactly one more run after it. */
    request() {
      isWanted = true;
      underWay ??= go();
    },
    /** Starts no more work. Resolves when the current run has ended. */
    async end() {
      isOver = true;
      await underWay;
    },
  };
}

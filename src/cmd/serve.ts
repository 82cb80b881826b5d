import { setTimeout as pause } from 'node:timers/promises';
import { listenMetrics } from '../../api/metrics.ts';
import { listenDesk, listenRecords } from '../../api/server.ts';
import { loadBuild } from '../app/build.ts';
import { checkLog } from '../app/check-log.ts';
import { type AppContext, withAppContext } from '../app/context.ts';
import { eventLoop } from '../app/event-loop.ts';
import { startClock } from '../app/jobs/clock.ts';
import { startFiling } from '../app/jobs/filing.ts';
import { startHubPings } from '../app/jobs/hub-pings.ts';
import { startLog } from '../app/jobs/log.ts';
import { startMails } from '../app/jobs/mails.ts';
import { startPublisher } from '../app/jobs/publish.ts';
import { startScanner } from '../app/jobs/scanner.ts';
import { startValueIndex } from '../app/jobs/value-index.ts';
import { deliveryTransport, startWebhooks } from '../app/jobs/webhooks.ts';
import { paperMails } from '../app/paper-mails.ts';
import { paperWebhooks } from '../app/paper-webhooks.ts';
import { PendingFolders } from '../app/pending-folders.ts';
import { PressQueue } from '../app/press-queue.ts';
import { recordsMails } from '../app/records-mails.ts';
import { recordsWebhooks } from '../app/records-webhooks.ts';
import { reloadedSettings } from '../app/reload.ts';
import { flushed, openServerLog, type ServerLog } from '../app/server-log.ts';
import { openSignerLease } from '../app/signer.ts';
import { LOG_SERVICES } from '../desk/log-leaves.ts';
import type { Settings } from '../env.ts';
import { listeningOn, readSettingsAgain } from '../env.ts';
import { Fault } from '../fault.ts';
import { papersInContent } from '../ingest/content-folder.ts';
import { problemLine } from '../ingest/source-file.ts';
import { proberOf } from '../net/prober.ts';
import { smtpOf } from '../net/smtp.ts';
import type { RenderMail } from '../outbound/letter.ts';
import { printError } from '../terminal/output.ts';
import { hasTerminal, onStopSignal } from '../terminal/stop-signal.ts';
import { SECOND } from '../time.ts';
import { type CurrentPages, currentPages } from './current-pages.ts';

/**
 * Serves until it receives a stop signal, then finishes the requests and jobs in progress. Calls `onReady` once all
 * services of these settings listen. The database is opened and the logs are checked while the pages are built.
 */
export async function serve(
  settings: Settings,
  onReady: (app: AppContext) => void = () => {},
  pages: CurrentPages = currentPages(),
): Promise<void> {
  const logger = openServerLog(settings.logLevel);
  const smtp = smtpOf(settings);
  if (smtp === null) logger.warn('SMTP_URL is not set: mails land in the outbox folder of DATA_DIR, and go to nobody');
  smtp?.close();
  // Before the server runs, a signal ends the process at once: the next start finishes what this one began.
  let stop: () => void = () => void flushed(logger).then(() => process.exit(0));
  let reload: () => void = () => {};
  const again = () => {
    logger.warn('ending at once; the next start finishes what was in progress');
    void flushed(logger).then(() => process.exit(1));
  };
  onStopSignal(() => stop(), { again, ...(hasTerminal() ? {} : { reload: () => reload() }) });
  const unwatched = eventLoop.watch(logger);
  await withAppContext(settings, async (app) => {
    // Uses the addresses at which this server listens, not those of an earlier server.
    app.settings = settings;
    const lease = settings.leaseUrl === null ? null : openSignerLease(app, settings.leaseUrl, logger);
    if (lease === null) app.openSigningKey();
    else app.signer = lease;
    const held = lease === null ? null : lease.acquire().then(() => app.openSigningKey());
    held?.catch(() => {});
    // Without the lease, requests are served all the same, and jobs wait.
    const mayWork: WhenHeld = (start) => whenHeld(held, start);
    if (held !== null) await Promise.race([held, pause(LEASE_WAIT)]);
    await Promise.all(LOG_SERVICES.filter((log) => settings.services[log]).map((log) => checkLog(app, log, logger)));
    await pages.built;
    const running: Running[] = [];
    app.readiness.phase = 'starting';
    const parts: { presses: PressQueue | null } = { presses: null };
    const metrics = await startMetrics(app, () => parts.presses, logger);
    let reloading: Promise<void> = Promise.resolve();
    try {
      // The records start first, because the desk begins to press as soon as it listens.
      if (settings.services.records) running.push(await serveRecords(app, mayWork, logger));
      if (settings.services.desk) {
        parts.presses = new PressQueue(app);
        running.unshift(await serveDesk(app, parts.presses, mayWork, logger));
      }
      await (await loadBuild()).preload();
      app.readiness.phase = 'serving';
      const addresses = metrics === null ? running : [...running, metrics];
      process.stdout.write(`ready ${addresses.map(({ name, url }) => `${name}=${url}`).join(' ')}\n`);
      onReady(app);
      reload = () => {
        reloading = reloading.then(() => reloadAll(app, running, logger));
      };
      await new Promise<void>((resolve) => {
        stop = resolve;
        lease?.lost.addEventListener('abort', () => {
          logger.error('another server may sign now: this one stops; start it again to stand by');
          process.exitCode = 1;
          resolve();
        });
      });
      reload = () => {};
      logger.info('stopping');
      app.readiness.phase = 'stopping';
      for (const { drain } of running) drain();
      // Load balancers see `/ready` and send requests elsewhere, while those that still come are answered.
      if (app.settings.shutdownGrace > 0) await pause(app.settings.shutdownGrace);
    } finally {
      await reloading;
      // Stops a running service even if the other one could not start.
      await Promise.all(running.map(({ stop: end }) => end()));
      await lease?.stop();
      await metrics?.stop();
      unwatched();
      await flushed(logger);
    }
  }).finally(() => pages.abandon());
}

/** How long the start waits for the lease, in ms, before this server serves without it. */
const LEASE_WAIT = 2 * SECOND;

/** Starts a job as soon as this server may work. Returns what stops it. */
type WhenHeld = (start: () => () => Promise<void>) => () => Promise<void>;

function whenHeld(held: Promise<void> | null, start: () => () => Promise<void>): () => Promise<void> {
  if (held === null) return start();
  let stop: (() => Promise<void>) | null = null;
  let isStopped = false;
  held.then(
    () => {
      if (!isStopped) stop = start();
    },
    // It rejects when this server stops before it held the lease.
    () => {},
  );
  return async () => {
    isStopped = true;
    await stop?.();
  };
}

/** A service of this process. */
interface Running {
  name: 'desk' | 'records' | 'metrics';
  url: string;
  /** Sends callers away with their next response. */
  drain(): void;
  /** Starts again what uses settings that a reload may change. */
  reload(): Promise<void>;
  /** Finishes the work in progress. */
  stop(): Promise<void>;
}

/** Reads the settings, the files that they name, and `content/` again. On a fault, everything stays as it is. */
async function reloadAll(app: AppContext, running: Running[], logger: ServerLog): Promise<void> {
  try {
    const { settings, changed } = readSettingsAgain();
    const { reloaded, restart, settings: next } = reloadedSettings(app.settings, settings, changed);
    smtpOf(next)?.close();
    app.settings = next;
    logger.level = next.logLevel;
    for (const service of running) await service.reload();
    logger.info({ reloaded }, 'reloaded the settings, the keys and lists that they name, and content/');
    if (restart.length > 0) logger.warn({ restart }, 'these settings change with a restart');
  } catch (error) {
    const reason = error instanceof Fault ? error.message : undefined;
    logger.error(reason === undefined ? { err: error } : { reason }, 'nothing was reloaded');
  }
}

/** A job that a reload ends and starts again, with the settings of that moment. */
function restartable(start: () => () => Promise<void>): { reload(): Promise<void>; stop(): Promise<void> } {
  let end = start();
  return {
    async reload() {
      await end();
      end = start();
    },
    stop: () => end(),
  };
}

/** Serves the papers and their API, and starts the desk's jobs. */
async function serveDesk(app: AppContext, presses: PressQueue, mayWork: WhenHeld, logger: ServerLog): Promise<Running> {
  const backlog = new PendingFolders(papersInContent(app.settings.contentDir));
  const desk = await listenDesk({ app, presses, backlog, logger }, (port) => {
    app.settings = listeningOn(app.settings, { desk: port });
    app.store.served.note('desk', app.settings.origin);
  });
  const onProblem = (problem: Parameters<typeof problemLine>[0]) => printError(problemLine(problem));
  const stopClock = mayWork(() => startClock({ app, presses, backlog, logger }));
  // Only on the first time do papers wait until all of them is filed.
  let pending: PendingFolders | null = backlog;
  const filing = restartable(() => {
    const given = pending ?? new PendingFolders();
    pending = null;
    return mayWork(() => startFiling({ app, presses, backlog: given, logger, onProblem }));
  });
  const stopWebhooks = mayWork(() =>
    startWebhooks(app, paperWebhooks(app), deliveryTransport(app, 'Broadsheet'), logger),
  );
  const stopHubPings = mayWork(() => startHubPings(app, logger));
  const render = await mailRenderer();
  const mails = restartable(() =>
    mayWork(() => startMails(app, paperMails(app, render), smtpOf(app.settings), logger)),
  );
  const log = restartable(() => mayWork(() => startLog(app, 'desk', logger)));
  const publisher = restartable(() => mayWork(() => startPublisher(app, logger)));
  const jobs = [filing, mails, log, publisher];
  const reload = async () => void (await Promise.all(jobs.map((job) => job.reload())));
  const stop = async () => {
    await Promise.all([desk.close(), stopWebhooks(), stopHubPings(), ...jobs.map((job) => job.stop())]);
    await stopClock();
  };
  return { name: 'desk', url: desk.url, drain: desk.drain, reload, stop };
}

/** Serves the domain records, and starts their jobs. */
async function serveRecords(app: AppContext, mayWork: WhenHeld, logger: ServerLog): Promise<Running> {
  const records = await listenRecords(app, logger, (port) => {
    app.settings = listeningOn(app.settings, { records: port });
    app.store.served.note('records', app.settings.dataOrigin);
  });
  const { settings, now } = app;
  const render = await mailRenderer();
  // A separate mailer, because the desk closes its own when it stops.
  const mails = restartable(() =>
    mayWork(() => startMails(app, recordsMails(app, render), smtpOf(app.settings), logger)),
  );
  const stopWebhooks = mayWork(() =>
    startWebhooks(app, recordsWebhooks(app), deliveryTransport(app, 'Broadsheet-Records'), logger),
  );
  const stopIndex = mayWork(() => startValueIndex(app, logger));
  const stopScanner = settings.scanner
    ? mayWork(() => startScanner(app, proberOf(settings, now), logger))
    : async () => {};
  const log = restartable(() => mayWork(() => startLog(app, 'records', logger)));
  const reload = async () => void (await Promise.all([mails.reload(), log.reload()]));
  const stop = async () => {
    await Promise.all([records.close(), mails.stop(), stopWebhooks(), stopIndex(), stopScanner(), log.stop()]);
  };
  return { name: 'records', url: records.url, drain: records.drain, reload, stop };
}

/** Serves `/metrics` where METRICS_PORT says so. */
async function startMetrics(
  app: AppContext,
  presses: () => PressQueue | null,
  logger: ServerLog,
): Promise<Running | null> {
  const place = app.settings.metrics;
  if (place === null) return null;
  // A server without metrics does not load their library.
  const { openMetrics } = await import('../app/metrics/metrics.ts');
  const metrics = openMetrics({ app, presses });
  const listening = await listenMetrics(metrics, place, (error) => logger.error({ err: error }, 'a scrape failed'));
  const stop = async () => {
    await listening.close();
    metrics.close();
  };
  return { name: 'metrics', url: listening.url, drain() {}, async reload() {}, stop };
}

async function mailRenderer(): Promise<RenderMail> {
  const { render } = await loadBuild();
  return (content) => render('/mail', content);
}

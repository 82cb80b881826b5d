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
import { flushed, openServerLog, type ServerLog } from '../app/server-log.ts';
import { LOG_SERVICES } from '../desk/log-leaves.ts';
import type { Settings } from '../env.ts';
import { listeningOn } from '../env.ts';
import { papersInContent } from '../ingest/content-folder.ts';
import { problemLine } from '../ingest/source-file.ts';
import { proberOf } from '../net/prober.ts';
import { type SmtpMailer, smtpOf } from '../net/smtp.ts';
import type { RenderMail } from '../outbound/letter.ts';
import { printError } from '../terminal/output.ts';
import { onStopSignal } from '../terminal/stop-signal.ts';
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
  // Before the server runs, a signal ends the process at once: the next start finishes what this one began.
  let stop: () => void = () => void flushed(logger).then(() => process.exit(0));
  onStopSignal(() => stop());
  const unwatched = eventLoop.watch(logger);
  await withAppContext(settings, async (app) => {
    // Uses the addresses at which this server listens, not those of an earlier server.
    app.settings = settings;
    app.openSigningKey();
    await Promise.all(LOG_SERVICES.filter((log) => settings.services[log]).map((log) => checkLog(app, log, logger)));
    await pages.built;
    const running: Running[] = [];
    app.readiness.phase = 'starting';
    const parts: { presses: PressQueue | null } = { presses: null };
    const metrics = await startMetrics(app, () => parts.presses, logger);
    try {
      // The records start first, because the desk begins to press as soon as it listens.
      if (settings.services.records) running.push(await serveRecords(app, logger));
      if (settings.services.desk) {
        parts.presses = new PressQueue(app);
        running.unshift(await serveDesk(app, parts.presses, smtp, logger));
      }
      await (await loadBuild()).preload();
      app.readiness.phase = 'serving';
      const addresses = metrics === null ? running : [...running, metrics];
      process.stdout.write(`ready ${addresses.map(({ name, url }) => `${name}=${url}`).join(' ')}\n`);
      onReady(app);
      await new Promise<void>((resolve) => {
        stop = resolve;
      });
      logger.info('stopping');
    } finally {
      // Stops a running service even if the other one could not start.
      await Promise.all(running.map(({ stop: end }) => end()));
      await metrics?.stop();
      unwatched();
      await flushed(logger);
    }
  }).finally(() => pages.abandon());
}

/** A service of this process. */
interface Running {
  name: 'desk' | 'records' | 'metrics';
  url: string;
  /** Finishes the work in progress. */
  stop(): Promise<void>;
}

/** Serves the papers and their API, and starts the desk's jobs. */
async function serveDesk(
  app: AppContext,
  presses: PressQueue,
  smtp: SmtpMailer | null,
  logger: ServerLog,
): Promise<Running> {
  const backlog = new PendingFolders(papersInContent(app.settings.contentDir));
  const desk = await listenDesk({ app, presses, backlog, logger }, (port) => {
    app.settings = listeningOn(app.settings, { desk: port });
    app.store.served.note('desk', app.settings.origin);
  });
  const onProblem = (problem: Parameters<typeof problemLine>[0]) => printError(problemLine(problem));
  const stopClock = startClock({ app, presses, backlog, logger });
  const stopFiling = startFiling({ app, presses, backlog, logger, onProblem });
  const stopWebhooks = startWebhooks(app, paperWebhooks(app), deliveryTransport(app, 'Broadsheet'), logger);
  const stopHubPings = startHubPings(app, logger);
  const stopMails = startMails(app, paperMails(app, await mailRenderer()), smtp, logger);
  const stopLog = startLog(app, 'desk', logger);
  const stopPublisher = startPublisher(app, logger);
  const stop = async () => {
    const stopped = [stopWebhooks(), stopHubPings(), stopMails(), stopFiling(), stopLog(), stopPublisher()];
    await Promise.all([desk.close(), ...stopped]);
    await stopClock();
  };
  return { name: 'desk', url: desk.url, stop };
}

/** Serves the domain records, and starts their jobs. */
async function serveRecords(app: AppContext, logger: ServerLog): Promise<Running> {
  const records = await listenRecords(app, logger, (port) => {
    app.settings = listeningOn(app.settings, { records: port });
    app.store.served.note('records', app.settings.dataOrigin);
  });
  const { settings, now } = app;
  // A separate mailer, because the desk closes its own when it stops.
  const stopMails = startMails(app, recordsMails(app, await mailRenderer()), smtpOf(settings), logger);
  const stopWebhooks = startWebhooks(app, recordsWebhooks(app), deliveryTransport(app, 'Broadsheet-Records'), logger);
  const stopIndex = startValueIndex(app, logger);
  const stopScanner = settings.scanner ? startScanner(app, proberOf(settings, now), logger) : async () => {};
  const stopLog = startLog(app, 'records', logger);
  const stop = async () => {
    await Promise.all([records.close(), stopMails(), stopWebhooks(), stopIndex(), stopScanner(), stopLog()]);
  };
  return { name: 'records', url: records.url, stop };
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
  return { name: 'metrics', url: listening.url, stop };
}

async function mailRenderer(): Promise<RenderMail> {
  const { render } = await loadBuild();
  return (content) => render('/mail', content);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Command } from 'commander';
import pino from 'pino';
import { type DeskParts, listenDesk, listenRecords } from '../../api/server.ts';
import { isBuilt, loadBuild } from '../app/build.ts';
import type { AppContext } from '../app/context.ts';
import { eventLoop } from '../app/event-loop.ts';
import { startClock } from '../app/jobs/clock.ts';
import { startMails } from '../app/jobs/mails.ts';
import { startScanner } from '../app/jobs/scanner.ts';
import { startValueIndex } from '../app/jobs/value-index.ts';
import { deliveryTransport, startWebhooks } from '../app/jobs/webhooks.ts';
import { paperMails } from '../app/paper-mails.ts';
import { paperWebhooks } from '../app/paper-webhooks.ts';
import { PendingFolders } from '../app/pending-folders.ts';
import { PressQueue } from '../app/press-queue.ts';
import { recordsMails } from '../app/records-mails.ts';
import { recordsWebhooks } from '../app/records-webhooks.ts';
import { environmentWith, listeningOn, readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { problemLine } from '../ingest/source-file.ts';
import { proberOf } from '../net/prober.ts';
import type { SmtpMailer } from '../net/smtp.ts';
import { smtpOf } from '../net/smtp.ts';
import type { RenderMail } from '../outbound/letter.ts';
import { PROJECT } from '../project.ts';
import { fileContent, papersInContent } from './file.ts';
import { tell, withAppContext } from './run.ts';

/** Log lines are written so many characters at a time, and after so many ms in any case. */
const LOG_BATCH = 4_096;
const LOG_EVERY = 200;

export function command(): Command {
  return new Command('serve').description('build if needed and serve; behind that file and press').action(serve);
}

/** Serves until SIGTERM or SIGINT, then finishes what is in flight. */
async function serve(): Promise<void> {
  const settings = readSettings();
  const logger = loggerOf(settings.logLevel);
  const smtp = smtpOf(settings);
  if (smtp === null) logger.warn('SMTP_URL is not set: mails land in the outbox folder of DATA_DIR, and go to nobody');
  const stopped = stopSignal(logger);
  if (!isBuilt()) await buildPages();
  const unwatched = eventLoop.watch(logger);
  await withAppContext(async (app) => {
    // Its addresses are those at which it listens itself, not where another server did.
    app.settings = settings;
    // The door's key is made on the first start, before anything is signed.
    app.openSigningKey();
    const running: Running[] = [];
    try {
      // The records first: the desk begins to press as soon as it listens.
      if (settings.services.records) running.push(await serveRecords(app, logger));
      if (settings.services.desk) running.unshift(await serveDesk(app, smtp, logger));
      await (await loadBuild()).hold();
      process.stdout.write(`ready ${running.map(({ name, url }) => `${name}=${url}`).join(' ')}\n`);
      await stopped.whenServing();
      logger.info('stopping');
    } finally {
      // One that started also ends when the other cannot.
      await Promise.all(running.map(({ stop }) => stop()));
      unwatched();
      await flushed(logger);
    }
  });
}

/** A service of this process. */
interface Running {
  name: 'desk' | 'records';
  url: string;
  /** Finishes what is in flight. */
  stop(): Promise<void>;
}

/** Serves the papers and their API as they are, and behind that files `content/` and presses what is due. */
async function serveDesk(app: AppContext, smtp: SmtpMailer | null, logger: pino.Logger): Promise<Running> {
  const presses = new PressQueue(app);
  const backlog = new PendingFolders(papersInContent(app));
  const desk = await listenDesk({ app, presses, backlog, logger }, (port) => {
    app.settings = listeningOn(app.settings, { desk: port });
    app.store.served.note('desk', app.settings.origin);
  });
  const stopClock = startClock({ app, presses, backlog, logger });
  const stopFiling = startFiling({ app, presses, backlog, logger });
  const stopWebhooks = startWebhooks(app, paperWebhooks(app), deliveryTransport(app, 'Broadsheet'), logger);
  const stopMails = startMails(app, paperMails(app, await mailRenderer()), smtp, logger);
  const stop = async () => {
    await Promise.all([desk.close(), stopWebhooks(), stopMails(), stopFiling()]);
    await stopClock();
  };
  return { name: 'desk', url: desk.url, stop };
}

/** Files `content/` once and says when that is pressed. Returns a function that ends it. */
function startFiling({ app, presses, backlog, logger }: Required<DeskParts>): () => Promise<void> {
  const stop = new AbortController();
  const work = async () => {
    const { filed, problems } = await fileContent(app, [], {
      signal: stop.signal,
      filed: (paper) => backlog.done(paper),
    });
    for (const problem of problems) tell(problemLine(problem));
    logger.info({ filed: filed.length, problems: problems.length }, 'filed content');
    if (stop.signal.aborted) return;
    // Whoever stops the server waits for the presses by themselves, and not for all of these.
    void Promise.allSettled(app.store.paperSlugs().map((paper) => presses.press(paper))).then((outcomes) => {
      const failed = outcomes.filter(({ status }) => status === 'rejected').length;
      logger.info({ papers: outcomes.length, failed }, 'pressed what was due at the start');
    });
  };
  const filed = eventLoop.began({ job: 'file content' });
  const ended = work()
    .catch((error: unknown) => logger.error({ err: error }, 'content/ could not be filed'))
    .finally(() => {
      filed();
      backlog.end();
    });
  return async () => {
    stop.abort();
    await ended;
  };
}

/** Serves the domain records. */
async function serveRecords(app: AppContext, logger: pino.Logger): Promise<Running> {
  const records = await listenRecords(app, logger, (port) => {
    app.settings = listeningOn(app.settings, { records: port });
    app.store.served.note('records', app.settings.dataOrigin);
  });
  const { settings, now } = app;
  // A mailer of its own: the desk closes its own one when it stops.
  const stopMails = startMails(app, recordsMails(app, await mailRenderer()), smtpOf(settings), logger);
  const stopWebhooks = startWebhooks(app, recordsWebhooks(app), deliveryTransport(app, 'Broadsheet-Records'), logger);
  const stopIndex = startValueIndex(app, logger);
  const stopScanner = settings.scanner ? startScanner(app, proberOf(settings, now), logger) : async () => {};
  const stop = async () => {
    await Promise.all([records.close(), stopMails(), stopWebhooks(), stopIndex(), stopScanner()]);
  };
  return { name: 'records', url: records.url, stop };
}

async function mailRenderer(): Promise<RenderMail> {
  const { render } = await loadBuild();
  return (content) => render('/mail', content);
}

/** Logs to standard error without making answers wait for it; what is left is written when the process ends. */
function loggerOf(level: string): pino.Logger {
  const lines = pino.destination({ dest: 2, sync: false, minLength: LOG_BATCH, periodicFlush: LOG_EVERY });
  process.once('exit', () => lines.flushSync());
  return pino({ level }, lines);
}

/** Waits until what was logged is written, or is known to have no reader: the flush at the process's exit tries that for ever. */
function flushed(logger: pino.Logger): Promise<void> {
  return new Promise((resolve) => logger.flush(() => resolve()));
}

/**
 * Until it serves, a signal ends the process at once: what was begun is finished by the next start. A signal that
 * comes again changes nothing: a terminal's Ctrl-C comes twice, from the terminal and from npm.
 */
function stopSignal(logger: pino.Logger): { whenServing(): Promise<void> } {
  let stop: () => void = () => void flushed(logger).then(() => process.exit(0));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => stop());
  return {
    whenServing: () =>
      new Promise((resolve) => {
        stop = resolve;
      }),
  };
}

/** Runs `astro build` for the pages alone: filing and pressing can wait until the server answers. Its own output goes to standard error: the ready line stands alone. */
async function buildPages(): Promise<void> {
  const astro = join(PROJECT, 'node_modules/astro/bin/astro.mjs');
  const build = spawn(process.execPath, [astro, 'build'], {
    cwd: PROJECT,
    stdio: ['ignore', 2, 2],
    env: environmentWith({ ASTRO_TELEMETRY_DISABLED: '1', BUILD_PRESSES: 'off' }),
  });
  const end = () => build.kill();
  process.once('exit', end);
  await once(build, 'exit');
  process.off('exit', end);
  if (!isBuilt()) throw new Fault('unavailable', 'the pages could not be built; the lines above say why');
}

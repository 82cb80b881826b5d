import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { PressQueue } from '../desk/jobs/press-queue.ts';
import { maySign } from '../desk/jobs/press-run.ts';
import { LOG_SERVICES } from '../desk/log-leaves.ts';
import { loadBuild } from '../desk/press/build.ts';
import { server } from '../operate/metrics/readiness.ts';
import { type AppContext, withAppContext } from '../server/context.ts';
import type { Settings } from '../server/env.ts';
import { flushed, openServerLog, type ServerLog } from '../server/server-log.ts';
import { smtpOf } from '../shared/net/smtp.ts';
import { eventLoop } from '../shared/workers/event-loop.ts';
import { ClockGuard } from '../signing/clock/clock-guard.ts';
import { askOutside, watchClock } from '../signing/clock/clock-watch.ts';
import { forgetAhead } from '../signing/clock/correct-clock.ts';
import { checkLog } from '../signing/log/open-witnesses.ts';
import { type CurrentPages, currentPages } from './current-pages.ts';
import { serveDesk } from './serve/desk.ts';
import { allEnded, LateJobs, type Service } from './serve/jobs.ts';
import { keepCompiled } from './serve/keep-compiled.ts';
import { serveMetrics } from './serve/metrics.ts';
import { serveRecords } from './serve/records.ts';
import { coalesced, reload } from './serve/reload.ts';
import { type Signals, takeSignals } from './serve/signals.ts';
import { openSigning, type Signing } from './serve/signing.ts';
import { startScreen } from './serve/start-screen.ts';

interface ServeOptions {
  onReady?(app: AppContext): void;
  pages?: CurrentPages;
  signals?: Signals;
  logger?: ServerLog;
  /** Writes to standard output. */
  print?(text: string): void;
}

/**
 * Serves until it receives a stop signal, then finishes the requests and jobs in progress. Calls `onReady` once all
 * services of these settings listen. The database is opened and the logs are checked while the pages are built.
 */
export async function serve(
  settings: Settings,
  {
    onReady = () => {},
    pages = currentPages(),
    signals = takeSignals(),
    logger = openServerLog(settings.logLevel),
    print = (text) => process.stdout.write(text),
  }: ServeOptions = {},
): Promise<void> {
  checkMailServer(settings, logger);
  signals.logTo({ warn: (message) => logger.warn(message), flush: () => flushed(logger) });
  const unwatch = eventLoop.watch(logger);
  try {
    await withAppContext(settings, async (app) => {
      // Uses the addresses at which this server listens, not those of an earlier server.
      app.settings = settings;
      const stopWatch = await beginClockWatch(app, logger);
      const signing = await openSigning(app, logger).catch(async (error: unknown) => {
        await stopWatch();
        throw error;
      });
      try {
        await Promise.all(
          LOG_SERVICES.filter((log) => settings.services[log]).map((log) => checkLog(app, log, logger)),
        );
        await pages.built;
        await run(app, { signing, signals, logger, onReady, print });
      } finally {
        await signing.stop();
        await stopWatch();
      }
    });
  } finally {
    unwatch();
    pages.abandon();
    await flushed(logger);
  }
}

/** Asks other machines for the time before anything is signed, and watches the clock from then on. */
async function beginClockWatch(app: AppContext, logger: ServerLog): Promise<() => Promise<void>> {
  const guard = new ClockGuard(app);
  app.clock.check = guard;
  const ask = () => askOutside(app.settings, app.clock.now);
  guard.hear(await ask());
  const onRight = () => {
    if (!maySign(app)) return;
    app.signer.open();
    app.store.database.transact(() => forgetAhead(app.store, app.clock.now()));
  };
  return watchClock({ guard, ask, onRight, logger });
}

interface Parts {
  signing: Signing;
  signals: Signals;
  logger: ServerLog;
  onReady(app: AppContext): void;
  print(text: string): void;
}

/** Starts the services, waits until this server has to stop, and stops them. */
async function run(app: AppContext, { signing, signals, logger, onReady, print }: Parts): Promise<void> {
  server.phase = 'starting';
  const services: Service[] = [];
  const late = new LateJobs(signing.startJob);
  const afterReady = { ...signing, startJob: late.startJob };
  let presses: PressQueue | null = null;
  let metrics: Service | null = null;
  const reloads = coalesced(() =>
    reload(
      app,
      services.flatMap(({ jobs }) => jobs),
      logger,
    ),
  );
  // From here on the services have callers, so after a signal they finish their work, and nothing else starts.
  let isStopped = false;
  const stopped = new Promise<void>((resolve) => {
    signals.onStop(() => {
      isStopped = true;
      resolve();
    });
  });
  /** Whether to go on starting. Waits for a turn of the event loop, because signals are noticed only between turns. */
  const goesOn = () => turn().then(() => !isStopped);
  const { lock } = app.store.database;
  let unshare = () => {};
  try {
    metrics = await serveMetrics(app, () => presses, logger);
    if (app.settings.services.records && (await goesOn())) services.push(await serveRecords(app, afterReady, logger));
    if (app.settings.services.desk && (await goesOn())) {
      presses = new PressQueue(app);
      services.unshift(await serveDesk(app, presses, afterReady, logger));
    }
    if (await goesOn()) await Promise.race([loadBuild().then((build) => build.preload()), stopped]);
    if (!(await goesOn())) return;
    // Until here writes block this thread until they get the lock, because a step of the start cannot be repeated.
    unshare = lock.share({
      held: () => logger.warn('another process holds the write lock of the database: all writes wait'),
      freed: (ms) => logger.info({ ms: Math.round(ms) }, 'the database is writable again'),
    });
    server.phase = 'serving';
    const listening = metrics === null ? services : [...services, metrics];
    print(
      process.stdout.isTTY
        ? startScreen(app, listening)
        : `ready ${listening.map(({ name, url }) => `${name}=${url}`).join(' ')}\n`,
    );
    onReady(app);
    late.begin();
    keepCompiled();
    signals.onReload(reloads.request);
    const mayNotSign = signing.ended.then(() => {
      process.exitCode = 1;
    });
    await Promise.race([stopped, mayNotSign]);
    logger.info('stopping');
    server.phase = 'stopping';
    lock.hurry();
    void reloads.end();
    for (const { drain } of services) drain();
    // Load balancers see `/ready` and send requests elsewhere, while those that still come are answered.
    if (app.settings.shutdownGrace > 0) await pause(app.settings.shutdownGrace);
  } finally {
    // Stops a running service even if the other one could not start. A reload under way starts no job any more.
    try {
      // Again, in case the start failed.
      lock.hurry();
      await allEnded([reloads.end(), ...services.map((service) => service.stop())]);
      await metrics?.stop();
    } finally {
      unshare();
    }
  }
}

/** Throws when the settings of mail cannot be used; warns when they name no server. */
function checkMailServer(settings: Settings, logger: ServerLog): void {
  const smtp = smtpOf(settings);
  if (smtp === null)
    logger.warn('SMTP_URL is not set: mails are written to the outbox folder of DATA_DIR and not sent');
  smtp?.close();
}

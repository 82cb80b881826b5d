import { listenRecords } from '../../../api/server.ts';
import { startPausing } from '../../records/jobs/node-job.ts';
import { startOwnerChecks } from '../../records/jobs/owner-checks.ts';
import { startPlanOrders } from '../../records/jobs/plan-orders-job.ts';
import { recordsMails } from '../../records/jobs/records-mails.ts';
import { recordsWebhooks } from '../../records/jobs/records-webhooks.ts';
import { type Runs, startRuns } from '../../records/jobs/run-process.ts';
import { startScanner } from '../../records/jobs/scan-loop.ts';
import { startValueIndex } from '../../records/jobs/value-index-job.ts';
import { proberOf } from '../../records/probe/prober.ts';
import type { AppContext } from '../../server/context.ts';
import { listeningOn } from '../../server/env.ts';
import type { ServerLog } from '../../server/server-log.ts';
import { smtpOf } from '../../shared/net/smtp.ts';
import { startMails } from '../../shared/outbound/mail-job.ts';
import { deliveryTransport, startWebhooks } from '../../shared/outbound/webhook-job.ts';
import { startLog } from '../../signing/log/log-job.ts';
import { allEnded, RestartableJob, type Service } from './jobs.ts';
import { renderMail } from './render-mail.ts';
import type { Signing } from './signing.ts';

/** Serves the domain records, and starts their jobs. */
export async function serveRecords(app: AppContext, { startJob }: Signing, logger: ServerLog): Promise<Service> {
  const records = await listenRecords(app, logger, (port) => {
    app.settings = listeningOn(app.settings, { records: port });
    app.store.database.served.note('records', app.settings.dataOrigin);
  });
  const { settings, clock } = app;
  const jobs = [
    // A separate mailer, because the desk closes its own when it stops.
    new RestartableJob('mails of the records', settings, (next) => {
      const smtp = smtpOf(next);
      return () => startJob(() => startMails(app, recordsMails(app, renderMail), smtp, logger));
    }),
    new RestartableJob('log of the records', settings, () => () => startJob(() => startLog(app, 'records', logger))),
  ];
  const stopWebhooks = startJob(() =>
    startWebhooks(app, recordsWebhooks(app), deliveryTransport(app, 'Broadsheet-Records'), logger),
  );
  const stopOrders = startJob(() => startPlanOrders(app, logger));
  const stopOwners = startJob(() => startOwnerChecks(app, logger));
  const stopIndex = startJob(() => startValueIndex(app, logger));
  const stopPauses = startJob(() => startPausing(app, logger));
  // Loaded only if there is an archive.
  const archive = settings.archiveUrl === null ? null : await import('../../records/jobs/archive-job.ts');
  const stopLook = archive === null ? async () => {} : startJob(() => archive.startArchiveLook(app, logger));
  const archiving: Runs = { command: 'archive', doing: 'archiving' };
  const dumping: Runs = {
    ...{ command: 'dumps', doing: 'making dumps' },
    isDue: () => app.store.records.dumps.dueCount() > 0,
  };
  const stopRuns = [
    ...(settings.archiveUrl === null ? [] : [archiving]),
    ...(settings.dumps === null ? [] : [dumping]),
  ].map((runs) => startJob(() => startRuns(runs, logger)));
  const stopScanner = settings.scanner
    ? startJob(() => startScanner(app, proberOf(settings, clock.now), logger))
    : async () => {};
  return {
    name: 'records',
    url: records.url,
    jobs,
    drain: records.drain,
    async stop() {
      await allEnded([
        records.close(),
        stopWebhooks(),
        stopOrders(),
        stopOwners(),
        stopIndex(),
        stopLook(),
        ...stopRuns.map((stop) => stop()),
        stopPauses(),
        stopScanner(),
        ...jobs.map((job) => job.stop()),
      ]);
    },
  };
}

import { listenDesk } from '../../../api/server.ts';
import type { AppContext } from '../../app/context.ts';
import { startClock } from '../../app/jobs/clock.ts';
import { startFiling } from '../../app/jobs/filing.ts';
import { startHubPings } from '../../app/jobs/hub-pings.ts';
import { startLog } from '../../app/jobs/log.ts';
import { startMails } from '../../app/jobs/mails.ts';
import { startMediaCopies } from '../../app/jobs/media.ts';
import { startPublisher } from '../../app/jobs/publish.ts';
import { deliveryTransport, startWebhooks } from '../../app/jobs/webhooks.ts';
import { paperMails } from '../../app/paper-mails.ts';
import { paperWebhooks } from '../../app/paper-webhooks.ts';
import type { PressQueue } from '../../app/press-queue.ts';
import type { ServerLog } from '../../app/server-log.ts';
import { listeningOn } from '../../env.ts';
import { sweepUploads } from '../../files/upload.ts';
import { papersInContent } from '../../ingest/content-folder.ts';
import { type FileProblem, problemLine } from '../../ingest/source-file.ts';
import { smtpOf } from '../../net/smtp.ts';
import { printError } from '../../terminal/output.ts';
import { allEnded, RestartableJob, type Service, type StartJob } from './jobs.ts';
import { renderMail } from './render-mail.ts';
import type { Signing } from './signing.ts';

/** Serves the papers and their API, and starts the desk's jobs. */
export async function serveDesk(
  app: AppContext,
  presses: PressQueue,
  { startJob }: Signing,
  logger: ServerLog,
): Promise<Service> {
  sweepUploads(app.store.media.folder);
  const backlog = new Set(papersInContent(app.settings.contentDir));
  const desk = await listenDesk({ app, presses, backlog, logger }, (port) => {
    app.settings = listeningOn(app.settings, { desk: port });
    app.store.database.served.note('desk', app.settings.origin);
  });
  const onProblem = (problem: FileProblem) => printError(problemLine(problem));
  const stopClock = startJob(() => startClock({ app, presses, backlog, logger }));
  const stopWebhooks = startJob(() =>
    startWebhooks(app, paperWebhooks(app), deliveryTransport(app, 'Broadsheet'), logger),
  );
  const stopHubPings = startJob(() => startHubPings(app, logger));
  const { settings } = app;
  const job = (name: string, start: StartJob) => new RestartableJob(name, settings, () => () => startJob(start));
  const jobs = [
    job('filing', () => startFiling({ app, presses, backlog, logger, onProblem })),
    new RestartableJob('mails of the desk', settings, (next) => {
      const smtp = smtpOf(next);
      return () => startJob(() => startMails(app, paperMails(app, renderMail), smtp, logger));
    }),
    job('log of the desk', () => startLog(app, 'desk', logger)),
    job('media', () => startMediaCopies(app, logger)),
    job('publisher', () => startPublisher(app, logger)),
  ];
  return {
    name: 'desk',
    url: desk.url,
    jobs,
    drain: desk.drain,
    async stop() {
      try {
        await allEnded([desk.close(), stopWebhooks(), stopHubPings(), ...jobs.map((job) => job.stop())]);
      } finally {
        await stopClock();
      }
    },
  };
}

import { basename } from 'node:path';
import { listenDesk } from '../../../api/server.ts';
import { firstSeatLinks } from '../../desk/console/operator.ts';
import { paperFolders } from '../../desk/ingest/content-folder.ts';
import { type FileProblem, problemLine } from '../../desk/ingest/source-file.ts';
import { startAiring } from '../../desk/jobs/airing-job.ts';
import { startSources } from '../../desk/jobs/evidence-job.ts';
import { startFiling } from '../../desk/jobs/filing-job.ts';
import { startHubPings } from '../../desk/jobs/hub-ping-job.ts';
import { startLinkCards } from '../../desk/jobs/link-cards-job.ts';
import { startMediaCopies } from '../../desk/jobs/media-job.ts';
import { paperMails } from '../../desk/jobs/paper-mails.ts';
import { paperWebhooks } from '../../desk/jobs/paper-webhooks.ts';
import type { PressQueue } from '../../desk/jobs/press-queue.ts';
import { sweepUploads } from '../../desk/media/upload.ts';
import { startPublisher } from '../../operate/publish/publish-job.ts';
import type { AppContext } from '../../server/context.ts';
import { listeningOn } from '../../server/env.ts';
import type { ServerLog } from '../../server/server-log.ts';
import { CLI } from '../../shared/command-line.ts';
import { smtpOf } from '../../shared/net/smtp.ts';
import { startMails } from '../../shared/outbound/mail-job.ts';
import { deliveryTransport, startWebhooks } from '../../shared/outbound/webhook-job.ts';
import { printError } from '../../shared/terminal/output.ts';
import { startLog } from '../../signing/log/log-job.ts';
import { allEnded, RestartableJob, type Service, type StartJob } from './jobs.ts';
import { renderMail } from './render-mail.ts';
import type { Signing } from './signing.ts';

/** Logs links that take the first seat of papers that never had one. Anyone who reads the log can use them. */
async function printFirstSeats(app: AppContext, logger: ServerLog): Promise<void> {
  const { links, more } = await app.store.database.lock.patiently(() => firstSeatLinks(app), Number.POSITIVE_INFINITY);
  for (const link of links)
    logger.info(link, 'nobody has a seat on this paper yet: open the link to take the first one');
  if (more > 0) logger.info({ papers: more }, `more papers have no seat: \`${CLI} seat link --paper P\` prints a link`);
}

/** Serves the papers and their API, and starts the desk's jobs. */
export async function serveDesk(
  app: AppContext,
  presses: PressQueue,
  { startJob }: Signing,
  logger: ServerLog,
): Promise<Service> {
  sweepUploads(app.store.media.folder);
  const backlog = new Set(paperFolders(app.settings.contentDir).map((folder) => basename(folder)));
  const desk = await listenDesk({ app, presses, backlog, logger }, (port) => {
    app.settings = listeningOn(app.settings, { desk: port });
    app.store.database.served.note('desk', app.settings.origin);
  });
  let isStarting = true;
  const onFiled = () => {
    // Not after a reload, which files again: new links would end those that somebody may be using.
    if (isStarting)
      printFirstSeats(app, logger).catch((error: unknown) =>
        logger.error({ err: error }, `no link for a first seat could be made; \`${CLI} seat link\` makes one`),
      );
    isStarting = false;
  };
  const onProblem = (problem: FileProblem) => printError(problemLine(problem));
  const stopAiring = startJob(() => startAiring({ app, presses, backlog, logger }));
  const stopWebhooks = startJob(() =>
    startWebhooks(app, paperWebhooks(app), deliveryTransport(app, 'Broadsheet'), logger),
  );
  const stopHubPings = startJob(() => startHubPings(app, logger));
  const stopLinkCards = startJob(() => startLinkCards(app, logger));
  const stopSources = startJob(() => startSources(app, logger));
  const { settings } = app;
  const job = (name: string, start: StartJob) => new RestartableJob(name, settings, () => () => startJob(start));
  const jobs = [
    job('filing', () => startFiling({ app, presses, backlog, logger, onProblem, onFiled })),
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
        await allEnded([
          desk.close(),
          stopWebhooks(),
          stopHubPings(),
          stopLinkCards(),
          stopSources(),
          ...jobs.map((job) => job.stop()),
        ]);
      } finally {
        await stopAiring();
      }
    },
  };
}

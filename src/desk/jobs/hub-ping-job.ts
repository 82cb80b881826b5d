import type { Logger } from 'pino';
import type { AppContext } from '../../server/context.ts';
import { createWebhookClient } from '../../shared/net/outbound-client.ts';
import type { WebhookClient } from '../../shared/outbound/delivery.ts';
import { LEASE_TIME } from '../../shared/outbound/dispatcher.ts';
import { type HubPing, pingForm, pingRetryAt } from '../../shared/outbound/hub-ping.ts';
import { VERSION } from '../../shared/project.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import { BATCH_PAUSE, POLL_EVERY, poll } from '../../shared/workers/poll.ts';
import { paperRoot } from '../papers/paper.ts';

const JOB = 'hub';
/** Maximum number of requests in flight. */
const AT_ONCE = 4;

/**
 * Notifies the WebSub hub of changed feeds of public papers; any number of processes may run it. Returns a function
 * that stops it after the requests in flight.
 */
export function startHubPings(app: AppContext, logger: Logger): () => Promise<void> {
  const { origin, hubUrl, webhookPrivate } = app.settings;
  if (hubUrl === null) return async () => {};
  const client = createWebhookClient(`Broadsheet/${VERSION} (+${origin})`, webhookPrivate);
  const round = async (): Promise<number> => {
    const sent = await sendHubPings(app, client, hubUrl, logger);
    return sent < AT_ONCE ? POLL_EVERY : BATCH_PAUSE;
  };
  return poll(round, { job: JOB, logger, failed: 'the job failed; it is retried' });
}

/** Sends due pings, at most `AT_ONCE`. Returns how many were leased. */
export async function sendHubPings(
  { store, settings, clock: { now } }: AppContext,
  client: WebhookClient,
  hub: string,
  logger: Logger,
): Promise<number> {
  const leased = store.desk.hubPings.lease(now(), now() + LEASE_TIME, AT_ONCE);
  const send = async (ping: HubPing): Promise<void> => {
    const paper = store.desk.paper(ping.paper);
    // The paper was removed or made private meanwhile, so its hub is not notified.
    if (paper?.paper_public !== true) return store.desk.hubPings.settle(ping);
    const topic = `${paperRoot(paper, settings.origin)}/${ping.path}`;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const { status, error, ms } = await client.post(hub, headers, pingForm(topic));
    const about = { job: JOB, paper: ping.paper, topic, status, error, ms: Math.round(ms) };
    const again = error === null ? null : pingRetryAt(ping, now());
    const settle = () => (again === null ? store.desk.hubPings.settle(ping) : store.desk.hubPings.retry(ping, again));
    // If the outcome cannot be recorded, the ping is sent again.
    await store.database.groupCommit(settle, Number.POSITIVE_INFINITY);
    const outcome = error === null ? 'accepted' : again === null ? 'given_up' : 'refused';
    measurements.emit('hubPing', { outcome });
    if (error === null) logger.info(about, 'notified the hub');
    else if (again !== null) logger.warn(about, 'the hub rejected a ping; it is retried');
    else logger.error(about, 'the hub rejected every ping for days; giving up');
  };
  await Promise.all(leased.map(send));
  return leased.length;
}

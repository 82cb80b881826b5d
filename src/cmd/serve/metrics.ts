import { listenMetrics } from '../../../api/metrics.ts';
import type { PressQueue } from '../../desk/jobs/press-queue.ts';
import type { AppContext } from '../../server/context.ts';
import type { ServerLog } from '../../server/server-log.ts';
import type { Service } from './jobs.ts';

/** Serves `/metrics` if METRICS_PORT is set. `presses` returns null until the desk is served. */
export async function serveMetrics(
  app: AppContext,
  presses: () => PressQueue | null,
  logger: ServerLog,
): Promise<Service | null> {
  const address = app.settings.metrics;
  if (address === null) return null;
  // A server without metrics does not load their library.
  const { openMetrics } = await import('../../operate/metrics/metrics.ts');
  const metrics = openMetrics({ app, presses }, logger);
  const listening = await listenMetrics(metrics, address, (error) => logger.error({ err: error }, 'a scrape failed'));
  return {
    name: 'metrics',
    url: listening.url,
    jobs: [],
    drain() {},
    async stop() {
      await listening.close();
      metrics.close();
    },
  };
}

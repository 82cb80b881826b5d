import { setImmediate as yielded } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import { messageOf } from '../../shared/fault.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import { countMeasurements } from './counted.ts';
import { ofBoth, ofDesk, ofDisks, ofLease, ofProcess, ofRecords } from './gauges.ts';
import { type MetricSources, type Readings, sampledRegistry } from './sampled-registry.ts';

export type Metrics = ReturnType<typeof openMetrics>;

/** The metrics of this process, in the text format of Prometheus. The gauges are read when `text` is called. */
export function openMetrics(sources: MetricSources, logger: Logger) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  countMeasurements(registry);
  const sample = sampledMetrics(registry, sources, logger);
  let underWay: Promise<string> | null = null;
  const read = async (): Promise<string> => {
    await sample();
    return registry.metrics();
  };
  return {
    contentType: registry.contentType,
    /** Calls at the same time share one reading. */
    text() {
      underWay ??= read().finally(() => {
        underWay = null;
      });
      return underWay;
    },
    close() {
      measurements.removeAllListeners();
      registry.clear();
    },
  };
}

/** Readings of the database go on for this long before others get their turn, in ms. */
const SLICE = 5;
/** How long a reading is cached, in ms: more frequent scrapes share it. */
const KEPT = 1_000;

/**
 * Registers the metrics that are read for a scrape; returns the reading. Requests are answered in between. What fails
 * is left out, counted, and logged once.
 */
function sampledMetrics(registry: Registry, sources: MetricSources, logger: Logger): () => Promise<void> {
  const { settings, clock } = sources.app;
  const sampled = sampledRegistry(registry, clock.now);
  const failures = new Counter({
    name: 'broadsheet_metrics_failures_total',
    help: 'Readings of metrics that failed.',
    labelNames: ['reading'],
    registers: [registry],
  });
  const readings: Readings = {
    ...ofProcess(sampled, sources),
    ...ofLease(sampled, sources),
    ...(settings.services.desk ? ofDesk(sampled, sources) : {}),
    ...(settings.services.records ? ofRecords(sampled, sources) : {}),
    ...ofBoth(sampled, sources),
  };
  const disks = ofDisks(sampled, sources);
  // A first failure is an increase.
  for (const reading of Object.keys({ ...disks, ...readings })) failures.inc({ reading }, 0);

  /** What was logged about each failing reading. */
  const logged = new Map<string, string>();
  const fail = (reading: string, error: unknown) => {
    failures.inc({ reading });
    const message = messageOf(error);
    if (logged.get(reading) !== message) logger.error({ reading, err: error }, 'metrics cannot be read');
    logged.set(reading, message);
  };
  const succeed = (reading: string) => {
    if (logged.delete(reading)) logger.info({ reading }, 'these metrics are read again');
  };
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - readAt < KEPT) return;
    sampled.forget();
    await Promise.all(
      Object.entries(disks).map(([reading, read]) =>
        read().then(
          () => succeed(reading),
          (error: unknown) => fail(reading, error),
        ),
      ),
    );
    let turn = performance.now();
    for (const [reading, read] of Object.entries(readings)) {
      try {
        read();
        succeed(reading);
      } catch (error) {
        fail(reading, error);
      }
      if (performance.now() - turn < SLICE) continue;
      await yielded();
      turn = performance.now();
    }
    readAt = performance.now();
  };
}

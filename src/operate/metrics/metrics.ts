import { setImmediate as yielded } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { messageOf } from '../../shared/fault.ts';
import { measurements } from '../../shared/workers/measurements.ts';
import { MAIL_QUEUE_NAMES } from '../../store/vital-signs.ts';
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
    /** Concurrent calls share one reading. */
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

/** After reading from the database for this long, yield to requests, in ms. */
const SLICE = 5;
/** How long a reading is cached, in ms: more frequent scrapes share it. */
const KEPT = 1_000;

/**
 * Registers the metrics that are read for a scrape; returns a function that reads them, and answers requests in
 * between. A reading that fails is left out, counted, and logged once.
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
  // Starts at zero, so that the first failure is an increase.
  for (const reading of Object.keys({ ...disks, ...readings })) failures.inc({ reading }, 0);

  /** The last error that was logged for each failing reading. */
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

/** Upper bounds of the histograms, in seconds. */
const REQUEST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const WORK = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

/** Any other method counts as `other`: callers may send whatever they like. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']);

/** Counts what the server emits in `measurements`. */
export function countMeasurements(registry: Registry): void {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name: `broadsheet_${name}`, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge({ name: `broadsheet_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
    new Histogram({ name: `broadsheet_${name}`, help, labelNames, buckets, registers });

  const requests = counter('http_requests_total', 'Requests answered, by the pattern of the route.', [
    'service',
    'method',
    'route',
    'status',
  ]);
  const durations = histogram(
    'http_request_duration_seconds',
    'Time to the answer, of a stream to its beginning.',
    ['service', 'route'],
    REQUEST,
  );
  const presses = histogram('press_duration_seconds', 'Presses of one paper.', ['outcome', 'full'], WORK);
  const pressed = counter('press_files_total', 'Files that presses wrote and removed.', ['action']);
  const publications = histogram('publish_duration_seconds', 'Publications of one tree.', ['outcome'], WORK);
  const published = counter('publish_objects_total', 'Objects that publications sent and removed.', ['action']);
  const mails = counter('mails_total', 'Attempts to send a mail, by outcome.', ['queue', 'outcome']);
  const deliveries = counter('webhook_attempts_total', 'Attempts to deliver to a webhook, by outcome.', [
    'queue',
    'outcome',
  ]);
  const deliveryTimes = histogram('webhook_duration_seconds', 'Attempts to deliver to a webhook.', ['queue'], REQUEST);
  const switchedOff = counter('webhooks_switched_off_total', 'Webhooks that were switched off.', ['queue']);
  const hubPings = counter('hub_pings_total', 'Attempts to tell the WebSub hub of a feed.', ['outcome']);
  const witnesses = counter('witness_answers_total', 'Answers of witnesses, by outcome.', [
    'log',
    'witness',
    'outcome',
  ]);
  const uncopied = gauge('media_uncopied', 'Media files that MEDIA_URL lacks.', []);
  const logFailing = gauge('log_failing', '1 while a step of the log, signing or publishing, fails.', ['log', 'step']);
  const probes = counter('probes_total', 'Probes of hostnames, by outcome.', ['outcome']);
  const ownerChecks = counter('owner_checks_total', 'Checks of owners’ proofs of names, by outcome.', ['outcome']);
  const scanPauses = counter('scanner_pauses_total', 'Times that the scanner paused after a failure.', ['reason']);

  // Series that alerts compare begin at zero: a first failure is an increase.
  for (const queue of MAIL_QUEUE_NAMES) {
    for (const outcome of ['sent', 'server_failed']) mails.inc({ queue, outcome }, 0);
  }
  for (const outcome of ['published', 'failed']) publications.zero({ outcome });
  for (const outcome of ['pressed', 'failed']) presses.zero({ outcome, full: 'false' });
  for (const reason of ['no_resolver', 'queue_failed']) scanPauses.inc({ reason }, 0);

  measurements.on('request', ({ service, method, route, status, ms }) => {
    requests.inc({ service, method: METHODS.has(method) ? method : 'other', route, status });
    durations.observe({ service, route }, ms / 1_000);
  });
  measurements.on('press', ({ outcome, full, ms, written, removed }) => {
    presses.observe({ outcome, full: String(full) }, ms / 1_000);
    pressed.inc({ action: 'written' }, written);
    pressed.inc({ action: 'removed' }, removed);
  });
  measurements.on('publication', ({ outcome, ms, sent, removed }) => {
    publications.observe({ outcome }, ms / 1_000);
    published.inc({ action: 'sent' }, sent);
    published.inc({ action: 'removed' }, removed);
  });
  measurements.on('mediaCopies', ({ waiting }) => uncopied.set(waiting));
  measurements.on('mail', (labels) => mails.inc(labels));
  measurements.on('delivery', ({ queue, outcome, ms }) => {
    if (outcome === 'switched_off') return switchedOff.inc({ queue });
    deliveries.inc({ queue, outcome });
    deliveryTimes.observe({ queue }, ms / 1_000);
  });
  measurements.on('hubPing', (labels) => hubPings.inc(labels));
  measurements.on('witness', (labels) => witnesses.inc(labels));
  measurements.on('logStep', ({ isFailing, ...labels }) => logFailing.set(labels, isFailing ? 1 : 0));
  measurements.on('probe', (labels) => probes.inc(labels));
  measurements.on('ownerCheck', (labels) => ownerChecks.inc(labels));
  measurements.on('scanPause', (labels) => scanPauses.inc(labels));
}

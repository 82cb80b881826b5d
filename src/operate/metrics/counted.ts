import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { measurements } from '../../shared/workers/measurements.ts';
import { MAIL_QUEUE_NAMES } from '../../store/vital-signs.ts';

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
  const uncopied = new Gauge({
    name: 'broadsheet_media_uncopied',
    help: 'Media files that MEDIA_URL lacks.',
    registers,
  });
  const logFailing = new Gauge({
    name: 'broadsheet_log_failing',
    help: '1 while a step of the log, signing or publishing, fails.',
    labelNames: ['log', 'step'],
    registers,
  });
  const probes = counter('probes_total', 'Probes of hostnames, by outcome.', ['outcome']);
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
  measurements.on('scanPause', (labels) => scanPauses.inc(labels));
}

import { createServer } from 'node:http';
import * as z from 'zod';
import type { AppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { codeOf, reasonOf } from '../../shared/fault.ts';
import { isPublicAddress } from '../../shared/public-address.ts';
import { type Finding, type Found, fault, holds, open, runCheck } from './finding.ts';

/** The timeout of a request to a server of this machine, in ms. */
const PATIENCE = 5_000;
/** Longer delays of the event loop are a fault, in ms, because every request waits meanwhile. */
const DELAY_MAX = 2_000;

const Ready = z.object({ status: z.enum(['ready', 'not_ready']), checks: z.record(z.string(), z.string()) });
const Health = z.object({ event_loop_delay_max_ms: z.number(), disk: z.string().nullish() });

/** What the server that runs with these settings reports about itself. */
export interface RunningServer {
  findings: Finding[];
  /** Whether a service answered, ready or not. */
  isRunning: boolean;
  /** The sum of the series of a metric; null when the server has none, or does not run. */
  metric(name: string): number | null;
}

/** Asks the services and the metrics that listen on this machine. */
export async function checkRunning(settings: Settings, app: AppContext | null): Promise<RunningServer> {
  const { services } = settings;
  const names = (['desk', 'records'] as const).filter((name) => services[name]);
  let isRunning = false;
  const findings = await Promise.all(
    names.map((name) =>
      runCheck(`server of the ${name}`, async () => {
        const url = serviceUrl(settings, app, name);
        if (url === null) return open(`${portSetting(name)} is 0, so where a server listens is not known here`);
        const answer = await ask(`${url}/ready`);
        if (answer === null) return open(`no server runs at ${url}`);
        isRunning = true;
        return serverFinding(url, answer);
      }),
    ),
  );
  let text = '';
  const metrics = await runCheck('metrics', () =>
    checkMetrics(settings, isRunning, (scraped) => {
      text = scraped;
    }),
  );
  return { findings: [...findings, metrics], isRunning, metric: (name) => sumOf(text, name) };
}

/** The state of the services of these settings on this machine; `unknown` when only the server knows its ports. */
export async function askReady(settings: Settings): Promise<'unknown' | 'none' | 'starting' | 'ready'> {
  const urls = (['desk', 'records'] as const)
    .filter((name) => settings.services[name])
    .map((name) => serviceUrl(settings, null, name));
  const known = urls.filter((url) => url !== null);
  if (known.length === 0) return 'unknown';
  const answers = await Promise.all(known.map((url) => ask(`${url}/ready`).catch(() => ({ status: 0 }))));
  if (answers.every((answer) => answer === null)) return 'none';
  return answers.every((answer) => answer?.status === 200) ? 'ready' : 'starting';
}

const portSetting = (service: 'desk' | 'records') => (service === 'desk' ? 'PORT' : 'RECORDS_PORT');

/** Where a service listens; null when only the server itself knows. */
function serviceUrl(settings: Settings, app: AppContext | null, service: 'desk' | 'records'): string | null {
  const port = service === 'desk' ? settings.port : settings.recordsPort;
  if (port !== 0) return urlAt(settings.host, port);
  const isAssumed = service === 'desk' ? settings.assumed.origin : settings.assumed.dataOrigin;
  return isAssumed ? (app?.store.database.served.origin(service) ?? null) : null;
}

/** The URL of a port for programs on this machine. */
export function urlAt(host: string, port: number): string {
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** The response to a GET; null when nothing listens. Throws when the server accepts the request and does not answer. */
async function ask(url: string): Promise<{ status: number; text: string } | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE), redirect: 'manual' });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    if (codeOf((error as Error).cause) === 'ECONNREFUSED') return null;
    throw error;
  }
}

async function serverFinding(url: string, { status, text }: { status: number; text: string }) {
  const ready = Ready.safeParse(jsonOf(text));
  if (!ready.success) {
    return fault(
      `${url}/ready answers ${status}, and not as this program does`,
      'stop the program that listens there, or set another port',
    );
  }
  const failing = Object.entries(ready.data.checks).filter(([, state]) => state !== 'ok');
  if (failing.some(([name]) => name !== 'server')) {
    const said = failing.map(([name, state]) => `${name} ${state}`).join(', ');
    return fault(`${url} is not ready: ${said}`, 'its log says why; restart it when that is corrected');
  }
  if (failing.length > 0) return open(`${url} is not ready: it is ${failing.map(([, state]) => state).join(', ')}`);
  const health = Health.safeParse(jsonOf((await ask(`${url}/health`))?.text ?? ''));
  const { event_loop_delay_max_ms: delay = 0, disk = null } = health.data ?? {};
  const figures = { event_loop_delay_max_ms: delay };
  if (disk !== null) {
    return fault(
      `the disk of ${url} is ${disk.replaceAll('_', '-')}, so nothing can be filed`,
      'free some space on it',
      figures,
    );
  }
  if (delay > DELAY_MAX) {
    return fault(
      `${url} is ready, but stalled for ${delay} ms within the last minute`,
      'its log says “the event loop was held up”, and by what; a slow disk does it too',
      figures,
    );
  }
  return holds(`${url} is ready; its longest stall within the last minute took ${delay} ms`, figures);
}

/** The finding on METRICS_PORT. Calls `scraped` with the metrics themselves. */
async function checkMetrics(
  { metrics, host }: Settings,
  isRunning: boolean,
  scraped: (text: string) => void,
): Promise<Found> {
  if (metrics === null) return open('METRICS_PORT is not set: nothing can be scraped');
  if (isPublicAddress(metrics.host)) {
    const cure = 'set METRICS_HOST to 127.0.0.1, or to a private address';
    return fault(`METRICS_HOST=${metrics.host} is a public address, and the metrics have no key`, cure);
  }
  if (metrics.port === 0) return open('METRICS_PORT is 0: the server prints its address when it starts');
  const url = `${urlAt(metrics.host, metrics.port)}/metrics`;
  const other = 'set METRICS_PORT to another port';
  let answer: Awaited<ReturnType<typeof ask>>;
  try {
    answer = await ask(url);
  } catch (error) {
    return fault(`${url}: ${reasonOf(error as Error)}`, isRunning ? 'restart the server' : other);
  }
  if (answer === null) {
    if (isRunning) return fault(`${url} does not answer, and a server runs`, 'restart it with METRICS_PORT set');
    const refusal = await listenRefusal(metrics);
    if (refusal === null) return holds(`port ${metrics.port} is free`);
    const found = `port ${metrics.port} of ${metrics.host}: ${codeOf(refusal) || refusal.message}`;
    return fault(found, `${other}, or METRICS_HOST`);
  }
  const { text } = answer;
  if (sumOf(text, 'broadsheet_info') === null) {
    return fault(`port ${metrics.port} of ${host} is taken by another program`, other);
  }
  scraped(text);
  const series = text.split('\n').filter((line) => /^[a-z]/.test(line)).length;
  return holds(`${url} has ${series} series`, {
    series,
    failures: sumOf(text, 'broadsheet_metrics_failures_total') ?? 0,
  });
}

/** Why the system refuses to listen on a port; null when it does not. */
export function listenRefusal({ host, port }: { host: string; port: number }): Promise<Error | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(port, host, () => server.close(() => resolve(null)));
  });
}

/** The sum of the series of a metric in the text format of Prometheus; null when there are none. */
function sumOf(text: string, name: string): number | null {
  const values = text.split('\n').flatMap((line) => {
    const isSeries = line.startsWith(`${name} `) || line.startsWith(`${name}{`);
    return isSeries ? Number(line.slice(line.lastIndexOf(' ') + 1)) : [];
  });
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

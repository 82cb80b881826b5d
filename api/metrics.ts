import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../src/operate/metrics/metrics.ts';
import { bind, type ListenAddress, type Listening, urlOf } from './listen.ts';

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' };

/** Serves `GET /metrics` on a port for the operator, without keys and limits. Throws `unavailable`, as `bind` does. */
export async function listenMetrics(
  metrics: Metrics,
  address: Pick<ListenAddress, 'host' | 'port'>,
  failed: (error: unknown) => void,
): Promise<Pick<Listening, 'url' | 'close'>> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    if (path !== '/metrics') {
      response.writeHead(404, TEXT).end('the metrics are at /metrics\n');
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { ...TEXT, Allow: 'GET, HEAD' }).end(`${request.method} is not allowed here; use GET\n`);
      return;
    }
    metrics.text().then(
      (text) => {
        const headers = { 'Content-Type': metrics.contentType, 'Content-Length': Buffer.byteLength(text) };
        response.writeHead(200, { ...headers, 'Cache-Control': 'no-store' });
        response.end(request.method === 'HEAD' ? undefined : text);
      },
      (error: unknown) => {
        failed(error);
        response.writeHead(500, TEXT).end('the metrics could not be read; the log says why\n');
      },
    );
  });
  await bind(server, { ...address, setting: 'METRICS_PORT', hostSetting: 'METRICS_HOST' });
  return {
    url: urlOf(server.address() as AddressInfo),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

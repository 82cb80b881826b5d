import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { plainFile } from '../../shared/files/plain-file.ts';
import { type Reading, type SourceReader, sourceReader } from './source-reader.ts';

/** The host of the demo's documents. The domain is reserved (RFC 2606), so nobody can register it. */
export const DEMO_HOST = 'documents.example';
const LOOPBACK = '127.0.0.1';

/** Reads the demo's documents. */
export interface DemoDocuments {
  read: SourceReader;
  close(): Promise<void>;
}

/**
 * Serves the files of a folder at a free port on loopback, starting with the first reading, and reads them as the
 * documents of `DEMO_HOST`. Sends no request to other hosts. Only this machine can reach the server.
 */
export function demoDocuments(folder: string, agent: string): DemoDocuments {
  let started: Promise<{ server: Server; read: SourceReader }> | null = null;
  const start = async () => {
    const server = createServer(({ url = '/' }, response) => {
      const name = url.slice(1);
      const isThere = /^[a-z0-9-]+\.html$/.test(name) && plainFile(folder, name) !== null;
      if (!isThere) return void response.writeHead(404).end();
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
      createReadStream(join(folder, name))
        .on('error', () => response.destroy())
        .pipe(response);
    });
    server.unref().listen(0, LOOPBACK);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const resolve = async (host: string) => (host === DEMO_HOST ? [LOOPBACK] : []);
    const allows = (address: string) => address === LOOPBACK;
    return { server, read: sourceReader({ agent, resolve, allows, port, hostPause: 0 }) };
  };
  return {
    async read(instrument): Promise<Reading> {
      started ??= start();
      const { read } = await started;
      return read(instrument);
    },
    async close() {
      const { server } = (await started?.catch(() => null)) ?? {};
      server?.close();
      server?.closeAllConnections();
    },
  };
}

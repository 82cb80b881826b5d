import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// Receivers of webhooks for the benchmark, in a process of their own: so many that take everything, and one that never answers.

const urls: string[] = [];
for (let n = 0; n <= Number(process.argv[2]); n++) {
  const server = createServer((request, response) => {
    request.resume();
    if (n > 0) request.on('end', () => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}
process.stdout.write(`ready ${urls.join(' ')}\n`);

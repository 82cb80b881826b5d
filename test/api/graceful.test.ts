import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PROJECT } from '../../src/shared/project.ts';
import { tempFolder } from '../support/app-context.ts';
import { ed25519Witness } from '../support/log.ts';
import { serve, serveAtOnce, start, until } from '../support/program.ts';
import { enterPapers } from '../support/small-papers.ts';
import { play, readTranscript } from '../support/transcript.ts';
import { ONLY_WIDE } from '../support/wide.ts';

/** A thousand in `.ci/wide`. */
const CALLERS = ONLY_WIDE === false ? 1_000 : 60;
const STOPPING = readTranscript(join(PROJECT, 'test/transcripts/host-stopping.txt'));

/** A reverse proxy that sends requests to the first of its servers that says it is ready, and asks each all the time. */
async function startProxy(t: TestContext): Promise<{ url: string; servers: string[]; faults: string[] }> {
  const agent = new Agent({ keepAlive: true });
  const servers: string[] = [];
  const faults: string[] = [];
  const ready = new Map<string, boolean>();
  const isReady = async (server: string) =>
    fetch(`${server}/ready`).then(
      ({ status }) => status === 200,
      () => false,
    );
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      for (const server of servers) ready.set(server, await isReady(server));
      await pause(20);
    }
  };
  const proxy = createServer((incoming, outgoing) => {
    const server = servers.find((one) => ready.get(one) === true);
    const { hostname, port } = new URL(server ?? 'http://127.0.0.1:9');
    const { method, url: path, headers } = incoming;
    const onward = request({ hostname, port, method, path, headers, agent }, (answer) => {
      const { connection: _connection, 'keep-alive': _kept, ...rest } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 500, rest);
      answer.pipe(outgoing);
      answer.on('error', (error) => faults.push(`cut: ${error.message}`));
    });
    onward.on('error', (error) => {
      faults.push(`${path}: ${error.message}`);
      outgoing.writeHead(502).end();
    });
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const looking = look();
  t.after(async () => {
    stopping.abort();
    await looking;
    agent.destroy();
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, servers, faults };
}

test('requests in flight survive SIGTERM behind a proxy that polls /ready', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tides' }]);
  const proxy = await startProxy(t);
  const env = { ORIGIN: proxy.url, SERVICES: 'desk', SHUTDOWN_GRACE: '3s' };
  const first = await serve(t, folder, env);
  const second = await serveAtOnce(t, folder, env);
  proxy.servers.push(first.url, second.url);
  await until(async () => ((await fetch(`${proxy.url}/health`)).status === 200 ? true : null));

  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  t.after(() => agent.destroy());
  const paths = ['/tides/', '/tides/api/v1/stories', '/tides/api/v1/search?q=water', '/tides/api/v1/sections'];
  const statuses = new Map<string, number>();
  let isOver = false;
  let inFlight = 0;
  const ask = (path: string) =>
    new Promise<void>((resolve) => {
      inFlight++;
      const ended = (outcome: string) => {
        inFlight--;
        statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
        resolve();
      };
      request(`${proxy.url}${path}`, { agent }, (answer: IncomingMessage) => {
        answer.resume();
        answer.on('end', () => ended(answer.complete ? `${answer.statusCode}` : 'cut'));
        answer.on('error', () => ended('cut'));
      })
        .on('error', (error) => ended(error.message))
        .end();
    });
  const caller = async (n: number) => {
    for (let turn = n; !isOver; turn++) await ask(paths[turn % paths.length] ?? '/');
  };
  const callers = Array.from({ length: CALLERS }, (_, n) => caller(n));
  await until(() => (inFlight === CALLERS ? true : null));
  first.child.kill('SIGTERM');
  const { code, stderr } = await first.ended;
  const asked = inFlight;
  isOver = true;
  await Promise.all(callers);
  assert.deepEqual([...statuses.keys()], ['200'], JSON.stringify([...statuses, proxy.faults.slice(0, 3)]));
  assert.deepEqual([code, stderr, asked], [0, '', CALLERS]);
  assert.equal((await second.stop()).code, 0);
});

test('a stopping server announces it, drains its callers, and ends immediately on a second signal', async (t) => {
  const folder = tempFolder(t);
  const { url, records, child, said, ended } = await serveAtOnce(t, folder, {
    SHUTDOWN_GRACE: '1h',
    LOG_LEVEL: 'info',
  });
  const { hostname, port } = new URL(url);
  const kept = connect(Number(port), hostname);
  const lines = (text: string) => kept.write(`GET ${text} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  lines('/health');
  const [before] = await once(kept, 'data');
  assert.doesNotMatch(String(before), /^Connection: close/im);
  child.kill('SIGTERM');
  // Another way of the same signal.
  child.kill('SIGTERM');
  await until(() => (said.log.includes('"msg":"stopping"') ? true : null));
  for (const service of [url, records]) {
    for (const exchange of STOPPING) await play(exchange, { url: service, prefix: '', words: {} });
  }
  lines('/health');
  let after = '';
  for await (const chunk of kept) after += chunk;
  assert.match(after, /^HTTP\/1\.1 200 OK\r\n[\s\S]*^Connection: close\r\n/im);
  await pause(1_000);
  child.kill('SIGTERM');
  const { code, signal } = await ended;
  assert.deepEqual([code, signal], [1, null]);
});

test('SIGHUP reloads settings and content, and names what needs a restart', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tides' }]);
  // Settings of .env, in the folder in which the server runs; the environment has precedence.
  const env = join(folder, '.env');
  const more = { LOG_LEVEL: 'info', SERVICES: 'desk' };
  const { child, said } = start(t, folder, ['serve'], more, PROJECT, folder);
  const url = await until(() => /^ready desk=(\S+)$/m.exec(said.stdout)?.[1] ?? null);
  await until(() => (said.log.includes('"pressed what was due at the start"') ? true : null));
  const reloads = () => said.log.match(/"msg":"(?:reloaded|nothing was reloaded)/g)?.length ?? 0;
  const reload = async (text: string) => {
    const before = reloads();
    writeFileSync(env, text);
    child.kill('SIGHUP');
    await until(() => (reloads() > before ? true : null));
  };

  const paper = join(folder, 'content/tides/paper.yaml');
  writeFileSync(paper, readFileSync(paper, 'utf8').replace('The Tide Table', 'The New Table'));
  await reload('MAILS_PER_MINUTE=5\nKEYED_DAILY=7\nSHUTDOWN_GRACE=1s\n');
  assert.match(said.log, /"reloaded":\["MAILS_PER_MINUTE","SHUTDOWN_GRACE"\],/);
  assert.match(said.log, /"restart":\["KEYED_DAILY"\],/);
  await until(async () => ((await (await fetch(`${url}/tides/`)).text()).includes('The New Table') ? true : null));

  await reload('MAILS_PER_MINUTE=many\n');
  assert.match(said.log, /"reason":"MAILS_PER_MINUTE=many: must be a number[^"]*","msg":"nothing was reloaded"/);
  assert.equal((await fetch(`${url}/tides/`)).status, 200);

  await reload('MAILS_PER_MINUTE=5\nKEYED_DAILY=7\nSHUTDOWN_GRACE=0s\nLOG_LEVEL=error\n');
  // The environment says LOG_LEVEL, so the file changes nothing there.
  assert.match(said.log, /"reloaded":\["SHUTDOWN_GRACE"\],/);

  const policy = join(folder, 'policy');
  const { vkey } = ed25519Witness('witness.example/harbor-watch', 4);
  writeFileSync(policy, `witness harbor-watch ${vkey} http://127.0.0.1:9/\nquorum harbor-watch\n`);
  const logPage = async () => (await fetch(`${url}/log/`)).text();
  assert.doesNotMatch(await logPage(), /harbor-watch/);
  await reload(`MAILS_PER_MINUTE=5\nKEYED_DAILY=7\nLOG_POLICY=${policy}\n`);
  assert.match(await logPage(), /harbor-watch/);
  // What becomes of the file counts with the next reload.
  writeFileSync(policy, 'half a lin');
  assert.match(await logPage(), /harbor-watch/);
});

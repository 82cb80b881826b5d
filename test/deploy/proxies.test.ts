import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { makeServiceKey } from '../../src/records/accounts/service-key.ts';
import { newId } from '../../src/shared/new-id.ts';
import { selfSigned } from '../support/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { ask } from '../support/http.ts';
import { without } from '../support/log-peers.ts';
import { probe } from '../support/probes.ts';
import { serveAtOnce, until } from '../support/program.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import {
  askSecurely,
  DEPLOY,
  type Got,
  HOSTS,
  NGINX_MODULES,
  nginxMain,
  openStand,
  PAPERS,
  type Stand,
  startProgram,
  type Wish,
} from './fixture.ts';

/** A proxy in front of the stand. */
interface Proxy {
  port: number;
  /** Where it answers without TLS. */
  plainPort: number;
  /** The certificate that vouches for its own. */
  ca: string;
  /** The encodings in which it sends JSON. */
  encodings: string[];
  /** Whether a request waits while Broadsheet restarts. */
  waits: boolean;
}

const PROXIES: Record<string, (t: TestContext, stand: Stand) => Promise<Proxy>> = {
  caddy: startCaddy,
  nginx: startNginx,
};

async function startCaddy(t: TestContext, { folder, ports }: Stand): Promise<Proxy> {
  const [port, plainPort, admin] = [await freePort(), await freePort(), await freePort()];
  const data = join(folder, 'caddy');
  await startProgram(t, folder, {
    program: 'caddy',
    args: ['run', '--config', join(DEPLOY, 'caddy/Caddyfile'), '--adapter', 'caddyfile'],
    port,
    env: {
      HOME: data,
      XDG_DATA_HOME: data,
      XDG_CONFIG_HOME: data,
      DESK_HOSTS: `${HOSTS.desk}, ${HOSTS.paper}`,
      RECORDS_HOSTS: HOSTS.records,
      DESK: `127.0.0.1:${ports.desk}`,
      RECORDS: `127.0.0.1:${ports.records}`,
      // Its own authority, as there is no other here.
      CADDY_OPTIONS: [
        ...['local_certs', 'skip_install_trust', 'default_bind 127.0.0.1'],
        ...[`admin 127.0.0.1:${admin}`, `https_port ${port}`, `http_port ${plainPort}`],
      ].join('\n'),
    },
  });
  const root = join(data, 'caddy/pki/authorities/local/root.crt');
  await until(() => (existsSync(root) ? true : null));
  const proxy: Proxy = { port, plainPort, ca: readFileSync(root, 'utf8'), encodings: ['zstd', 'gzip'], waits: true };
  // Caddy listens before it has issued the certificates of its hosts.
  const isSecure = (host: string) =>
    askSecurely(proxy, { host, path: '/health' }).then(
      () => true,
      () => null,
    );
  for (const host of Object.values(HOSTS)) await until(() => isSecure(host));
  return proxy;
}

async function startNginx(t: TestContext, { folder, ports }: Stand): Promise<Proxy> {
  const [port, plainPort] = [await freePort(), await freePort()];
  const own = join(folder, 'nginx');
  mkdirSync(join(own, 'snippets'), { recursive: true });
  const { cert, key } = selfSigned(join(folder, 'certificate'), {
    subject: '/CN=papers.example',
    san: Object.values(HOSTS).map((host) => `DNS:${host}`),
  });
  writeFileSync(join(own, 'fullchain.pem'), cert);
  writeFileSync(join(own, 'privkey.pem'), key);
  const hasBrotli = existsSync(join(NGINX_MODULES, '50-mod-http-brotli-filter.conf'));
  /** The changes that the file asks for, and no others. */
  const shipped = (name: string) =>
    readFileSync(join(DEPLOY, 'nginx', name), 'utf8')
      .replace(/^ *listen \[::\].*\n/gm, '')
      .replace(/listen (\d+)/g, (_, number) => `listen 127.0.0.1:${number === '80' ? plainPort : port}`)
      .replaceAll('/etc/letsencrypt/live/papers.example', own)
      .replaceAll('news.example', HOSTS.paper)
      .replaceAll('127.0.0.1:4321', `127.0.0.1:${ports.desk}`)
      .replaceAll('127.0.0.1:4322', `127.0.0.1:${ports.records}`)
      .replace(/^# (include .*brotli)/m, hasBrotli ? '$1' : '# $1');
  for (const name of ['broadsheet-proxy.inc', 'broadsheet-brotli.inc'])
    writeFileSync(join(own, 'snippets', name), shipped(name));
  writeFileSync(join(own, 'broadsheet.conf'), shipped('broadsheet.conf'));
  const args = nginxMain(own, `include ${own}/broadsheet.conf;`);
  await startProgram(t, folder, { program: 'nginx', args, port });
  return { port, plainPort, ca: cert, encodings: hasBrotli ? ['br', 'gzip'] : ['gzip'], waits: false };
}

function unpacked({ headers, body }: Got): string {
  const by: Record<string, (bytes: Buffer) => Buffer> = {
    br: brotliDecompressSync,
    gzip: gunzipSync,
    zstd: zstdDecompressSync,
  };
  const coding = headers['content-encoding'];
  return (coding === undefined ? body : (by[coding]?.(body) ?? Buffer.from(coding))).toString();
}

const missing = Object.keys(PROXIES).map((name) => without(name, 'openssl'));

test('Broadsheet behind a proxy', {
  skip: ONLY_WIDE || (missing.every((why) => why !== false) && missing[0]),
}, async (t) => {
  const stand = await openStand(t);
  const started: Proxy[] = [];
  for (const [at, [name, startProxy]] of Object.entries(PROXIES).entries()) {
    const skip = missing[at] ?? false;
    const proxy = skip === false ? await startProxy(t, stand) : null;
    if (proxy !== null) started.push(proxy);
    await t.test(name, { skip }, (t) => behaves(t, stand, proxy as Proxy, at));
  }
  await t.test('a request meets a restart', { skip: ONLY_WIDE }, () => survivesRestart(t, stand, started));
});

async function behaves(t: TestContext, stand: Stand, proxy: Proxy, at: number): Promise<void> {
  const get = (wish: Wish) => askSecurely(proxy, wish);

  await t.test('has TLS and HTTP/2 for our names only, and leads there', async () => {
    const page = await get({ host: HOSTS.desk, path: `/${PAPERS.shared}/` });
    assert.deepEqual([page.status, page.protocol], [200, 'h2']);
    assert.match(String(page.headers['strict-transport-security']), /max-age/);
    const plain = await ask(`http://127.0.0.1:${proxy.plainPort}`, '/shoals/?a=b', { host: HOSTS.desk });
    assert.ok([301, 308].includes(plain.status), `${plain.status}`);
    assert.match(plain.headers.location ?? '', new RegExp(`^https://${HOSTS.desk}(?::\\d+)?/shoals/\\?a=b$`));
    await assert.rejects(get({ host: 'other.example', path: '/' }), /alert|ECONNRESET|altname/i);
  });

  await t.test('passes the host on: the papers’ own domains, and the records', async () => {
    const own = await get({ host: HOSTS.paper, path: '/api/v1' });
    assert.equal(JSON.parse(own.body.toString()).paper, PAPERS.domain);
    const front = await get({ host: HOSTS.paper, path: '/' });
    assert.match(front.body.toString(), /The Tide Table/);
    assert.equal((await get({ host: HOSTS.records, path: '/health' })).status, 200);
    assert.equal((await get({ host: HOSTS.desk, path: `/${PAPERS.secret}/` })).status, 404);
  });

  await t.test('compresses what Broadsheet does not, and leaves the rest', async () => {
    const path = `/${PAPERS.shared}/api/v1/stories`;
    const whole = unpacked(await get({ host: HOSTS.desk, path, headers: { 'accept-encoding': 'identity' } }));
    for (const encoding of proxy.encodings) {
      const got = await get({ host: HOSTS.desk, path, headers: { 'accept-encoding': encoding } });
      assert.equal(got.headers['content-encoding'], encoding);
      assert.equal(unpacked(got), whole);
      assert.match(String(got.headers.vary), /Accept-Encoding/i);
    }
    // What browsers send.
    const headers = { 'accept-encoding': 'gzip, deflate, br, zstd' };
    const page = await get({ host: HOSTS.desk, path: `/${PAPERS.shared}/`, headers });
    assert.equal(page.headers['content-encoding'], 'br');
    assert.match(unpacked(page), /The Tide Table/);
  });

  await t.test('passes on conditions, for each encoding', async () => {
    for (const path of ['/', '/api/v1/stories']) {
      for (const encoding of ['identity', 'gzip', 'br']) {
        const headers = { 'accept-encoding': encoding };
        const { headers: first } = await get({ host: HOSTS.paper, path, headers });
        const again = await get({
          host: HOSTS.paper,
          path,
          headers: { ...headers, 'if-none-match': String(first.etag) },
        });
        assert.equal(again.status, 304, `${path} in ${encoding}`);
        assert.equal(again.body.length, 0);
      }
    }
  });

  await t.test('passes on parts of films', async () => {
    const page = (await get({ host: HOSTS.paper, path: '/cast/2026-11-19/' })).body.toString();
    const path = new URL(/(?:src|href)="([^"]+\.mp4)"/.exec(page)?.[1] ?? '', `https://${HOSTS.paper}/`).pathname;
    const film = await get({ host: HOSTS.paper, path, headers: { 'accept-encoding': 'gzip, br' } });
    assert.equal(film.headers['content-encoding'], undefined);
    const part = await get({ host: HOSTS.paper, path, headers: { range: 'bytes=100-299' } });
    assert.equal(part.status, 206);
    assert.equal(part.headers['content-range'], `bytes 100-299/${film.body.length}`);
    assert.ok(part.body.equals(film.body.subarray(100, 300)));
  });

  await t.test('identifies callers by their address and not by what they send', async () => {
    const looked = async (from: string, said?: string) =>
      (
        await get({
          host: HOSTS.records,
          path: '/v1/domains/example.org',
          from,
          headers: said === undefined ? {} : { 'x-forwarded-for': said },
        })
      ).status;
    // One keyless lookup in fifteen seconds is an address's own.
    const [one, other] = [`127.0.${at}.2`, `127.0.${at}.3`];
    assert.equal(await looked(one), 404);
    assert.equal(await looked(one), 429);
    assert.equal(await looked(one, '192.0.2.7'), 429);
    for (const said of ['127.0.0.1', '192.0.2.8, 127.0.0.1', '::ffff:127.0.0.1', 'unknown', ',,', '"[::1]:80"']) {
      assert.equal(await looked(one, said), 429, said);
    }
    assert.equal(await looked(other, one), 404);
  });

  await t.test('is led nowhere by what a caller says of proxies, and refuses long headers', async () => {
    const plain = await get({ host: HOSTS.desk, path: `/${PAPERS.shared}/api/v1/stories` });
    const headers = {
      'x-forwarded-host': HOSTS.paper,
      'x-forwarded-proto': 'http',
      'x-forwarded-prefix': '/zebra',
      'x-original-url': `/${PAPERS.secret}/`,
      'x-rewrite-url': `/${PAPERS.secret}/`,
      forwarded: `for=127.0.0.1;host=${HOSTS.paper};proto=http`,
    };
    const led = await get({ host: HOSTS.desk, path: `/${PAPERS.shared}/api/v1/stories`, headers });
    assert.deepEqual([led.status, unpacked(led)], [200, unpacked(plain)]);
    // nginx ends the connection instead.
    const long = await get({ host: HOSTS.desk, path: '/', headers: { 'x-long': 'z'.repeat(30_000) } }).then(
      ({ status }) => status,
      () => 431,
    );
    assert.ok([400, 431].includes(long), `${long}`);
    assert.equal((await get({ host: HOSTS.desk, path: `/${PAPERS.shared}/` })).status, 200);
  });

  await t.test('takes long bodies, and leaves their limits to us', async () => {
    const key = stand.keys.get(PAPERS.domain)?.admin ?? '';
    const sent = (size: number, path: string, headers: Record<string, string>) =>
      get({
        host: HOSTS.paper,
        path,
        method: 'POST',
        headers: { 'x-nrf-key': key, ...headers },
        body: Buffer.alloc(size, ' '),
      });
    const json = await sent(2 << 20, '/api/v1/stories', { 'content-type': 'application/json' });
    assert.deepEqual([json.status, JSON.parse(unpacked(json)).error], [413, 'too_large']);
    // Longer than a scanner's body: an upload, which is refused for what it is and not for its length.
    const media = { 'content-type': 'image/png', 'x-media-path': 'media/art/blank.png' };
    assert.equal((await sent(12 << 20, '/api/v1/media', media)).status, 422);
  });

  await t.test('sends events as they happen', async () => {
    const { app } = stand;
    const maker = { keys: app.store.records.serviceKeys, now: app.clock.now, newId, random: randomBytes, by: 'cli' };
    const { key } = makeServiceKey(maker, { account: null, level: 'service', name: 'a proxy’s test' });
    const clock = { now: Date.now() - 60_000 };
    recordProbes(app, clock, [probe('example.com', clock.now, { A: ['192.0.2.1'] })]);
    const headers = { 'x-service-key': key, 'accept-encoding': 'gzip, br, zstd', accept: 'text/event-stream' };
    const heard = get({
      host: HOSTS.records,
      path: '/v1/stream?domain=example.com',
      headers,
      enough: (text) => text.includes('192.0.2.2'),
    });
    // The stream begins with the next change: more of them come until it has one.
    let isHeard = false;
    void heard.finally(() => {
      isHeard = true;
    });
    for (let seen = 2; !isHeard; seen++) {
      clock.now += 1_000;
      recordProbes(app, clock, [probe('example.com', clock.now, { A: ['192.0.2.2', `198.51.100.${seen}`] })]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { headers: got } = await heard;
    assert.match(String(got['content-type']), /^text\/event-stream/);
    assert.equal(got['content-encoding'], undefined);
  });
}

async function survivesRestart(t: TestContext, stand: Stand, proxies: Proxy[]): Promise<void> {
  await stand.serving.stop();
  const path = `/${PAPERS.shared}/`;
  const asked = proxies.map((proxy) => askSecurely(proxy, { host: HOSTS.desk, path }));
  // nginx cannot wait for a server that is not there.
  for (const [at, { waits }] of proxies.entries()) if (!waits) assert.equal((await asked[at])?.status, 502);
  await serveAtOnce(t, stand.folder, stand.env);
  for (const [at, proxy] of proxies.entries()) {
    if (proxy.waits) assert.equal((await asked[at])?.status, 200);
    const got = () => askSecurely(proxy, { host: HOSTS.desk, path });
    await until(async () => ((await got()).status === 200 ? true : null));
  }
}

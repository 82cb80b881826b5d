import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { appContextIn, createPaper, envIn, tempFolder } from '../support/app-context.ts';
import {
  copyDemo,
  copyProject,
  DEMO_ORIGINS,
  failuresIn,
  PROGRAM,
  refusedServe,
  run,
  serve,
  serveAtOnce,
  until,
} from '../support/program.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

test('an invalid setting is one line that names the variable', async (t) => {
  const folder = tempFolder(t);
  const wrong = { LOG_LEVEL: 'nonsense', PORT: '99999', ORIGIN: 'ftp://x' };
  for (const [name, value] of Object.entries(wrong)) {
    const { code, stdout, stderr } = await refusedServe(folder, { [name]: value });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, new RegExp(`^broadsheet: ${name}=${value}: [^\\n]+\\n$`));
  }
});

test('a port in use gives one line, and the process exits', async (t) => {
  const folder = tempFolder(t);
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  // The desk that has started ends too when the records cannot.
  for (const name of ['PORT', 'RECORDS_PORT']) {
    const { code, stdout, stderr } = await refusedServe(folder, { [name]: String(port) });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    const words = `^broadsheet: port ${port} of 127\\.0\\.0\\.1 is taken; set ${name} [^\\n]*\\n$`;
    assert.match(stderr, new RegExp(words));
  }
});

test('an address that is not of this machine is one line that names HOST', async (t) => {
  const folder = tempFolder(t);
  // 192.0.2.1 is nobody's (RFC 5737).
  for (const host of ['not/a/host', '192.0.2.1']) {
    const { code, stderr } = await refusedServe(folder, { HOST: host, SERVICES: 'records' });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^broadsheet: HOST=${host} is not a local address[^\\n]+\\n$`));
  }
});

test('SIGTERM ends a server whose log is no longer read', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  // A pipe whose reader goes after the ready line; Node's own pipes to children are sockets.
  const line = `sh -c 'echo $$; exec "$0" "$1" serve 2>&1' "$0" "$1" | { read pid; read ready; echo "$pid $ready"; }`;
  const shell = spawn('sh', ['-c', line, process.execPath, PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...envIn(folder), SERVICES: 'records', PORT: '0', RECORDS_PORT: '0' },
  });
  const ended = once(shell, 'close');
  let said = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const pid = await until(() => /^(\d+) ready/m.exec(said)?.[1] ?? null);
  t.after(() => {
    if (shell.exitCode === null) process.kill(Number(pid), 'SIGKILL');
  });
  process.kill(Number(pid), 'SIGTERM');
  await ended;
});

test('SIGTERM finishes a slow download, closes idle connections, and exits with 0', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  const { url, child, said, ended } = await serve(t, folder, { LOG_LEVEL: 'info', ...DEMO_ORIGINS });
  const { hostname, port } = new URL(url);

  const agent = new Agent({ keepAlive: true });
  t.after(() => agent.destroy());
  const idle = request({ hostname, port, path: '/the-plumb-line/', agent }).end();
  const [page] = await once(idle, 'response');
  page.resume();
  await once(page, 'end');

  // More than the system's buffers hold.
  const expected = Buffer.alloc(32 << 20, 'a newspaper is long');
  writeFileSync(join(folder, 'papers/the-plumb-line/long.mp4'), expected);
  const socket = connect(Number(port), hostname).pause();
  socket.write(`GET /the-plumb-line/long.mp4 HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await once(socket, 'readable');
  child.kill('SIGTERM');
  // A process group's signal comes twice to a server that npm started: npm passes its own one on.
  await until(() => (said.stderr.includes('"stopping"') ? true : null));
  child.kill('SIGTERM');
  await until(async () => ((await refuses(Number(port))) ? true : null));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const answer = Buffer.concat(chunks);
  assert.ok(answer.subarray(answer.indexOf('\r\n\r\n') + 4).equals(expected), 'all of it arrived');
  const { code, signal } = await ended;
  assert.deepEqual([code, signal], [0, null]);
});

test('a first start answers 503 until a paper is complete, and never serves part of it', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tide-table' }]);
  const { url, records, said, stop } = await serveAtOnce(t, folder, { LOG_LEVEL: 'info' });
  assert.equal((await fetch(`${records}/health`)).status, 200);
  const headers = { accept: 'text/html' };
  const seen = new Set<number>();
  // The last one is nobody's: while papers are yet to come, nobody can tell.
  for (const path of ['/tide-table/', '/', '/nobody-s/']) {
    await until(async () => {
      const answer = await fetch(`${url}${path}`, { headers });
      const text = await answer.text();
      seen.add(answer.status);
      if (answer.status === 503) {
        assert.match(text, /<h1>Being pressed<\/h1>/, path);
        assert.deepEqual([answer.headers.get('cache-control'), answer.headers.get('retry-after')], ['no-store', '2']);
        return null;
      }
      assert.equal(answer.status, path === '/nobody-s/' ? 404 : 200, path);
      assert.ok(!text.includes('Nothing is on air yet'), path);
      return true;
    });
  }
  assert.ok(seen.has(503), 'somebody had to wait');
  await until(() => (said.log.includes('pressed what was due at the start') ? true : null));
  const { code, stderr } = await stop();
  assert.deepEqual([code, failuresIn({ stderr })], [0, []]);
  const again = await serveHere(t, folder);
  assert.equal((await fetch(`${again.url}/tide-table/`)).status, 200);
  assert.equal((await again.stop()).code, 0);
  assert.equal((await run(t, folder, ['audit'], { ORIGIN: again.url })).code, 0);
});

test('a signal while it files and presses ends a server well', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tide-table' }]);
  const { stop } = await serveAtOnce(t, folder, { LOG_LEVEL: 'info' });
  const { code, stderr } = await stop();
  assert.deepEqual([code, failuresIn({ stderr })], [0, []]);
  const again = await serveHere(t, folder);
  assert.equal((await fetch(`${again.url}/tide-table/`)).status, 200);
});

test('a tree that was removed is pressed again, by the next start or for the next reader', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'tide-table' }]);
  const first = await serveHere(t, folder);
  assert.equal((await first.stop()).code, 0);
  rmSync(join(folder, 'papers'), { recursive: true });
  const { url } = await serveHere(t, folder, { PORT: new URL(first.url).port });
  assert.equal((await fetch(`${url}/tide-table/`)).status, 200);
  rmSync(join(folder, 'papers/tide-table'), { recursive: true });
  await until(async () => ((await fetch(`${url}/tide-table/`)).status === 200 ? true : null));
  // One page alone is not there and nothing is due: that is a hole, not a page on its way.
  rmSync(join(folder, 'papers/tide-table/stories/high-water'), { recursive: true });
  assert.equal((await fetch(`${url}/tide-table/stories/high-water/`)).status, 404);
});

test('a build leaves the papers that are pressed beside it', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const project = join(folder, 'project');
  copyProject(project);
  const paper = join(project, 'dist/papers/the-plumb-line/index.html');
  const build = async () => {
    // With the default DIST_DIR, which is a folder of the build's own.
    const { DIST_DIR: _dist, CONTENT_DIR: _content, DATA_DIR: _data, ...env } = { ...process.env };
    const child = spawn(process.execPath, [join(project, 'node_modules/astro/bin/astro.mjs'), 'build'], {
      cwd: project,
      stdio: 'ignore',
      env: { ...env, ASTRO_TELEMETRY_DISABLED: '1', DATA_DIR: join(folder, 'var') },
    });
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
    assert.ok(existsSync(paper));
  };
  await build();
  const { ino } = statSync(paper);
  await build();
  assert.equal(statSync(paper).ino, ino, 'the same file as before');
});

test('a server is ready and serves existing files while another process presses its papers', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  copyDemo(folder);
  const {
    desk: { manifest },
  } = appContextIn(t, folder, { now: Date.now() }).store;
  assert.ok(manifest.acquireLease('the-plumb-line', 'elsewhere:1:long', Date.now(), 30_000));
  const { url, child, ended } = await serveAtOnce(t, folder);
  assert.ok([200, 503].includes((await fetch(`${url}/the-plumb-line/`)).status));
  assert.equal((await fetch(`${url}/the-plumb-line/api/v1/stories`)).status, 200);
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0, 'it waits for no lease of others when it stops');
});

test('a server whose pages were rebuilt keeps answering, and leaves pressing to the next start', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const project = join(folder, 'project');
  copyProject(project);
  const key = (await enterPapers(folder, [{ slug: 'tide-table' }])).get('tide-table')?.admin ?? '';
  const { url, records, said } = await serve(t, folder, { LOG_LEVEL: 'error' }, project);
  const looks = async () => {
    const page = { [`${url}/`]: '', [`${records}/`]: '', [`${url}/tide-table/`]: '' };
    for (const address of Object.keys(page)) {
      const linked = [...(await (await fetch(address)).text()).matchAll(/(?:href|src)="([^"]*_astro[^"]*)"/g)];
      assert.ok(linked.length > 0, `${address} loads files of the build`);
      for (const [, file = ''] of linked) {
        const response = await fetch(new URL(file, address));
        assert.equal(response.status, 200, `${address} loads ${file}`);
        page[address] += `${file} ${await response.text()}\n`;
      }
    }
    return page;
  };
  const looked = await looks();
  rmSync(join(project, 'dist/client'), { recursive: true });
  rmSync(join(folder, 'papers/tide-table/_astro'), { recursive: true });
  assert.deepEqual(await looks(), looked, 'each page has the stylesheets and scripts that it had');
  const source = join(project, 'dist/server/source.txt');
  const before = readFileSync(source);
  rmSync(join(project, 'dist/server/chunks'), { recursive: true });
  writeFileSync(source, 'another');

  const file = (slug: string) =>
    send(url, {
      method: 'POST',
      path: '/tide-table/api/v1/stories',
      headers: { authorization: `Bearer ${key}` },
      body: { ...storyBody(slug), air: true },
    });
  const page = join(folder, 'papers/tide-table/stories/spring-tide/index.html');
  const filed = await file('spring-tide');
  assert.deepEqual([filed.status, JSON.parse(filed.text).pressed], [201, false]);
  await until(() => /the pages were rebuilt while this process ran; restart it/.test(said.stderr) || null);
  assert.ok(!existsSync(page));
  const end = await send(url, { path: '/tide-table/subscribe/confirm?token=none', headers: { accept: 'text/html' } });
  assert.match(end.text, /<html/, 'a page that was not printed before');

  writeFileSync(source, before);
  assert.equal(JSON.parse((await file('neap-tide')).text).pressed, true);
  assert.ok(existsSync(page));
});

test('a paper that was never pressed answers 503', async (t) => {
  const { listenDesk } = await import('../../api/server.ts');
  const { PressQueue } = await import('../../src/desk/jobs/press-queue.ts');
  const { default: pino } = await import('pino');
  const app = appContextIn(t, tempFolder(t), { now: Date.parse('2026-11-20T12:00:00Z') });
  createPaper(app);
  const { url, close } = await listenDesk({ app, presses: new PressQueue(app), logger: pino({ level: 'silent' }) });
  t.after(close);
  const page = await fetch(`${url}/harbor-ledger/`, { headers: { accept: 'text/html' } });
  assert.deepEqual([page.status, page.headers.get('retry-after')], [503, '2']);
  assert.match(await page.text(), /Being pressed/);
  const response = await fetch(`${url}/harbor-ledger/`, { headers: { accept: 'application/json' } });
  assert.equal(response.status, 503);
  assert.equal(response.headers.get('retry-after'), '5');
  assert.equal(((await response.json()) as { error: string }).error, 'unavailable');
});

function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
}

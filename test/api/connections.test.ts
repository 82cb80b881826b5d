import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { failuresIn, serve, until } from '../support/program.ts';
import { dial, drip, type Raw, shout } from '../support/raw.ts';
import { send } from '../support/send.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const DOOR = '/the-open/api/v1/stories';
/** A thousand in `.ci/wide`. */
const CONNECTIONS = ONLY_WIDE === false ? 1_000 : 200;

test('the server survives any use of connections', async (t) => {
  const folder = tempFolder(t);
  const keys = (await enterPapers(folder, [{ slug: 'the-open' }])).get('the-open');
  assert.ok(keys);
  const { url, said, stop, child } = await serve(t, folder, { LOG_LEVEL: 'info' });
  const { host } = new URL(url);
  const whole = (await ask(url, DOOR)).text;
  const get = (path: string, version = '1.1', more = '') =>
    `GET ${path} HTTP/${version}\r\nHost: ${host}\r\n${more}\r\n`;

  await t.test('simultaneous connections are all answered', async () => {
    // As many as this process and the server may hold open, where that is less.
    const length = Math.min(CONNECTIONS, openFilesAllowed() - 100);
    const lines = await Promise.all(Array.from({ length }, () => opened(t, url)));
    // All of them stand open before the first one asks.
    for (const { write } of lines) write(get(DOOR, '1.1', 'Connection: close\r\n'));
    const answers = await Promise.all(lines.map(({ closed }) => closed));
    for (const answer of answers) {
      assert.match(answer, /^HTTP\/1\.1 200 /);
      assert.equal(Buffer.from(answer.slice(answer.indexOf('\r\n\r\n') + 4), 'latin1').toString(), whole);
    }
  });

  await t.test('callers who send a byte per second delay no other caller', { skip: ONLY_WIDE }, async () => {
    const body = JSON.stringify(storyBody('slowly-sent'));
    const post = `POST ${DOOR} HTTP/1.1\r\nHost: ${host}\r\nX-NRF-Key: ${keys.admin}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const slow = await Promise.all(Array.from({ length: 40 }, () => opened(t, url)));
    const dripping = slow.map((raw, index) => {
      if (index % 2 === 0) return drip(raw, 'GET /the', 1_000);
      raw.write(post);
      return drip(raw, body.slice(0, 6), 1_000);
    });
    let served = 0;
    let isOver = false;
    const others = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) {
          assert.equal((await ask(url, DOOR)).text, whole);
          served++;
        }
      }),
    );
    await sleep(3_000);
    isOver = true;
    await others;
    assert.ok(served > 100, `${served} others were served`);
    const filed = await send(url, {
      method: 'POST',
      path: DOOR,
      headers: { 'x-nrf-key': keys.admin },
      body: storyBody('quick'),
    });
    assert.equal(filed.status, 201);
    for (const { text } of slow) assert.equal(text(), '', 'who has not asked is not answered');
    for (const { socket } of slow) socket.destroy();
    await Promise.all(dripping);
    assert.equal((await send(url, { path: `${DOOR}/slowly-sent`, headers: { 'x-nrf-key': keys.read } })).status, 404);
  });

  await t.test('callers who do not read, or who hang up, affect no other caller', async () => {
    const deaf = await Promise.all(Array.from({ length: 20 }, () => opened(t, url)));
    for (const { socket, write } of deaf) {
      socket.pause();
      for (let time = 0; time < 40; time++) write(get('/the-open/media/cast/2026-11-16.mp4'));
    }
    // Each answer opens its file when it is its turn on its connection, and not before.
    let most = 0;
    for (let time = 0; time < 20; time++) {
      most = Math.max(most, openIn(child.pid, 'mp4'));
      await sleep(50);
    }
    // One more while the last one is being closed.
    assert.ok(most <= 2 * deaf.length, `${most} files were open`);
    for (let time = 0; time < 30; time++) {
      const { socket, write } = await opened(t, url);
      write(get(time % 2 === 0 ? '/the-open/media/cast/2026-11-16.mp4' : DOOR));
      if (time % 3 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
    assert.equal((await ask(url, DOOR)).text, whole);
    for (const { socket } of deaf) socket.destroy();
    await until(() => (openIn(child.pid, 'mp4') === 0 ? true : null));
  });

  await t.test('HTTP/1.0, pipelining, and bytes that are not HTTP', async () => {
    const old = await shout(url, get(DOOR, '1.0'));
    assert.match(old, /^HTTP\/1\.[01] 200 /);
    assert.ok(old.includes('"a-white-light"'));
    assert.match(await shout(url, `GET ${DOOR} HTTP/1.0\r\n\r\n`), /^HTTP\/1\.[01] 200 /, 'without a Host');
    assert.match(await shout(url, `GET ${DOOR} HTTP/1.1\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 400 /);
    const twice = `GET ${DOOR} HTTP/1.1\r\nHost: ${host}\r\nHost: other.example\r\nConnection: close\r\n\r\n`;
    assert.match(await shout(url, twice), /^HTTP\/1\.1 400 /, 'two hosts (RFC 9112, section 3.2)');
    const tunnel = `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    assert.match(await shout(url, tunnel), /^HTTP\/1\.1 405 [\s\S]*\r\nAllow: GET, HEAD\r\n/);

    const { write, closed } = await opened(t, url);
    const asked = ['/sections', '/days', '/nothing', '/masthead', '/front'];
    write(
      asked.map((path, at) => get(`/the-open/api/v1${path}`, '1.1', at === 4 ? 'Connection: close\r\n' : '')).join(''),
    );
    const answers = (await closed).split('HTTP/1.1 ').slice(1);
    assert.deepEqual(
      answers.map((answer) => answer.slice(0, 3)),
      ['200', '200', '404', '200', '200'],
    );
    for (const [at, word] of [/"sections":/, /"days":/, /not_found/, /"masthead":/, /"rails":/].entries()) {
      assert.match(answers[at] ?? '', word, 'in the order in which they were asked');
    }
    const files = await opened(t, url);
    const [many, file] = [10, get('/the-open/media/cast/2026-11-16.mp4')];
    files.write(file.repeat(many - 1) + file.replace(/\r\n$/, 'Connection: close\r\n\r\n'));
    assert.equal((await files.closed).split('HTTP/1.1 200 ').length - 1, many, 'every file comes, each in its turn');
    for (const nonsense of [
      'hello\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      `GET ${DOOR} HTTP/9.9\r\nHost: ${host}\r\n\r\n`,
      `GET ${DOOR}\x00 HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      `FETCH ${DOOR} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      `GET ${DOOR} HTTP/1.1\r\nHost: ${host}\r\n${'X: y\r\n'.repeat(5_000)}\r\n`,
      `${'\x00'.repeat(2_000)}\r\n\r\n`,
    ]) {
      const answer = await shout(url, nonsense);
      assert.match(answer, /^(?:$|HTTP\/1\.1 4\d\d )/, nonsense.slice(0, 40));
      assert.doesNotMatch(answer, /\bat \S+ \(|node_modules/);
    }
    // A proxy's form of the address names its host itself.
    assert.match(
      await shout(url, get(`http://${host}${DOOR}`, '1.1', 'Connection: close\r\n')),
      /^HTTP\/1\.1 (?:200|400|404) /,
    );
    assert.match(await shout(url, get('*', '1.1', 'Connection: close\r\n')), /^HTTP\/1\.1 (?:400|404) /);
  });

  await t.test('and it stops as it should, with nothing in its log that it must not hold', async () => {
    assert.equal((await ask(url, DOOR)).text, whole);
    const { code, signal } = await stop();
    assert.deepEqual([code, signal], [0, null]);
    assert.deepEqual(failuresIn(said), []);
    // The link for the first seat is at the server's own address.
    assert.doesNotMatch(said.stderr.replaceAll(/.*\/console\/first\?token=.*/g, ''), /127\.0\.0\.1|nrf_/);
  });
});

async function opened(t: TestContext, url: string): Promise<Raw> {
  const raw = await dial(url);
  t.after(() => raw.socket.destroy());
  return raw;
}

/** How many files of a kind a process holds open; 0 where the system does not tell. */
function openIn(pid: number | undefined, extension: string): number {
  if (process.platform !== 'linux') return 0;
  const folder = `/proc/${pid}/fd`;
  const names = readdirSync(folder).flatMap((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`);
    } catch {
      return []; // It was closed meanwhile.
    }
  });
  return names.filter((name) => name.endsWith(`.${extension}`)).length;
}

/** How many files a process may hold open here. */
function openFilesAllowed(): number {
  const { userLimits } = process.report.getReport() as unknown as {
    userLimits: { open_files: { soft: number | string } };
  };
  const { soft } = userLimits.open_files;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}

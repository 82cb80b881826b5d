import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endBeforeRemoval, envIn, PAPER, tempFolder } from '../support/app-context.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const CHILD = fileURLToPath(new URL('heap-child.ts', import.meta.url));
const REQUESTS = 4_000;
/**
 * What each may leave, in bytes. A WeakMap by requests left 400, and 1,450 of a search; what remains of a search is its
 * name, which is remembered. Under load it was more.
 */
const LEFT_MAX = {
  stories: 100,
  'search?q=*': 900,
  ...(ONLY_WIDE === false && { masthead: 100, days: 100, tags: 100 }),
};

test('a request leaves nothing to the old generation, whose collection costs all others', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const child = fork(CHILD, { env: { ...process.env, ...envIn(folder) } });
  endBeforeRemoval(folder, async () => {
    const ended = once(child, 'exit');
    if (child.kill()) await ended;
  });
  const told = async () => ((await once(child, 'message')) as [unknown])[0];
  const { hostname, port, host } = new URL(String(await told()));
  const oldBytes = async (message: 'collect' | 'tell') => {
    child.send(message);
    return Number(await told());
  };
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  let asked = 0;
  const ask = async (path: string) => {
    for (let n = 0; n < REQUESTS; n++) {
      socket.write(`GET /${PAPER}/api/v1/${path.replace('*', `word${++asked}`)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      assert.match(answer.toString('latin1', 0, 12), /^HTTP\/1\.1 200/);
    }
  };
  for (const [path, most] of Object.entries(LEFT_MAX)) {
    await ask(path);
    const before = await oldBytes('collect');
    await ask(path);
    const left = ((await oldBytes('tell')) - before) / REQUESTS;
    t.diagnostic(`${path}: ${Math.round(left)} bytes a request`);
    assert.ok(left < most, `${Math.round(left)} bytes of each request for ${path} are in the old generation`);
  }
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { failuresIn } from '../support/program.ts';
import { dial, shout } from '../support/raw.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

/** Node's limit of a request's line and headers, in bytes. */
const HEAD_MAX = 16 * 1024;

test('requests without a host, and such as cannot be read', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'the-open' }]);
  const { url, records, said } = await serveHere(t, folder, { ORIGIN: 'https://papers.example', LOG_LEVEL: 'info' });
  const services = [
    [url, '/the-open/api/v1/stories'],
    [records, '/health'],
  ] as const;

  await t.test('HTTP/1.0 without a Host is of the default host', async () => {
    for (const [base, path] of services) {
      const { text } = await ask(base, path);
      for (const head of ['', 'User-Agent: a health check\r\n']) {
        const answer = await shout(base, `GET ${path} HTTP/1.0\r\n${head}\r\n`);
        assert.match(answer, /^HTTP\/1\.[01] 200 /, path);
        const body = answer.slice(answer.indexOf('\r\n\r\n') + 4);
        assert.equal(Buffer.from(body, 'latin1').toString(), text);
      }
      assert.match(await shout(base, `HEAD ${path} HTTP/1.0\r\n\r\n`), /^HTTP\/1\.[01] 200 /, path);
      assert.match(await shout(base, 'GET / HTTP/1.0\r\n\r\n'), /^HTTP\/1\.[01] 200 /);
      for (const host of ['', 'Host:\r\n'])
        assert.match(await shout(base, `GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`), /^HTTP\/1\.1 400 /);
    }
  });

  await t.test('a header section that is too long is rejected in JSON', async () => {
    for (const [base, path] of services) {
      const { host } = new URL(base);
      const long = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Long: ${'y'.repeat(HEAD_MAX)}\r\n\r\n`;
      const many = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${'X: y\r\n'.repeat(HEAD_MAX / 4)}\r\n`;
      const address = `GET ${path}?q=${'y'.repeat(HEAD_MAX)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
      // As much as the system takes is still on its way when the answer comes.
      const endless = long + 'y'.repeat(4 * 1024 * 1024);
      for (const bytes of [long, many, address, endless]) {
        const answer = await shout(base, bytes);
        const [head = '', body = ''] = answer.split('\r\n\r\n');
        assert.match(head, /^HTTP\/1\.1 431 Request Header Fields Too Large\r\n/, bytes.slice(0, 60));
        assert.match(head, /\r\nConnection: close(\r\n|$)/);
        assert.match(head, /\r\nContent-Type: application\/json(\r\n|$)/);
        assert.match(head, /\r\nX-Request-Id: \S+(\r\n|$)/);
        assert.equal(Number(/\r\nContent-Length: (\d+)/.exec(head)?.[1]), body.length);
        const { error, message } = JSON.parse(body);
        assert.equal(error, 'headers_too_large');
        assert.match(message, /16384 bytes \(16 KiB\)/);
        assert.equal(answer.split('HTTP/1.1 ').length, 2, 'it is answered once');
      }
    }
  });

  await t.test('bytes that are not HTTP', async () => {
    for (const [base] of services) {
      const answer = await shout(base, 'hello\r\n\r\n');
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      assert.match(head, /^HTTP\/1\.1 400 Bad Request\r\n/);
      assert.equal(JSON.parse(body).error, 'invalid_request');
    }
  });

  await t.test('earlier responses on the connection stay intact', async () => {
    for (const [base, path] of services) {
      const { write, closed } = await dial(base);
      write(`GET ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`);
      write(`GET ${path} HTTP/1.1\r\nHost: a.example\r\nX-Long: ${'y'.repeat(HEAD_MAX)}\r\n\r\n`);
      const answers = (await closed).split('HTTP/1.1 ').slice(1);
      const whole = (await ask(base, path)).text;
      if (answers[0]?.startsWith('200')) assert.ok(Buffer.from(answers[0], 'latin1').toString().endsWith(whole));
      else assert.match(answers[0] ?? '431', /^431/);
    }
  });

  await t.test('the documents name it', async () => {
    for (const [base, path] of [
      [url, '/the-open/api/v1/openapi.json'],
      [records, '/v1/openapi.json'],
    ] as const) {
      const { paths, components } = JSON.parse((await ask(base, path)).text);
      for (const [at, item] of Object.entries(paths as Record<string, Record<string, { responses: object }>>))
        for (const [method, { responses }] of Object.entries(item)) assert.ok('431' in responses, `${method} ${at}`);
      assert.deepEqual(Object.keys(components.responses.HeadersTooLarge.content), ['application/json']);
    }
    assert.deepEqual(failuresIn(said), []);
  });
});

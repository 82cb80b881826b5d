import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { tempFolder } from '../support/app-context.ts';
import { failuresIn } from '../support/program.ts';
import { dial, shout } from '../support/raw.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';

const STORIES = '/the-post/api/v1/stories';

test('bodies of every kind are read or refused, and nothing fails', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'the-post' }, { slug: 'the-other' }]);
  const { url, said, stop } = await serveHere(t, folder, { LOG_LEVEL: 'info' });
  const key = { 'x-nrf-key': keys.get('the-post')?.admin ?? '' };
  const post = (body: string | Buffer, more: Record<string, string> = {}, path = STORIES, method = 'POST') =>
    send(url, { method, path, headers: { ...key, 'content-type': 'application/json', ...more }, body });
  const error = (text: string) => JSON.parse(text) as { error: string; field?: string; message: string };
  const motto = async () =>
    JSON.parse((await send(url, { path: '/the-post/api/v1/config', headers: key })).text).motto as string;

  await t.test('a type of JSON in every spelling', async () => {
    for (const type of [
      'application/json',
      'APPLICATION/JSON',
      'application/json;',
      'application/json ; charset=utf-8',
      'application/json; charset="utf-8"',
      'application/json;charset=UTF-8;version=1',
      'application/merge-patch+json',
      'application/vnd.example_1.v2+json',
    ]) {
      const config = JSON.stringify({ motto: type });
      const { status, text } = await post(config, { 'content-type': type }, '/the-post/api/v1/config', 'PUT');
      assert.equal(status, 200, `${type}: ${text}`);
      assert.equal(await motto(), type, 'what was sent was read');
    }
  });

  await t.test('a member that is named twice is refused, however it is spelled', async () => {
    for (const body of ['{"motto":"a","motto":"b"}', String.raw`{"motto":"a","m\u006ftto":"b"}`]) {
      const { status, text } = await post(body, {}, '/the-post/api/v1/config', 'PUT');
      assert.equal(status, 400, text);
      assert.equal(error(text).message, 'the body names the member "motto" twice; name it once');
    }
  });

  await t.test('any other type is rejected, even where the body is optional', async () => {
    for (const type of [
      'text/plain',
      'text/json',
      'application/jsonp',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json, text/plain',
      'json',
      ';',
    ]) {
      for (const path of [STORIES, `${STORIES}/slack-water/airing`]) {
        const { status, text } = await post('{}', { 'content-type': type }, path);
        assert.equal(status, 415, `${type}: ${text}`);
        assert.equal(error(text).error, 'unsupported_media_type');
      }
    }
  });

  await t.test(
    'heaps of combining marks are refused before anything sorts them, however they are spelled',
    async () => {
      const heap = '\u0301\u0316'.repeat(100_000);
      const escaped = JSON.stringify({ motto: heap.slice(0, 20_000) }).replace(
        /[\u0300-\u036f]/g,
        (mark) => `\\u0${mark.charCodeAt(0).toString(16)}`,
      );
      for (const body of [JSON.stringify({ motto: heap }), escaped]) {
        const { status, text } = await post(body, {}, '/the-post/api/v1/config', 'PUT');
        assert.equal(status, 400, text);
        assert.match(
          error(text).message,
          /^the body has more than 100 combining marks or invisible characters in a row;/,
        );
      }
    },
  );

  await t.test(
    'a compressed body is rejected by the route that would read it, and the message asks for a plain one',
    async () => {
      for (const coding of ['gzip', 'br', 'deflate', 'identity, gzip']) {
        for (const path of [STORIES, '/the-post/api/v1/subscribers']) {
          const { status, text, headers } = await post(gzipSync('{}'), { 'content-encoding': coding }, path);
          assert.equal(status, 415, `${coding}: ${text}`);
          assert.match(error(text).message, /without Content-Encoding$/);
          assert.equal(headers['accept-encoding'], 'identity');
        }
      }
      assert.equal((await post('{}', { 'content-encoding': 'identity' })).status, 400, 'it is read');
    },
  );

  await t.test('an absent body is not an error where the body is optional', async () => {
    for (const type of ['application/json', 'text/plain', 'application/octet-stream']) {
      const { status } = await post('', { 'content-type': type }, `${STORIES}/high-water/airing`);
      assert.equal(status, 200, type);
      assert.equal((await post('', { 'content-type': type })).status, type === 'application/json' ? 400 : 415);
    }
  });

  await t.test('bodies that are not JSON, or JSON of the wrong type', async () => {
    for (const text of [
      'null',
      'true',
      '0',
      '"text"',
      '[]',
      '[[]]',
      '{}',
      '{',
      '{"headline"}',
      "{'headline': 1}",
      '{"headline": NaN}',
      '{"headline": 1e999}',
      '{} {}',
      '\u0000',
      '\uFEFF{}',
      '{"__proto__": {"headline": "x"}}',
      '{"constructor": {"prototype": {"headline": "x"}}}',
      '{"headline": {"toString": 1}}',
      '{"cited_facts": {"length": 1000000000}}',
      '{"cited_facts": [null, 1, "x", [], {}]}',
      '{"image": {"src": {"src": 1}}}',
    ]) {
      for (const [path, method] of [
        [STORIES, 'POST'],
        [`${STORIES}/high-water`, 'PUT'],
        [`${STORIES}/high-water/airing`, 'DELETE'],
        ['/the-post/api/v1/keys', 'POST'],
        ['/the-post/api/v1/masthead/new-one', 'PUT'],
        ['/the-post/api/v1/cast/2026-11-20', 'PUT'],
        ['/the-post/api/v1/agent/terms/accept', 'POST'],
      ] as const) {
        const answer = await post(text, {}, path, method);
        assert.equal(answer.status, 400, `${method} ${path} ${text}: ${answer.text}`);
        assert.equal(error(answer.text).error, 'invalid_request');
        assert.equal(typeof error(answer.text).field, 'string');
      }
    }
    for (const text of [
      '[]',
      'null',
      '0',
      '{"hue": "red"}',
      '{"sections": "Tides"}',
      '{"url": {}}',
      '{"nameplate": []}',
    ]) {
      const { status } = await post(text, {}, '/the-post/api/v1/config', 'PUT');
      assert.equal(status, 400, text);
    }
    for (const text of ['[]', 'null', '0', '{"at": 5}', '{"at": "soon"}', '{"at": null}', '{"in": 5}']) {
      const { status } = await post(text, {}, `${STORIES}/slack-water/airing`);
      assert.equal(status, 400, text);
    }
  });

  await t.test('text that is not Unicode, and text of more than one line', async () => {
    const latin1 = Buffer.from(JSON.stringify({ ...storyBody('in-latin'), headline: 'Grün' }), 'latin1');
    const broken = await post(latin1);
    assert.equal(broken.status, 400);
    assert.equal(error(broken.text).field, 'body');
    const json = JSON.stringify(storyBody('in-utf16'));
    assert.equal((await post(Buffer.from(json, 'utf16le'))).status, 400);
    const half = await post(json.replace('What in utf16', 'Half of \\ud83d'));
    assert.equal(half.status, 400);
    assert.equal(error(half.text).field, 'headline');
    for (const headline of ['a\\u0000b', 'a\\nb', 'a\\u001bb', '']) {
      const text = json.replace('What in utf16 means', headline);
      const { status, text: answer } = await post(text);
      assert.equal(status, 422, `${headline}: ${answer}`);
      assert.match(answer, /"field":"headline"/);
    }
  });

  await t.test('deep nests and wide lists', async () => {
    for (const depth of [33, 1_000, 100_000]) {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const { status, text } = await post(`${open.repeat(depth)}0${close.repeat(depth)}`);
        assert.equal(status, 400);
        assert.equal(error(text).field, 'body');
      }
    }
    // A short request must not make a long answer.
    for (const text of [
      `{"cited_facts": [${Array(100_000).fill('{}').join()}]}`,
      `{${Array.from({ length: 60_000 }, (_, index) => `"a${index}":1`).join()}}`,
      `{"cited_facts": [${Array(1_200).fill('[]').join()}]}`,
    ]) {
      const { status, text: answer } = await post(text);
      assert.equal(status, 400);
      assert.ok(answer.length < 4_000_000, `${answer.length} bytes`);
    }
    const facts = Array.from({ length: 1_000 }, (_, index) => ({
      n: index + 1,
      statement: `Fact ${index}, of many, is so.`,
      source: index === 0 ? 'NIST' : 'IHO',
      instrument: 'A, B, C',
      claim_key: null,
    }));
    const prose = facts.map((_, index) => `Fact.[^${index + 1}]`).join(' ');
    const full = await post(JSON.stringify({ ...storyBody('all-facts'), prose, cited_facts: facts }));
    assert.equal(full.status, 201, full.text.slice(0, 300));
  });

  await t.test('of very many problems a hundred are listed, and all are counted', async () => {
    const story = { ...storyBody('many-problems'), prose: `Fact.[^1] Another.[^2]\n\n${'<b>x\n\n'.repeat(4_900)}` };
    const { status, text } = await post(JSON.stringify(story));
    assert.equal(status, 422);
    const body = JSON.parse(text);
    assert.equal(body.problems.length, 100);
    assert.equal(body.problems_total, 4_900);
    assert.match(body.message, /\(and 4899 more\)$/);
    const facts = Array.from({ length: 3_000 }, () => null);
    const shape = JSON.parse((await post(JSON.stringify({ ...story, cited_facts: facts }))).text);
    assert.equal(shape.problems.length, 100);
    assert.equal(shape.problems_total, 7_901);
  });

  await t.test('too large, with its length said and without', async () => {
    const story = (length: number) => {
      const whole = JSON.stringify({ ...storyBody('long'), prose: '' });
      return whole.replace('"prose":""', `"prose":"${'x'.repeat(length - whole.length)}"`);
    };
    const just = await post(story(1_048_576));
    assert.notEqual(just.status, 413, 'a body of 1 MiB is read');
    assert.equal((await post(story(1_048_577))).status, 413, 'and one of a byte more is not');
    for (const who of [key, {}] as Record<string, string>[]) {
      const { host } = new URL(url);
      const headers = `Host: ${host}\r\nContent-Type: application/json\r\nConnection: close\r\n${Object.entries(who)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}`;
      const large = 'x'.repeat(10_000_000);
      for (const text of [
        `POST ${STORIES} HTTP/1.1\r\n${headers}Content-Length: ${large.length}\r\n\r\n${large}`,
        `POST ${STORIES} HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`,
      ]) {
        assert.match(await shout(url, text), /^HTTP\/1\.1 413 [\s\S]*too_large/);
      }
    }
  });

  await t.test(
    'a client that is still sending can read that the body is too large and that the connection closes',
    async () => {
      const head = `POST ${STORIES} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Type: application/json\r\nX-NRF-Key: ${key['x-nrf-key']}\r\n`;
      const half = 'x'.repeat(5_000_000);
      const size = half.length.toString(16);
      const config = '{"motto":"sent after the end"}';
      const next = `${head.replace('POST', 'PUT').replace('/stories', '/config')}Content-Length: ${config.length}\r\n\r\n${config}`;
      for (const [first, second] of [
        [`${head}Content-Length: ${2 * half.length}\r\n\r\n${half}`, half],
        [`${head}Transfer-Encoding: chunked\r\n\r\n${size}\r\n${half}\r\n`, `${size}\r\n${half}\r\n0\r\n\r\n`],
      ] as const) {
        const raw = await dial(url);
        const failed: Error[] = [];
        raw.socket.prependListener('error', (error) => failed.push(error));
        // The server's half of the end does not end ours.
        raw.socket.allowHalfOpen = true;
        raw.write(first);
        await once(raw.socket, 'end');
        assert.match(raw.text(), /^HTTP\/1\.1 413 [\s\S]*\r\nConnection: close\r\n[\s\S]*too_large/i);
        // Longer than the adapter gives a caller to finish.
        await sleep(700);
        raw.write(second);
        raw.socket.end(next);
        await raw.closed;
        assert.deepEqual(failed, [], 'and is not cut off for it');
      }
      assert.notEqual(await motto(), 'sent after the end');
    },
  );

  await t.test('an incomplete body writes nothing', async () => {
    const { host } = new URL(url);
    const body = JSON.stringify(storyBody('half-sent'));
    const head = `POST ${STORIES} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nX-NRF-Key: ${key['x-nrf-key']}\r\n`;
    for (const bytes of [
      `${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 100)}`,
      `${head}Transfer-Encoding: chunked\r\n\r\n40\r\n${body.slice(0, 64)}\r\n`,
      `${head}Content-Length: ${body.length}\r\n\r\n`,
      head,
    ]) {
      const { write, socket, closed } = await dial(url);
      write(bytes);
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.destroy();
      await closed;
    }
    for (const bytes of [
      `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n${body}\r\n0\r\n\r\n`,
      `${head}Connection: close\r\nContent-Length: -1\r\n\r\n${body}`,
      `${head}Connection: close\r\nContent-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${head}Connection: close\r\nContent-Length: 5\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ]) {
      assert.match(await shout(url, bytes), /^HTTP\/1\.1 400 /);
    }
    assert.equal((await send(url, { path: `${STORIES}/half-sent`, headers: key })).status, 404);
    assert.equal((await post(body)).status, 201, 'sent whole, it is filed');
  });

  // The log is written in batches: all of it is there when the server has stopped.
  await stop();
  assert.deepEqual(failuresIn(said), []);
  for (const secret of Object.values(keys.get('the-post') ?? {})) assert.ok(!said.stderr.includes(secret));
});

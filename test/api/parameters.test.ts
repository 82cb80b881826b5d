import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { newKey } from '../../src/desk/papers/keys.ts';
import { tempFolder } from '../support/app-context.ts';
import { ask } from '../support/http.ts';
import { failuresIn } from '../support/program.ts';
import * as fc from '../support/properties.ts';
import { shout } from '../support/raw.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';

/** What no answer may hold: a stack, the store's own words, and those of a paper that is private. */
const LEAK = /\bat \S+ \(|\.ts:\d|node_modules|SQLITE|sqlite|zanzibar/i;

test('no parameter, address, header or key makes a route fail', async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: 'the-open' }, { slug: 'the-shut', isPublic: false }]);
  const { url, said, stop } = await serveHere(t, folder, { LOG_LEVEL: 'info' });
  const [open, shut] = [keys.get('the-open'), keys.get('the-shut')];
  assert.ok(open && shut);
  const api = '/the-open/api/v1';
  const { host } = new URL(url);
  const secret = { ...storyBody('zanzibar'), headline: 'Zanzibar', air: true };
  const headers = { 'x-nrf-key': shut.admin };
  assert.equal(
    (await send(url, { method: 'POST', path: '/the-shut/api/v1/stories', headers, body: secret })).status,
    201,
  );

  await t.test('limits: below, at and above', async () => {
    const count = async (path: string) => {
      const { status, text } = await ask(url, api + path);
      return status === 200 ? JSON.parse(text).count : status;
    };
    for (const door of ['/stories', '/posts']) {
      for (const [limit, rows] of [
        ['-1', 1],
        ['0', 1],
        ['1', 1],
        ['+2', 1],
        ['%2B2', 2],
        ['02', 2],
        ['3', 3],
        ['100', 3],
        ['101', 3],
        ['200', 3],
        ['201', 3],
        ['9'.repeat(100), 3],
      ] as const) {
        // A bare plus in a query is a blank.
        assert.equal(await count(`${door}?limit=${limit}`), limit === '+2' ? 400 : rows, `${door} ${limit}`);
      }
      for (const limit of ['', '%20', '1e1', '0x1', '1.0', 'NaN', 'null', '9'.repeat(101), '\u0663', '1%00']) {
        assert.equal(await count(`${door}?limit=${encodeURI(limit).replaceAll('%25', '%')}`), 400, `${door} ${limit}`);
      }
    }
    assert.equal(await count(`/search?q=${'a'.repeat(120)}`), 0);
    assert.equal(await count(`/search?q=${'a'.repeat(121)}`), 400);
    assert.equal(await count(`/search?q=${'%F0%9D%84%9E'.repeat(120)}`), 0, 'characters, not code units');
    assert.equal(await count(`/search?q=${'%F0%9D%84%9E'.repeat(121)}`), 400);
    assert.equal(await count(`/search?q=${'+'.repeat(300)}water${'+'.repeat(300)}`), 2, 'outer blanks do not count');
    assert.equal(await count('/search?q=a+b+c+d'), 0);
    assert.equal(await count('/search?q=a+b+c+d+e'), 400);
    for (const day of [
      '0000-00-00',
      '2026-13-01',
      '2026-1-1',
      '20261118',
      '-2026-11-18',
      '2026-11-18T00:00:00Z',
      '1',
    ]) {
      assert.equal(await count(`/days/${day}`), 400, day);
    }
    assert.equal(await count('/days/0001-01-01'), 0);
    for (const since of ['2026-11-18', '1795000000', 'x', '2026-11-18T25:00:00Z', '-1']) {
      assert.equal(await count(`/posts?since=${since}`), 400, since);
    }
    assert.equal(await count('/posts?since=9999-12-31T23:59:59Z'), 0);
    assert.equal(await count('/posts?since=0000-01-01T00:00:00Z'), 3);
    for (const cursor of ['x', '%00', 'null', 'W10', 'WzFd', 'e30', 'A'.repeat(5_000), 'WzFlMzA4LCJ4Il0']) {
      for (const door of ['/stories', '/posts', '/days']) {
        assert.equal(await count(`${door}?cursor=${cursor}`), 400, `${door} ${cursor}`);
      }
    }
  });

  await t.test('repeated or malformed parameters are rejected or ignored', async () => {
    for (const [query, field] of [
      ['/stories?limit=1&limit=2', 'limit'],
      ['/stories?cursor=a&cursor=b', 'cursor'],
      ['/search?q=a&q=b', 'q'],
      ['/posts?since=2026-11-18T00:00:00Z&since=2026-11-18T00:00:00Z', 'since'],
      ['/search?q[]=a', 'q'],
    ]) {
      const { status, text } = await ask(url, `${api}${query}`);
      assert.equal(status, 400, query);
      assert.equal(JSON.parse(text).field, field, query);
      assert.match(JSON.parse(text).message, /: (?:comes 2 times; send it once|this field is missing; add it)$/, query);
    }
    for (const query of ['limit[]=1', '__proto__=1', '__proto__[limit]=1', 'constructor=1', '=1', '&&&', 'LIMIT=x']) {
      assert.equal((await ask(url, `${api}/stories?${query}`)).status, 200, query);
    }
  });

  await t.test('a non-UTF-8 query is rejected with the name of the parameter', async () => {
    for (const bad of ['%ff', '%', '%z', '%zz', '%c0%af', '%ed%a0%80', '%f8%88%80%80%80', 'a%80b', '%u0041']) {
      for (const [door, name] of [
        ['search', 'q'],
        ['stories', 'limit'],
        ['stories', 'cursor'],
        ['posts', 'since'],
        ['stories', 'unknown'],
        ['masthead', 'x'],
      ]) {
        const { status, text } = await ask(url, `${api}/${door}?a=b&${name}=${bad}&c=d`);
        assert.equal(status, 400, `${door}?${name}=${bad}`);
        assert.equal(JSON.parse(text).field, name);
      }
      assert.equal((await ask(url, `${api}/stories?${bad}=1`)).status, 400);
      // Another paper's word is no clue: who is not let in is not told about the query.
      assert.equal((await ask(url, `/the-shut/api/v1/search?q=${bad}`)).status, 404);
    }
  });

  await t.test('addresses that are not UTF-8, have encoded slashes, or are too long', async () => {
    for (const id of [
      '%ff',
      '%00',
      'a%00b',
      '%2f',
      'a%2fb',
      '..%2f..',
      '%2e%2e',
      '%',
      "'%20OR%201=1--",
      '%F0%9D%84%9E',
    ]) {
      for (const rest of ['', '/proof', '/airing']) {
        const path = `${api}/stories/${id}${rest}`;
        for (const method of rest === '/airing' ? ['POST', 'DELETE'] : ['GET', 'HEAD']) {
          const body = method === 'DELETE' ? { reason: 'It is not there.' } : undefined;
          const sent = { method, path, headers: { 'x-nrf-key': open.admin }, ...(body ? { body } : {}) };
          const { status, text } = await send(url, sent);
          assert.equal(status, 404, `${method} ${path} ${text}`);
          assert.doesNotMatch(text, LEAK);
        }
      }
    }
    for (const [length, expected] of [
      [8_000, 404],
      [20_000, 431],
    ] as const) {
      assert.equal((await ask(url, `${api}/stories/${'a'.repeat(length)}`)).status, expected);
      assert.equal((await ask(url, `${api}/${'a/'.repeat(length / 2)}`)).status, expected);
      const query = await ask(url, `${api}/search?q=${'a'.repeat(length)}`);
      assert.equal(query.status, expected === 404 ? 400 : expected);
      assert.ok(query.text.length < 1_000, 'what was too long is not said again');
    }
  });

  await t.test('a key with one changed character is invalid', async () => {
    const key = open.admin;
    const forms = Array.from({ length: key.length }, (_, at) => {
      const other = key[at] === 'a' ? 'b' : 'a';
      return [`${key.slice(0, at)}${other}${key.slice(at + 1)}`, `${key.slice(0, at)}${key.slice(at + 1)}`];
    }).flat();
    const swapped = key.replace(/[A-Z]/, (letter) => letter.toLowerCase());
    for (const bad of [...forms, swapped, `${key}a`, key.slice(4), `${key} ${key}`, newKey(randomBytes)]) {
      for (const sent of [{ 'x-nrf-key': bad }, { authorization: `Bearer ${bad}` }] as Record<string, string>[]) {
        const { status, text } = await send(url, { path: `${api}/stories`, headers: sent });
        assert.equal(status, 401, bad.replaceAll(key, '…'));
        assert.ok(!text.includes(bad), 'a key is not said again');
      }
    }
    assert.equal((await send(url, { path: `${api}/keys`, headers: { 'x-nrf-key': ` ${key}\t` } })).status, 200);
  });

  await t.test('key headers that contradict, repeat or are empty', async () => {
    const get = async (path: string, lines: string[]) =>
      shout(url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n`);
    for (const lines of [
      [`Authorization: Bearer ${open.read}`, `X-NRF-Key: ${open.admin}`],
      [`Authorization: Bearer ${open.read}`, `Authorization: Bearer ${open.admin}`],
      [`X-NRF-Key: ${open.read}`, `X-NRF-Key: ${open.admin}`],
      [`X-NRF-Key: ${open.read}`, 'X-NRF-Key:'],
      ['X-NRF-Key:'],
      ['Authorization:'],
      ['Authorization: Bearer'],
      ['Authorization: Bearer '],
      ['Authorization: Basic dXNlcjpwYXNz'],
      [`Authorization: ${open.read}`],
      [`Authorization: Token ${open.read}`],
      [`Authorization: Bearer ${open.read}, Bearer ${open.read}`],
      [`Authorization: Bearer ${open.read}`, 'X-NRF-Key:'],
      ['Authorization: Bearer \xff\xfe'],
      ['X-NRF-Key: nrf_\xe9'],
    ]) {
      const answer = await get(`${api}/stories`, lines);
      assert.match(answer, /^HTTP\/1\.1 401 [\s\S]*WWW-Authenticate: Bearer[\s\S]*key_invalid/i, lines.join(' '));
      assert.doesNotMatch(answer, LEAK);
    }
    // In an address a key is no key, and opens nothing.
    assert.match(await get(`/the-shut/api/v1/stories?key=${shut.read}&x-nrf-key=${shut.read}`, []), /^HTTP\/1\.1 404 /);
    for (const line of ['X-NRF-Key: a\x00b', 'X-NRF-Key\x00: a', 'Bad Header: a', 'X: a\rb']) {
      assert.match(await get(`${api}/stories`, [line]), /^HTTP\/1\.1 400 /, line);
    }
    assert.match(
      await get(`${api}/stories`, ['If-None-Match: \xff"', 'Accept: \xff/\xff, ;;;q=x', 'Range: \xff']),
      / 200 /,
    );
  });

  await t.test('random requests neither fail nor leak', async () => {
    const word = fc.oneof(
      fc.constantFrom('stories', 'search', 'days', 'posts', 'proof', 'keys', 'agent', 'airing', 'high-water', '..', ''),
      fc.string({ unit: 'binary', maxLength: 20 }).map((text) => encodeURIComponent(text.toWellFormed())),
      fc
        .uint8Array({ maxLength: 8 })
        .map((bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')),
    );
    const pair = fc.tuple(fc.oneof(fc.constantFrom('q', 'limit', 'cursor', 'since', 'url'), word), word);
    const header = fc.constantFrom('accept', 'if-none-match', 'range', 'origin', 'content-type', 'idempotency-key');
    const value = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code === 0x7f ? 0x20 : code)),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'),
        fc.array(word, { maxLength: 4 }),
        fc.array(pair, { maxLength: 3 }),
        fc.dictionary(
          header,
          value.filter((text) => text.trim() === text),
          { maxKeys: 2 },
        ),
        fc.constantFrom(undefined, open.read, open.agent, shut.admin),
        async (method, segments, query, more, key) => {
          const path = `${api}/${segments.join('/')}?${query.map((one) => one.join('=')).join('&')}`;
          const about = { ...more, ...(key === undefined ? {} : { 'x-nrf-key': key }) };
          const { status, text } = await send(url, { method, path, headers: about });
          assert.ok(status < 500, `${method} ${path} ${JSON.stringify(about)} ${text}`);
          assert.doesNotMatch(text, LEAK);
          // Beyond the API are the paper's own files, and a page for what is missing among them.
          const isDoor = !segments.includes('..');
          if (isDoor && status >= 400 && method !== 'HEAD' && text !== '')
            assert.equal(typeof JSON.parse(text).error, 'string');
        },
      ),
      { numRuns: 600 },
    );
  });

  await t.test('the log holds no key and no address of a caller', async () => {
    await stop();
    assert.match(said.stderr, /"path":"\/the-open\/api\/v1\/stories"/);
    for (const key of [...Object.values(open), ...Object.values(shut)]) {
      assert.ok(!said.stderr.includes(key.slice(4, 20)), 'no key');
    }
    // Links for first seats are at the server's own address.
    assert.doesNotMatch(
      said.stderr.replaceAll(/.*\/console\/first\?token=.*/g, ''),
      /remoteAddress|127\.0\.0\.1|zanzibar/i,
    );
    assert.deepEqual(failuresIn(said), []);
  });
});

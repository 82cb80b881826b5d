import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountStand } from '../support/account-fixture.ts';
import { tempFolder } from '../support/app-context.ts';
import { shout } from '../support/raw.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { enterPapers } from '../support/small-papers.ts';

const FORM_MAX = 16_384;
const FORM = 'application/x-www-form-urlencoded';

/** Sends a form, its length told or in chunks. Gives the status and the text of the answer. */
async function post(url: string, path: string, body: string, more: Record<string, string> = {}, isChunked = false) {
  const headers = { Host: new URL(url).host, 'Content-Type': FORM, Accept: 'application/json', ...more };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${path} HTTP/1.1\r\n${lines.join('')}Connection: close\r\n`;
  const text = await shout(
    url,
    isChunked
      ? `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      : `${head}Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text };
}

/** A form of that many bytes whose fields are few. */
const long = (bytes: number) => `filler=${'x'.repeat(bytes - 7)}`;

async function assertLimited(url: string, path: string, headers: Record<string, string> = {}) {
  for (const isChunked of [false, true]) {
    const tooLong = await post(url, path, long(FORM_MAX + 1), headers, isChunked);
    assert.equal(tooLong.status, 413, `${path}: ${tooLong.text.slice(0, 600)}`);
    assert.match(tooLong.text, /the form is larger than 16384 bytes \(16 KiB\); send less/i, path);
    const just = await post(url, path, long(FORM_MAX), headers, isChunked);
    assert.notEqual(just.status, 413, `${path} reads 16 KiB`);
    const hostile = await post(url, path, 'a&'.repeat(500_000), headers, isChunked);
    assert.equal(hostile.status, 413, path);
  }
}

test('a form to a paper is read up to 16 KiB, and its fields are counted before', async (t) => {
  const folder = tempFolder(t);
  await enterPapers(folder, [{ slug: 'the-post' }]);
  const { url } = await serveHere(t, folder);
  for (const path of ['api/v1/subscribers', 'subscribe/confirm', 'subscribe/manage', 'subscribe/unsubscribe']) {
    await assertLimited(url, `/the-post/${path}`);
    const many = await post(url, `/the-post/${path}`, 'a&'.repeat(1_000));
    assert.equal(many.status, 400, path);
    assert.match(many.text, /the form has 1001 fields, more than 1000; send those it needs/, path);
    const few = await post(url, `/the-post/${path}`, `${'a&'.repeat(998)}a`);
    assert.doesNotMatch(few.text, /fields/, path);
  }
  const boundary = 'x';
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n${'x'.repeat(FORM_MAX)}\r\n--${boundary}--\r\n`;
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  const multipart = await send(url, { method: 'POST', path: '/the-post/subscribe/unsubscribe', headers, body: part });
  assert.equal(multipart.status, 413, multipart.text);
  const filed = JSON.stringify({ prose: 'x'.repeat(100_000) });
  const json = { 'Content-Type': 'application/json' };
  assert.notEqual(
    (await post(url, '/the-post/api/v1/stories', filed, json)).status,
    413,
    'no form is as long as a piece',
  );
});

test('a form of an account is read up to 16 KiB, and its fields are counted before', async (t) => {
  const stand = await accountStand(t);
  const visitor = await stand.signIn('ada@example.org');
  const headers = { Origin: stand.app.settings.dataOrigin, Cookie: visitor.cookie };
  for (const path of [
    '/account/sign-in',
    '/account/enter',
    '/account/unsubscribe?account=a&token=b',
    '/account/groups',
    '/account/keys',
    '/account/alerts',
    '/account/sign-out',
  ]) {
    await assertLimited(stand.url, path, headers);
  }
  for (const path of ['/account/sign-in', '/account/enter', '/account/groups']) {
    const many = await post(stand.url, path, 'a&'.repeat(1_000), headers);
    assert.equal(many.status, 400, path);
    assert.match(many.text, /the form has 1001 fields, more than 1000; send those it needs/i, path);
  }
});

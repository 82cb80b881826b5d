import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { outboxFolder } from '../../src/shared/files/outbox.ts';
import { tempFolder } from '../support/app-context.ts';
import { serveHere } from '../support/serve-here.ts';

const ROOT = '/newsstand/outbox/';

/** Unlike `fetch`, sends any Host. */
function ask(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; policy: string }> {
  return new Promise((resolve, reject) => {
    request(new URL(path, url), { headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          text,
          policy: String(answer.headers['content-security-policy'] ?? ''),
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

async function writeMail(folder: string, more: { subject?: string; html?: string; text?: string } = {}): Promise<void> {
  await outboxFolder(join(folder, 'var/outbox')).send({
    from: { name: 'The Quay', address: 'quay@news.example' },
    to: 'reader@example.org',
    messageId: '<one.two@news.example>',
    subject: 'Confirm <b>this</b>',
    text: 'Open https://news.example/confirm?token=abc&x=1 to confirm.',
    html: '<p>Confirm</p><script>alert(1)</script>',
    headers: {},
    ...more,
  } as never);
}

test('without a mail server, this machine reads its mails in a browser; nobody else does', async (t) => {
  const folder = tempFolder(t);
  const { url } = await serveHere(t, folder, { SERVICES: 'desk' });
  assert.match((await ask(url, ROOT)).text, /No mail yet/);
  await writeMail(folder);
  const list = await ask(url, ROOT);
  assert.equal(list.status, 200);
  assert.match(list.text, /<a href="one\.two">Confirm &lt;b&gt;this&lt;\/b&gt;<\/a>/);
  assert.match(list.text, /reader@example\.org/);
  const mail = await ask(url, `${ROOT}one.two`);
  assert.match(mail.text, /<a href="https:\/\/news\.example\/confirm\?token=abc&amp;x=1">/);
  assert.match(mail.policy, /^default-src 'none'/);
  const body = await ask(url, `${ROOT}one.two/html`);
  assert.match(body.text, /<p>Confirm<\/p>/);
  assert.match(body.policy, /^sandbox; default-src 'none'/);

  for (const [path, headers] of [
    [ROOT, { Host: 'news.example' }],
    [ROOT, { 'X-Forwarded-For': '203.0.113.7' }],
    [`${ROOT}one.two`, { Forwarded: 'for=203.0.113.7' }],
    [`${ROOT}one.two/html`, { 'X-Real-IP': '127.0.0.1' }],
    [`${ROOT}none`, {}],
    [`${ROOT}..%2f..%2fsecret`, {}],
  ] as const) {
    const { status, text } = await ask(url, path, headers);
    assert.equal(status, 404, `${path} ${JSON.stringify(headers)}`);
    assert.doesNotMatch(text, /reader@example/);
  }
});

test('with a mail server there is no outbox', async (t) => {
  const folder = tempFolder(t);
  await writeMail(folder);
  const more = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'desk@news.example' };
  const { url } = await serveHere(t, folder, { SERVICES: 'desk', ...more });
  assert.equal((await ask(url, ROOT)).status, 404);
  assert.equal((await ask(url, `${ROOT}one.two`)).status, 404);
});

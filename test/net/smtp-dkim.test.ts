import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { smtpMailer } from '../../src/shared/net/smtp.ts';
import { appContextIn, createPaper, tempFolder } from '../support/app-context.ts';
import { checkDkim } from '../support/dkim.ts';
import { senderOf } from '../support/mails.ts';
import { publish, queueAll } from '../support/newsroom.ts';
import { confirmedReader } from '../support/readers.ts';
import { smtpServer } from '../support/smtp.ts';

test('a mail is signed as RFC 6376 wants it, with both headers of the one-click unsubscribing', async (t) => {
  const folder = tempFolder(t);
  const keyFile = join(folder, 'dkim.pem');
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  writeFileSync(keyFile, pair.privateKey);
  const server = await smtpServer(t);
  const mailer = smtpMailer({
    url: `smtp://127.0.0.1:${server.port}`,
    from: 'alerts@news.example',
    dkim: { selector: '2026a', keyFile },
  });
  t.after(() => mailer.close());
  const app = appContextIn(t, folder, { now: Date.now() }, { ORIGIN: 'https://news.example' });
  createPaper(app, { nameplate: 'Ämter  und Häfen', contact: 'desk@news.example' });
  confirmedReader(app, 'ada@example.org', { cadence: 'instant' });
  publish(app, 'high-water', { headline: 'Hochwässer,  zwei' });
  queueAll(app);
  await senderOf(app, mailer).idle();
  const raw = server.taken[0]?.raw ?? Buffer.alloc(0);
  const check = checkDkim(raw, pair.publicKey);
  assert.deepEqual([check.bodyHolds, check.signatureHolds], [true, true]);
  const tag = (name: string) => check.tags.get(name);
  assert.deepEqual(
    [tag('a'), tag('c'), tag('d'), tag('s')],
    ['rsa-sha256', 'relaxed/relaxed', 'news.example', '2026a'],
  );
  for (const name of [
    'from',
    'to',
    'subject',
    'date',
    'message-id',
    'list-unsubscribe',
    'list-unsubscribe-post',
    'list-id',
  ]) {
    assert.ok(check.signed.includes(name), name);
  }
  const other = (from: string, to: string) => {
    const text = raw.toString('latin1');
    assert.ok(text.includes(from));
    return checkDkim(Buffer.from(text.replace(from, to), 'latin1'), pair.publicKey);
  };
  assert.equal(other('One-Click', 'Two-Click').signatureHolds, false);
  assert.equal(other('AI persona', 'AN persona').bodyHolds, false);
});

test('a key that cannot sign stops the start: no mail goes out unsigned', (t) => {
  const folder = tempFolder(t);
  const keyFile = join(folder, 'dkim.pem');
  const open = () => smtpMailer({ url: 'smtp://127.0.0.1', from: 'a@news.example', dkim: { selector: 'a', keyFile } });
  assert.throws(open, { code: 'unavailable', message: /DKIM_KEY_FILE/ });
  writeFileSync(keyFile, 'not a key');
  assert.throws(open, { code: 'unavailable' });
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  assert.throws(open, { code: 'unavailable', message: /not an RSA one/ });
});

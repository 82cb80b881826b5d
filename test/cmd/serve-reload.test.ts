import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { RestartableJob } from '../../src/cmd/serve/jobs.ts';
import { coalesced, reload, reloadedSettings } from '../../src/cmd/serve/reload.ts';
import { readSettings, readSettingsAgain, type Settings } from '../../src/server/env.ts';
import type { ServerLog } from '../../src/server/server-log.ts';
import { Fault } from '../../src/shared/fault.ts';
import { smtpOf } from '../../src/shared/net/smtp.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

/** Runs the test in a folder of its own, as a server runs beside its `.env`. */
function inFolder(t: TestContext): string {
  const folder = tempFolder(t);
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => {
    // The variables of its `.env` are no longer in force.
    rmSync('.env', { force: true });
    readSettings();
    process.chdir(before);
  });
  return folder;
}

/** What a reload wrote to the log. */
async function reloadedWith(parts: { app: ReturnType<typeof appContextIn>; jobs: RestartableJob[] }) {
  const said: { fields: Record<string, unknown>; message: string }[] = [];
  const take = (fields: Record<string, unknown>, message: string) => void said.push({ fields, message });
  const logger = { level: 'info', info: take, warn: take, error: take } as unknown as ServerLog;
  await reload(parts.app, parts.jobs, logger);
  return said;
}

test('signals that come during a reload are one more, and none after the end', async () => {
  const gates: (() => void)[] = [];
  const work = coalesced(() => new Promise((resolve) => gates.push(resolve)));
  for (let n = 0; n < 50; n++) work.request();
  assert.equal(gates.length, 1);
  gates[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(gates.length, 2);
  for (let n = 0; n < 50; n++) work.request();
  const ended = work.end();
  gates[1]?.();
  await ended;
  work.request();
  assert.equal(gates.length, 2);
});

test('a job that is stopped while it restarts does not start again', async () => {
  const gate = Promise.withResolvers<void>();
  let starts = 0;
  const job = new RestartableJob('a job', {} as Settings, () => () => {
    starts++;
    return () => gate.promise;
  });
  const restarted = job.restart(job.prepare({} as Settings));
  const stopped = job.stop();
  gate.resolve();
  await Promise.all([restarted, stopped]);
  assert.equal(starts, 1);
});

test('a reload is all or nothing, and says what runs', async (t) => {
  const folder = inFolder(t);
  const env = join(folder, '.env');
  const app = appContextIn(t, folder, { now: Date.now() });
  const { mailsPerMinute } = app.settings;
  /** With which limit each job runs now; null when it does not run. */
  const running = new Map<string, number | null>();
  let refused = (_name: string, _limit: number | null): void => {};
  const job = (name: string) =>
    new RestartableJob(name, app.settings, ({ mailsPerMinute: limit }) => () => {
      refused(name, limit);
      running.set(name, limit);
      return async () => void running.set(name, null);
    });
  const jobs = [job('one'), job('two')];
  const state = () => [app.settings.mailsPerMinute, running.get('one'), running.get('two')];

  writeFileSync(env, 'MAILS_PER_MINUTE=7\nKEYED_DAILY=9\n');
  refused = (name, limit) => {
    if (name === 'two' && limit === 7) throw new Error('no file descriptors');
  };
  const failed = await reloadedWith({ app, jobs });
  assert.deepEqual(state(), [mailsPerMinute, mailsPerMinute, mailsPerMinute]);
  assert.deepEqual(
    failed.map(({ message, fields }) => [message, fields.job]),
    [['nothing was reloaded', 'two']],
  );

  refused = () => {};
  // The settings were not taken over, so they are still news.
  const [info, warning] = await reloadedWith({ app, jobs });
  assert.deepEqual(state(), [7, 7, 7]);
  assert.deepEqual(info?.fields, { reloaded: ['MAILS_PER_MINUTE'] });
  assert.deepEqual(warning?.fields, { restart: ['KEYED_DAILY'] });
  // Named until the restart, or until it is taken back.
  assert.deepEqual((await reloadedWith({ app, jobs })).at(1)?.fields, { restart: ['KEYED_DAILY'] });
  writeFileSync(env, 'MAILS_PER_MINUTE=7\n');
  assert.deepEqual(
    (await reloadedWith({ app, jobs })).map(({ fields }) => fields),
    [{ reloaded: [] }],
  );

  writeFileSync(env, 'MAILS_PER_MINUTE=8\n');
  refused = (name) => {
    if (name === 'two') throw new Fault('unavailable', 'the disk is full');
  };
  const [stopped] = await reloadedWith({ app, jobs });
  assert.deepEqual(state(), [7, 7, null]);
  assert.deepEqual(stopped, {
    fields: { jobs: ['two'], reason: 'the disk is full' },
    message: 'nothing was reloaded, and these jobs no longer run: restart the server',
  });
});

test('credentials that a lease uses are named until the restart', () => {
  const [inForce, read] = [{ LEASE_URL: 's3://papers/lease' }, { AWS_REGION: 'eu-1' }].map((env) =>
    readSettings({ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', ...env }),
  ) as [Settings, Settings];
  const changed = ['AWS_REGION', 'SHUTDOWN_GRACE'];
  const { reloaded, restart } = reloadedSettings(inForce, read, changed);
  assert.deepEqual([reloaded, restart], [changed, ['AWS_REGION']]);
  assert.deepEqual(reloadedSettings(read, inForce, changed).restart, []);
});

test('a fault in the DKIM key or in PUBLISH_URL leaves the settings and the jobs alone', async (t) => {
  const folder = inFolder(t);
  const env = join(folder, '.env');
  const key = join(folder, 'dkim.pem');
  const app = appContextIn(t, folder, { now: Date.now() });
  let starts = 0;
  const mails = new RestartableJob('mails', app.settings, (settings) => {
    smtpOf(settings)?.close();
    return () => {
      starts++;
      return async () => {};
    };
  });
  const mail = `SMTP_URL=smtp://127.0.0.1:9\nMAIL_FROM=desk@example.org\nDKIM_KEY_FILE=${key}\nDKIM_SELECTOR=a\n`;
  writeFileSync(env, mail);
  writeFileSync(key, 'half a key');
  const before = app.settings;
  const [refused] = await reloadedWith({ app, jobs: [mails] });
  assert.match(String(refused?.fields.reason), /^DKIM_KEY_FILE=.* cannot be used: /);
  assert.deepEqual([app.settings, starts, process.env.DKIM_SELECTOR], [before, 1, undefined]);

  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const [info] = await reloadedWith({ app, jobs: [mails] });
  assert.deepEqual(info?.fields.reloaded, ['DKIM_KEY_FILE', 'DKIM_SELECTOR', 'MAIL_FROM', 'SMTP_URL']);
  assert.deepEqual([app.settings.dkim?.selector, starts, process.env.DKIM_SELECTOR], ['a', 2, 'a']);

  writeFileSync(env, `${mail}PUBLISH_URL=${join(folder, 'var/inside')}\n`);
  const [inside] = await reloadedWith({ app, jobs: [mails] });
  assert.match(String(inside?.fields.reason), /^PUBLISH_URL=.*: must not hold or be within DATA_DIR/);
  assert.deepEqual([app.settings.publishUrl, starts], [null, 2]);

  // As an editor or a full disk may leave it.
  const odd: [Buffer | string | null, RegExp][] = [
    [Buffer.concat([Buffer.from('LOG_LEVEL=info\n# caf'), Buffer.from([0xe9, 0x0a])]), /^\.env, line 2: not UTF-8; /],
    [`LOG_LEVEL=info\n${'\0'.repeat(40)}`, /^\.env, line 2: has a zero byte; /],
    ['', /^\.env has no settings any more; /],
    [null, /^\.env is gone; /],
  ];
  for (const [bytes, reason] of odd) {
    if (bytes === null) rmSync(env);
    else writeFileSync(env, bytes);
    const [said] = await reloadedWith({ app, jobs: [mails] });
    assert.match(String(said?.fields.reason), reason);
    assert.deepEqual([said?.message, app.settings.dkim?.selector, starts], ['nothing was reloaded', 'a', 2]);
  }
  // Some editors begin a file with the mark of the byte order.
  writeFileSync(env, `\uFEFF${mail}`);
  assert.deepEqual(readSettingsAgain().changed, []);
});

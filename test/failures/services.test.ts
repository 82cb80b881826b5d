import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { REST_FIRST, REST_MAX } from '../../src/operate/publish/publish-job.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { FIRST_REST, LONGEST_REST } from '../../src/records/jobs/scan-loop.ts';
import { startDemoNameServer } from '../../src/records/probe/demo-name-server.ts';
import { MAIL_GIVE_UP, mailWait, RETRIES, witnessWait } from '../../src/shared/outbound/retry.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';
import { HOST, LOOKUP, LOOKUP_UNITS, paidEnv, payment } from '../support/paid-fixture.ts';
import { probe } from '../support/probes.ts';
import { run } from '../support/program.ts';
import { TIMES } from '../support/properties.ts';
import { receiver } from '../support/receiver.ts';
import { recordProbes } from '../support/records-fixture.ts';
import { S3Server, storeEnv } from '../support/s3-server.ts';
import { send } from '../support/send.ts';
import { smtpServer } from '../support/smtp.ts';
import { ONLY_WIDE } from '../support/wide.ts';
import { witnessServer } from '../support/witness-server.ts';
import { PAPER, standIn, within } from './fixture.ts';
import { gateTo, nameGateTo } from './gate.ts';
import { documented, pauses, type Row, span } from './table.ts';

// What others' machines do, of which a desk needs none to serve, to file and to sign. All of them are down from before
// the start on, and then well again.

/** How soon each has caught up after a short failure, in ms: the first waits, and some time for a busy machine. */
const SOON = 90_000;

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

interface Finding {
  name: string;
  state: string;
}

test('with every other machine down, reading, filing and storing work; each catches up on recovery', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const smtp = await smtpServer(t);
  const store = await S3Server.start(t);
  const witness = await witnessServer(t);
  const hook = await receiver(t);
  const facilitator = await receiver(t);
  facilitator.answer = (_request, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"isValid":false,"invalidReason":"insufficient_funds"}');
  const names = await startDemoNameServer((name, type) => ({
    code: 'noError',
    records: type === 'A' && name === 'quay.example' ? [{ type: 'A', data: '192.0.2.7' }] : [],
    authority: null,
  }));
  t.after(names.close);
  const portOf = (url: string) => Number(new URL(url).port);
  const gates = {
    mail: await gateTo(t, smtp.port),
    bucket: await gateTo(t, portOf(store.endpoint)),
    witness: await gateTo(t, portOf(witness.url)),
    hook: await gateTo(t, hook.port),
    chain: await gateTo(t, facilitator.port),
    names: await nameGateTo(t, names.port),
  };
  const policy = join(folder, 'policy');
  writeFileSync(policy, `witness w1 ${witness.vkey} ${gates.witness.url}/\nquorum w1\n`);
  const env = {
    SMTP_URL: `smtp://127.0.0.1:${gates.mail.port}`,
    MAIL_FROM: 'desk@example.org',
    LOG_POLICY: policy,
    WEBHOOK_PRIVATE: 'allow',
    RESOLVERS: `127.0.0.1:${gates.names.port}`,
    SCANNER: 'on',
    ...storeEnv(gates.bucket.url),
    ...paidEnv(gates.chain.url, null),
  };
  const clock = { now: Date.now() - 60_000 };
  const app = appContextIn(t, folder, clock);
  recordProbes(app, clock, [probe(HOST, clock.now, { A: ['192.0.2.1'] })]);
  app.store.records.watch([parseHostname('quay.example')], clock.now);
  const stand = await standIn(t, folder, env);
  const { url, records } = stand.serving;
  const desk = (method: string, path: string, body: object) =>
    send(url, { method, path: `/${PAPER}/api/v1/${path}`, headers: { authorization: `Bearer ${stand.key}` }, body });

  // While they are down.
  assert.equal((await desk('POST', 'webhooks', { url: `${gates.hook.url}/hook` })).status, 201);
  const asked = await desk('POST', 'subscribers', { email: 'reader@example.org' });
  const readers = await stand.reading();
  const writers = await stand.filing('while-down');
  const payer = privateKeyToAccount(`0x${'12'.repeat(32)}`);
  const paid = await payment(payer, LOOKUP_UNITS);
  const buy = () => send(records, { path: LOOKUP, headers: paid.headers });
  const unpaid = await buy();
  const keyless = (await send(records, { path: LOOKUP })).status;
  assert.equal(readers, 'front 200, story 200, search 200');
  assert.equal(writers, '201');
  assert.equal(asked.status, 202);
  // Its second attempt is after 5 s, the third 5 minutes later.
  assert.ok(await within(SOON, () => stand.seen(/did not accept a delivery/)));
  gates.hook.isOpen = true;
  const { stdout } = await run(t, folder, ['doctor', '--json'], { ...env, ORIGIN: url, DATA_ORIGIN: records });
  const faults = (JSON.parse(stdout) as { findings: Finding[] }).findings.filter(({ state }) => state === 'fault');
  const log = await stand.logged();
  /** Where a failure is told; a message of the log at most once for each that it is about. */
  const told = (finding: string | null, message?: string, most = 1): string => {
    if (finding !== null)
      assert.ok(
        faults.some(({ name }) => name === finding),
        `doctor names ${finding}`,
      );
    const times = message === undefined ? 0 : (log.get(message) ?? 0);
    if (message !== undefined) assert.ok(times > 0 && times <= most, `“${message}” is logged ${times} times`);
    const said = message === undefined ? [] : [`log: “${message}”`];
    return [...(finding === null ? [] : [`\`doctor\`: ${finding}`]), ...said].join('; ');
  };

  // Well again.
  for (const gate of Object.values(gates)) gate.isOpen = true;
  const again = await buy();
  assert.equal(again.status, 402, 'the facilitator is asked');
  const lastScan = async () => JSON.parse((await send(records, { path: '/health' })).text).last_scan_at as string;
  const caughtUp = async (what: string, ask: () => Promise<boolean> | boolean): Promise<string> => {
    assert.ok(await within(SOON, ask), `not seen: ${what}`);
    return what;
  };
  // It waits for a minute, which only the nightly run does.
  await caughtUp('mails are sent', () => TIMES === 1 || smtp.taken.length > 0);
  const done = {
    bucket: await caughtUp('what changed is published', () =>
      store.objects.has(`site/${PAPER}/stories/while-down/index.html`),
    ),
    witness: await caughtUp('heads are cosigned', () => witness.seen.size === 2),
    hook: await caughtUp('deliveries wait in the database', () =>
      hook.got.some(({ body }) => body.includes('while-down')),
    ),
    host: await caughtUp(
      'hostnames that are due are probed',
      async () => (await lastScan()) !== new Date(clock.now).toISOString(),
    ),
  };
  await stand.assertKept(['while-down']);

  const all = { readers, writers };
  const { reason, message } = JSON.parse(unpaid.text) as { reason: string; message: string };
  const rows: Row[] = [
    {
      failure: 'DNS down',
      readers: `${readers}; records as they were last observed`,
      writers,
      told: told('resolver'),
      after: `${done.host}; tried ${pauses((n) => Math.min(FIRST_REST * 2 ** (n - 1), LONGEST_REST))}`,
    },
    {
      failure: 'Mail server down',
      ...all,
      writers: `${writers}; a subscription: ${asked.status}`,
      told: told('mail server', 'mails: the mail server accepts no mail; every mail waits and is retried'),
      after: `mails wait in the database; each is tried ${pauses(mailWait)}, for ${span(MAIL_GIVE_UP)}`,
    },
    {
      failure: 'Facilitator of payments down',
      readers: `${readers}; records by allowance or key as ever; a payment: ${unpaid.status} \`${reason}\`: “${message}”`,
      writers,
      told: told('payments', 'a payment waits'),
      after: `the same payment, sent again, is checked: ${again.status} where its payer has no money`,
    },
    {
      failure: 'Bucket down',
      readers: `${readers}; the bucket’s readers: what was published`,
      writers,
      told: told('publish'),
      after: `${done.bucket}; tried ${pauses((n) => Math.min(REST_FIRST * 2 ** (n - 1), REST_MAX))}`,
    },
    {
      failure: 'Witnesses down',
      readers: `${readers}; new proofs name a head without cosignatures`,
      writers,
      // One witness of two logs.
      told: told('log of the desk', 'log: a witness did not sign; it is asked again', 2),
      after: `${done.witness}; asked ${pauses((n) => witnessWait(n, () => 0))}; a restart asks at once`,
    },
    {
      failure: 'Receivers of webhooks down',
      ...all,
      told: told(null, 'webhooks: a webhook did not accept a delivery'),
      after: `${done.hook}; tried after ${RETRIES.slice(0, 4).map(span).join(', ')}, and on for ${span(sum(RETRIES))}`,
    },
  ];
  assert.ok([200, 402, 429].includes(keyless));
  for (const row of rows) documented(row);
});

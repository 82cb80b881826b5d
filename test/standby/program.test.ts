import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { tempFolder } from '../support/app-context.ts';
import { run, type Serving, serveAtOnce, until } from '../support/program.ts';
import { BUCKET, S3Server, storeEnv } from '../support/s3-server.ts';
import { send } from '../support/send.ts';
import { enterPapers, storyBody } from '../support/small-papers.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PAPER = 'tide-table';

test('a standby takes over from a primary that was killed, and neither an old copy nor a stopped server signs', {
  skip: ONLY_WIDE,
}, async (t) => {
  const [first, second] = [tempFolder(t), tempFolder(t)];
  const keys = await enterPapers(first, [{ slug: PAPER }]);
  const store = await S3Server.start(t);
  const { PUBLISH_URL: _, ...access } = storeEnv(store.endpoint);
  const env = {
    ...access,
    LEASE_URL: `s3://${BUCKET}/lease`,
    LEASE_TIME: '3s',
    ORIGIN: 'https://papers.example',
    LOG_LEVEL: 'warn',
  };
  let n = 0;
  const headers = { authorization: `Bearer ${keys.get(PAPER)?.admin}` };
  const file = async (server: Serving) => {
    const body = { ...storyBody(`story-${n++}`), air: true };
    const { status, text } = await send(server.url, {
      method: 'POST',
      path: `/${PAPER}/api/v1/stories`,
      headers,
      body,
    });
    return { status, text };
  };
  const size = () => JSON.parse(store.bytes('lease/signer.json') ?? '{}').heads?.desk?.size ?? 0;
  const primary = await serveAtOnce(t, first, env);
  // A server that started slowly may not hold the lease yet.
  await until(async () => ((await file(primary)).status === 201 ? true : null));
  await until(() => (size() > 4 ? true : null));
  await sleep(1_500);
  assert.equal((await run(t, first, ['backup', join(first, 'b')])).code, 0);
  assert.equal((await run(t, second, ['restore', join(first, 'b')])).code, 0);
  const standby = await serveAtOnce(t, second, env);
  const refused = await file(standby);
  assert.equal(refused.status, 503, refused.text);
  assert.match(refused.text, /this server stands by for another one, and changes nothing; try again later/);
  // The log names the other machine, and no answer does: anybody can send a key that is none.
  await until(() =>
    /"reason":"\S+, process \d+ signs, since [^"]+","msg":"nothing is signed here"/.test(standby.said.log)
      ? true
      : null,
  );
  assert.doesNotMatch(refused.text, /process/);
  const preview = (path: string, more: Record<string, string>) =>
    send(standby.url, { method: 'POST', path, headers: { ...headers, ...more }, body: storyBody('shown') });
  assert.equal((await preview(`/${PAPER}/api/v1/preview`, {})).status, 200, 'a preview changes nothing');
  assert.equal((await send(standby.url, { path: `/${PAPER}/api/v1/stories` })).status, 200, 'what it has is served');
  // An order for alerts would be in this copy alone, and its mail never sent.
  const order = { method: 'POST', path: `/${PAPER}/api/v1/subscribers`, body: { email: 'r@reader.example' } };
  const ordered = await send(standby.url, order);
  assert.equal(ordered.status, 503, ordered.text);
  assert.match(ordered.text, /this server stands by for another one, and changes nothing; try again later/);
  const beside = await run(t, second, ['withdraw', 'high-water', '--paper', PAPER, '--reason', 'x'], env);
  assert.match(beside.stderr, /no server on this machine holds the lease of LEASE_URL; start one/);

  const signed = size();
  primary.child.kill('SIGKILL');
  await primary.ended;
  await until(async () => ((await file(standby)).status === 201 ? true : null));
  // Until the standby has announced a head over it, the old copy may still take over.
  await until(() => (size() > signed ? true : null));
  const again = await serveAtOnce(t, first, env);
  assert.equal((await file(again)).status, 503);

  // Stopped for longer than the lease: nobody else has its leaves, and it does not trust itself either.
  standby.child.kill('SIGSTOP');
  await until(() =>
    /has \d+ leaves here, and the server that signed last has signed others, or more: \d+; restore the newest/.test(
      again.said.log,
    )
      ? true
      : null,
  );
  assert.match((await file(again)).text, /this server stands by for another one/);
  standby.child.kill('SIGCONT');
  const { code, stderr } = await standby.ended;
  assert.equal(code, 1);
  assert.match(stderr, /another server may sign now: this one stops; start it again to stand by/);
  assert.equal((await again.stop()).code, 0);
});

test('a holder whose store fails for less than a third of the lease continues, and files meanwhile', {
  skip: ONLY_WIDE,
}, async (t) => {
  const folder = tempFolder(t);
  const keys = await enterPapers(folder, [{ slug: PAPER }]);
  const store = await S3Server.start(t);
  const { PUBLISH_URL: _, ...access } = storeEnv(store.endpoint);
  const env = { ...access, LEASE_URL: `s3://${BUCKET}/lease`, LEASE_TIME: '12s', LOG_LEVEL: 'warn' };
  const server = await serveAtOnce(t, folder, env);
  const headers = { authorization: `Bearer ${keys.get(PAPER)?.admin}` };
  const file = (slug: string) => {
    const body = { ...storyBody(slug), air: true };
    return send(server.url, { method: 'POST', path: `/${PAPER}/api/v1/stories`, headers, body });
  };
  const lease = () =>
    JSON.parse(store.bytes('lease/signer.json') ?? '{}') as {
      beat?: number;
      holder?: { id: string };
      heads?: { desk: { size: number } | null };
    };
  await until(async () => ((await file('before')).status === 201 ? true : null));
  const { holder } = lease();
  for (const [status, more] of [
    [500, {}],
    [429, { 'retry-after': '60' }],
    [503, { 'retry-after': '60' }],
  ] as const) {
    let refused = 0;
    store.intercept = (_request, response) => {
      refused++;
      response.writeHead(status, more).end();
      return true;
    };
    await until(() => (refused > 0 ? true : null));
    assert.equal((await file(`during-${status}`)).status, 201);
    await sleep(2_500);
    store.intercept = () => false;
    const { beat = 0, heads } = lease();
    // It renews the lease, and the head over what was filed meanwhile is signed.
    await until(() => {
      assert.equal(server.child.exitCode, null, server.said.log);
      const now = lease();
      return (now.beat ?? 0) > beat && (now.heads?.desk?.size ?? 0) > (heads?.desk?.size ?? 0) ? true : null;
    });
    assert.equal(lease().holder?.id, holder?.id);
  }
  assert.equal((await server.stop()).code, 0);
});

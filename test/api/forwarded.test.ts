import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { run } from '../support/program.ts';
import { send } from '../support/send.ts';
import { serveHere } from '../support/serve-here.ts';
import { ONLY_WIDE } from '../support/wide.ts';

interface Finding {
  name: string;
  state: string;
  found: string;
  cure?: string;
}

async function proxyFinding(t: TestContext, folder: string, env: Record<string, string> = {}): Promise<Finding> {
  const { stdout } = await run(t, folder, ['doctor', '--json'], { RESOLVERS: '127.0.0.1:9', ...env });
  return (JSON.parse(stdout) as { findings: Finding[] }).findings.find(({ name }) => name === 'proxy') as Finding;
}

test('the log and doctor report a proxy on this machine that no setting names', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const warnings = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.includes('TRUSTED_PROXIES does not name'))
      .map((line) => JSON.parse(line));
  const served = async (env: Record<string, string>, headers: Record<string, string>) => {
    const server = await serveHere(t, folder, { LOG_LEVEL: 'warn', ...env });
    for (const url of [server.url, server.records]) {
      for (let n = 0; n < 3; n++) await send(url, { path: '/health', headers });
    }
    await server.stop();
    return warnings(server.said.stderr);
  };

  assert.deepEqual(await served({}, {}), [], 'callers on this machine are no proxy');
  assert.equal((await proxyFinding(t, folder)).state, 'open');

  for (const headers of [
    { 'x-forwarded-for': '192.0.2.9' },
    { forwarded: 'for=192.0.2.9' },
    { 'x-real-ip': '192.0.2.9' },
  ] as Record<string, string>[]) {
    const said = await served({}, headers);
    assert.deepEqual(
      said.map(({ service }) => service),
      ['desk', 'records'],
      'once for each',
    );
    assert.deepEqual([...new Set(said.map(({ address }) => address))], ['127.0.0.1']);
    assert.doesNotMatch(JSON.stringify(said), /192\.0\.2\.9/, 'a log holds no address of a reader');
  }
  const finding = await proxyFinding(t, folder, { TRUSTED_PROXIES: '127.0.0.1' });
  assert.equal(finding.state, 'fault', 'the server that noted it runs as it did');
  assert.match(finding.found, /^requests to the desk and the records came from a proxy at 127\.0\.0\.1, last noted /);
  assert.match(finding.cure ?? '', /^set TRUSTED_PROXIES=127\.0\.0\.1, .*restart the server$/);

  assert.deepEqual(await served({ TRUSTED_PROXIES: '127.0.0.1' }, { 'x-forwarded-for': '192.0.2.9' }), []);
  const mended = await proxyFinding(t, folder, { TRUSTED_PROXIES: '127.0.0.1' });
  assert.deepEqual([mended.state, mended.found], ['holds', 'X-Forwarded-For is trusted from 127.0.0.1']);
  const supposed = await proxyFinding(t, folder, { ORIGIN: 'https://news.example' });
  assert.match(supposed.found, /a proxy on this machine leads from https:\/\/news\.example to 127\.0\.0\.1/);
});

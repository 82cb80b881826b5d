import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { jwks } from '../../../../src/proof/keyring.ts';
import { tempFolder } from '../../../support/app-context.ts';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { type RecordsStand, recordsStand } from '../../../support/records-fixture.ts';

const NOW = Date.UTC(2026, 10, 21, 9);
const missing = ['openssl', 'curl'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined);

describe('the docs, the verifier’s page and the keys', () => {
  const endings: (() => unknown)[] = [];
  let stand: RecordsStand;
  before(async () => {
    const env = { KEYLESS_DAILY: '4321', KEYED_DAILY: '1234', KEYED_PER_MINUTE: '77' };
    stand = await recordsStand({ after: (work) => void endings.push(work) }, env, NOW);
  });
  after(async () => {
    for (const end of endings) await end();
  });
  const page = (path: string) => ask(stand.url, path, { accept: 'text/html' });

  test('before anything is watched there are docs too', async () => {
    const { status, text } = await page('/docs');
    assert.equal(status, 200);
    assert.match(text, /v1\/domains\/example\.com/);
    assert.doesNotMatch(text, /record_root sha256/);
  });

  test('limits match the settings, examples are real, and every header of the lanes is named', async () => {
    stand.enter(probe('harbor.example', NOW, { A: ['192.0.2.1'], NS: ['ns1.example.net'] }));
    const { text } = await page('/docs');
    for (const number of [
      '4,321',
      '1,234',
      '77 a minute',
      '15 seconds',
      '0.05 credits',
      '1,200 in 60 seconds',
      '20 in 10 minutes',
    ])
      assert.ok(text.includes(number), number);
    const receipt = stand.app.store.records.observation(1)?.receipt ?? '';
    assert.ok(text.includes(receipt.split('\n')[4] ?? '-'), 'the newest receipt');
    const headers = [
      ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'X-Service-Usage', 'X-Service-Usage-Day'],
      ...['X-Service-Usage-Period', 'X-Service-Daily-Allowance', 'X-Service-Daily-Remaining', 'X-Service-Daily-Reset'],
      ...['X-Service-Credits-Allowance', 'X-Service-Credits-Used', 'X-Service-Credits-Remaining'],
      ...[
        'X-Service-Credits-Reset',
        'X-Service-Allowance',
        'X-Service-Remaining',
        'X-Service-Reset',
        'X-Service-Burst',
      ],
    ];
    for (const header of headers) assert.ok(text.includes(`<code>${header}</code>`), header);
    assert.match(text, /closed on this service just now/);
    assert.match(text, /<code>\/v1\/domains\/\{domain\}\/provenance<\/code>/);
  });

  test('each sample runs as it is shown', async (t) => {
    const { text } = await page('/docs');
    const codes = [...text.matchAll(/<div class="panel code">[\s\S]*?<code[^>]*>([\s\S]*?)<\/code>/g)].map(
      ([, code = '']) =>
        code
          .replaceAll(/<[^>]*>/g, '')
          .replaceAll('&quot;', '"')
          .replaceAll('&#39;', "'")
          .replaceAll('&gt;', '>')
          .replaceAll('&lt;', '<')
          .replaceAll('&amp;', '&')
          .replaceAll(stand.app.settings.dataOrigin, stand.url),
    );
    assert.equal(codes.length, 12);
    assert.match(text, /<span class="hl-keyword">(?:import|const|package)/);
    const folder = tempFolder(t);
    const [curl = '', javascript = '', python = ''] = codes;
    writeFileSync(join(folder, 'sample.mjs'), javascript);
    writeFileSync(join(folder, 'sample.py'), python);
    const key = `export KEY=${stand.keyOf('account')}`;
    for (const [tool, run] of [
      ['curl', `${curl} -sf | grep 192.0.2.1`],
      ['node', 'node sample.mjs'],
      ['python3', 'python3 sample.py'],
    ] as const) {
      if (spawnSync(tool, ['--version']).error !== undefined) continue;
      const { code, said } = await shell(folder, `${key}\n${run}`);
      assert.equal(code, 0, said);
      assert.match(said, /192\.0\.2\.1/, tool);
    }
  });

  test('where the docs point to on this service, there is something', async () => {
    const { text } = await page('/docs');
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const [, id] of text.matchAll(/href="#([^"]+)"/g)) assert.ok(ids.has(id), `#${id}`);
    const paths = new Set([...text.matchAll(/href="(\/[^"]*)"/g)].map(([, path]) => path ?? ''));
    for (const path of paths) assert.ok((await page(path)).status < 400, path);
  });

  test('the keys are listed for everybody, for pages of other sites too', async () => {
    const { status, headers, text } = await ask(stand.url, '/.well-known/records-keys.json');
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(text), jwks(stand.app.store.desk.verifyingKeys('records')));
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.match(headers['cache-control'] ?? '', /^public/);
    const again = await ask(stand.url, '/.well-known/records-keys.json', { 'if-none-match': headers.etag ?? '' });
    assert.equal(again.status, 304);
  });

  test('the verifier may fetch what a reader names, and runs scripts of this host only', async () => {
    const { status, headers, text } = await page('/verify?from=/badge/harbor.example.svg');
    assert.equal(status, 200);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /connect-src 'self' https:;/);
    assert.match(policy, /script-src 'self';/);
    for (const [, src] of text.matchAll(/<script[^>]*src="([^"]+)"/g))
      assert.equal((await page(src ?? '')).status, 200, src);
    assert.match(text, /<noscript>/);
  });

  test('a receipt is verified with openssl alone, by the very words of the page', {
    skip: missing.length > 0 && `there is no ${missing.join(', no ')} here`,
  }, async (t) => {
    const { text } = await page('/docs');
    const shown = /<pre[^>]*>(# a receipt:[\s\S]*?)<\/pre>/.exec(text)?.[1] ?? '';
    const steps = shown
      .replaceAll(/&(?:#(\d+)|(\w+));/g, (_, code, name) =>
        code === undefined
          ? ({ amp: '&', lt: '<', gt: '>', quot: '"' }[name as 'amp'] ?? '')
          : String.fromCharCode(code),
      )
      .replaceAll(stand.app.settings.dataOrigin, stand.url);
    const folder = tempFolder(t);
    const good = await shell(folder, steps);
    assert.equal(good.code, 0, good.said);
    assert.match(good.said, /Signature Verified Successfully/);
    assert.equal(readFileSync(join(folder, 'signed.txt'), 'utf8').split('\n')[1], 'domain harbor.example');
    const last = steps.split('\n').findLast((line) => line.startsWith('openssl pkeyutl')) ?? '';
    const signed = readFileSync(join(folder, 'signed.txt'), 'utf8');
    writeFileSync(join(folder, 'signed.txt'), signed.replace('seq 1', 'seq 2'));
    assert.notEqual((await shell(folder, last)).code, 0);
  });
});

/** Runs a script beside the server, which answers from this very process. */
function shell(cwd: string, script: string): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = spawn('sh', ['-e'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
    child.on('close', (code) => resolve({ code, said }));
    child.stdin.end(script);
  });
}

test('every page says where the operator is written to, and so do the document and refusals', async (t) => {
  const CONTACT = 'records+hello@example.org';
  const [silent, told] = [await recordsStand(t), await recordsStand(t, { CONTACT })];
  const key = { 'x-service-key': told.keyOf('account') };
  for (const path of ['/', '/docs', '/search', '/analytics', '/account/sign-in']) {
    const link = /<a href="mailto:records%2Bhello@example\.org" rel="nofollow">records\+hello@example\.org<\/a>/g;
    const { text } = await ask(told.url, path, { accept: 'text/html' });
    assert.equal(text.match(link)?.length, path === '/docs' ? 2 : 1, path);
    const plain = (await ask(silent.url, path, { accept: 'text/html' })).text;
    assert.match(plain, /write to\s+the operator of this service\s+from an address at that name/, path);
    assert.doesNotMatch(plain, /mailto:/);
  }
  const { info } = JSON.parse((await ask(told.url, '/v1/openapi.json')).text);
  assert.deepEqual(info.contact, { email: CONTACT });
  assert.equal(JSON.parse((await ask(silent.url, '/v1/openapi.json')).text).info.contact, undefined);
  const bought = await fetch(`${told.url}/v1/credits`, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: '{"credits": 1}',
  });
  assert.equal(bought.status, 402);
  assert.match(
    await bought.text(),
    /the operator of this service \(records\+hello@example\.org\) to top up your credits/,
  );
});

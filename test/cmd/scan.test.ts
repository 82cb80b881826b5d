import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../support/app-context.ts';
import { startKnot, WITHOUT_SERVERS } from '../support/dns-servers.ts';
import { run } from '../support/program.ts';

test('hostnames are watched, probed on a real server, signed and audited', { skip: WITHOUT_SERVERS }, async (t) => {
  const folder = tempFolder(t);
  const zone = (address: string) => ({ name: 'harbor.example.com', lines: [`@ 60 IN A ${address}`] });
  const first = await startKnot(join(folder, 'first'), [zone('192.0.2.1')]);
  t.after(first.stop);
  const asking = (port: number) => ({ RESOLVERS: `127.0.0.1:${port}` });
  const said = async (args: string[], more: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await run(t, folder, args, more);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  assert.equal(await said(['watch', 'Harbor.example.com.']), 'harbor.example.com is under watch\n');
  assert.equal(await said(['watch', 'harbor.example.com']), 'harbor.example.com was already under watch\n');
  assert.equal(await said(['scan'], asking(first.port)), '1 observed and signed, 0 changes\n');
  assert.equal(await said(['scan'], asking(first.port)), '0 observed and signed, 0 changes\n', 'nothing is due');

  const second = await startKnot(join(folder, 'second'), [zone('192.0.2.2')]);
  t.after(second.stop);
  assert.match(
    await said(['scan', 'harbor.example.com'], asking(second.port)),
    /^harbor\.example\.com A .*192\.0\.2\.2.*\n1 observed and signed, 1 change\n$/,
  );
  assert.match(await said(['audit']), /0 faults/);
  assert.match(await said(['opt-out', 'harbor.example.com', '--reason', 'Its owner asked']), /1 watched name hidden/);
  const out = await run(t, folder, ['watch', 'harbor.example.com']);
  assert.deepEqual([out.code, out.stdout], [1, 'harbor.example.com has opted out and is not probed\n']);
  assert.match(await said(['audit']), /0 faults/);
});

test('a file of expectations is declared for an account, and compared with a real server', {
  skip: WITHOUT_SERVERS,
}, async (t) => {
  const folder = tempFolder(t);
  const knot = await startKnot(join(folder, 'knot'), [{ name: 'harbor.example.com', lines: ['@ 60 IN A 192.0.2.1'] }]);
  t.after(knot.stop);
  const file = join(folder, 'expectations.yaml');
  const expect = (text: string, ...more: string[]) => {
    writeFileSync(file, text);
    return run(t, folder, ['watch', '--expect', file, '--account', 'ada@example.org', ...more]);
  };
  const good = 'names: { harbor.example.com: { A: { values: [192.0.2.1] }, MX: { providers: [Fastmail] } } }';
  assert.match((await expect(good)).stderr, /no account.*ada@example\.org|ada@example\.org/);
  const key = [
    'key',
    'create',
    '--service',
    'records',
    '--level',
    'account',
    '--email',
    'ada@example.org',
    '--name',
    'a',
  ];
  assert.equal((await run(t, folder, key)).code, 0);
  const fresh = await expect(good);
  assert.deepEqual(
    [fresh.code, fresh.stdout],
    [
      0,
      'harbor.example.com is under watch\nharbor.example.com A is not known yet\nharbor.example.com MX is not known yet\n',
    ],
  );
  assert.equal((await run(t, folder, ['scan'], { RESOLVERS: `127.0.0.1:${knot.port}` })).code, 0);
  const known = await expect(good, 'more.example.com');
  assert.equal(known.code, 1);
  assert.match(known.stdout, /^more\.example\.com is under watch\n/m);
  assert.match(known.stdout, /^harbor\.example\.com A is as expected\n/m);
  assert.match(known.stdout, /^harbor\.example\.com MX is NOT as expected: no records instead of at Fastmail\n/m);
  const json = JSON.parse((await expect(good, '--json')).stdout);
  assert.partialDeepStrictEqual(json.expectations, [
    { signal: 'A', state: 'expected', seen: ['192.0.2.1'] },
    { signal: 'MX' },
  ]);
  const bad = await expect('names:\n  a.example.com: { A: { values: [x] }, AAAA: { prefixes: ["::/0"] } }\n');
  assert.deepEqual([bad.code, bad.stdout], [1, '']);
  assert.match(bad.stderr, /names\.a\.example\.com\.AAAA\.prefixes: .*match every address/);
  assert.match(bad.stderr, /^broadsheet: names\.a\.example\.com\.A\.values\[0\]: "x": is not a value of A/m);
  assert.match((await run(t, folder, ['watch', '--expect', file])).stderr, /--expect goes with --account/);
  assert.match((await run(t, folder, ['audit'])).stdout, /0 faults/);
});

test('an invalid or unwatched name is rejected in one line', async (t) => {
  const folder = tempFolder(t);
  const cases: [args: string[], refusal: RegExp][] = [
    [['watch'], /^broadsheet: give hostnames, or a file of expectations with --expect\n$/],
    [['watch', '0x7f.1'], /^broadsheet: .*0x7f\.1.*\n$/],
    [['watch', 'ok.example.com', 'a..b.com'], /^broadsheet: .*a\.\.b\.com.*\n$/],
    [
      ['scan', 'nobody.example.com'],
      /^broadsheet: nobody\.example\.com is not under watch; `npm run -s broadsheet -- watch/,
    ],
    [['opt-out', 'ok.example.com', '--reason', ' '], /^broadsheet: --reason must be one line/],
    [['opt-out', 'com', '--reason', 'x'], /^broadsheet: .*com.*\n$/],
  ];
  for (const [args, refusal] of cases) {
    const { code, stderr } = await run(t, folder, args);
    assert.equal(code, 1);
    assert.match(stderr, refusal);
  }
});

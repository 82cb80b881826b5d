import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WITHOUT_CHAIN } from '../support/chain.ts';
import { ONLY_WIDE } from '../support/wide.ts';

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));

test('npm run demo:pay makes a paid call with each client, and the money adds up', {
  skip: ONLY_WIDE || WITHOUT_CHAIN,
}, async () => {
  const { scripts } = JSON.parse(readFileSync(`${PROJECT}package.json`, 'utf8'));
  const args = /^exec node (.+)$/.exec(scripts['demo:pay'])?.[1]?.split(' ') ?? assert.fail('it runs by node');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: PROJECT });
  assert.equal(stderr, '');
  assert.match(stdout, /without a payment: 402, “this read costs 0\.005 USDC/);
  const [, url = ''] = /^records +(http:\S+)$/m.exec(stdout) ?? [];
  assert.ok(url !== '' && stdout.includes(`made at ${url}/account`), 'its 402 leads to the records that run');
  assert.equal(stdout.match(/^payer [12] with .*: 200, example\.org, /gm)?.length, 2);
  assert.equal(stdout.match(/settled in transaction 0x[0-9a-f]{64}$/gm)?.length, 2);
  const [, before = '', after = ''] = /balances before\n(.*?)\n\n.*balances after\n(.*)\n\n/s.exec(stdout) ?? [];
  const amounts = (text: string) => [...text.matchAll(/ ([\d.]+) USDC$/gm)].map(([, amount]) => amount);
  assert.deepEqual(amounts(before), ['1', '1', '0']);
  assert.deepEqual(amounts(after), ['0.995', '0.995', '0.01']);
});

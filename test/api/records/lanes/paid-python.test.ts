import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { generatePrivateKey } from 'viem/accounts';
import { WITHOUT_CHAIN } from '../../../support/chain.ts';
import { LIST_UNITS, LOOKUP, LOOKUP_UNITS, PAYEE, paidStand } from '../../../support/paid-fixture.ts';

/** What the program needs of `pip install 'x402[evm,requests]'`. */
const IMPORTS = `
import json, sys
from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients.requests import x402_requests
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client
`;

/** Pays for the addresses of its arguments as the package's documentation says, and prints what it got. */
const PROGRAM = `${IMPORTS}
key, preference, *addresses = sys.argv[1:]
client = x402ClientSync()
register_exact_evm_client(client, EthAccountSigner(Account.from_key(key)))
with x402_requests(client) as session:
    for address in addresses:
        answer = session.get(address, headers={"Prefer": preference} if preference else {})
        print(json.dumps({"status": answer.status_code, "body": answer.json()}))
`;

const WITHOUT_PACKAGE =
  spawnSync('python3', ['-c', IMPORTS], { stdio: 'ignore' }).status !== 0 &&
  "needs python3 with x402: pip install 'x402[evm,requests]'";

test('the client of Python buys a lookup, by address or by preference', {
  skip: WITHOUT_CHAIN || WITHOUT_PACKAGE,
}, async (t) => {
  const { url, chain } = await paidStand(t);
  const key = generatePrivateKey();
  await chain.payer(1_000_000, key);
  const buy = async (preference: string, ...paths: string[]) => {
    const args = ['-c', PROGRAM, key, preference, ...paths.map((path) => url + path)];
    const { stdout } = await promisify(execFile)('python3', args);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: number; body: Record<string, unknown> });
  };
  const [lookup, list] = await buy('', `${LOOKUP}?pay=1`, '/v1/changes');
  assert.deepEqual([lookup?.status, lookup?.body.signed, list?.status], [200, true, 200]);
  assert.equal(await chain.balance(PAYEE), LOOKUP_UNITS + LIST_UNITS);
  const [preferred] = await buy('payment', LOOKUP);
  assert.deepEqual([preferred?.status, preferred?.body.signed], [200, true]);
  assert.equal(await chain.balance(PAYEE), 2 * LOOKUP_UNITS + LIST_UNITS);
});

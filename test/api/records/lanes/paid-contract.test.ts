import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WITHOUT_CHAIN } from '../../../support/chain.ts';
import { Contract, type Document, type Operation, type Sending } from '../../../support/contract.ts';
import { ask } from '../../../support/http.ts';
import { LIST_UNITS, LOOKUP, LOOKUP_UNITS, paidStand, payment } from '../../../support/paid-fixture.ts';

test('every answer of the paid lane is one that the document promises', { skip: WITHOUT_CHAIN }, async (t) => {
  const { url, chain, facilitator } = await paidStand(t);
  const contract = new Contract(JSON.parse((await ask(url, '/v1/openapi.json')).text) as Document);
  const reads = contract.operations.filter(({ method }) => method === 'GET');
  const operationAt = (path: string) => reads.find((one) => one.path === path) as Operation;
  const payer = await chain.payer();
  const poor = await chain.payer(0);
  const lost = await chain.payer();
  facilitator.treat(lost, { verify: 'fails' });
  const paying = async (who: typeof payer, units: number, version: 1 | 2 = 1) =>
    (await payment(who, units, { version })).headers;
  const spent = await paying(payer, LIST_UNITS);

  const asked: [status: number, door: string, path: string, headers: Record<string, string>][] = [
    [402, '/v1/domains', '/v1/domains', {}],
    [200, '/v1/domains', '/v1/domains', spent],
    [200, '/v1/domains', '/v1/domains', spent],
    [409, '/v1/changes', '/v1/changes', spent],
    [200, '/v1/changes', '/v1/changes', await paying(payer, LIST_UNITS, 2)],
    [402, '/v1/changes', '/v1/changes', await paying(payer, 1)],
    [402, '/v1/changes', '/v1/changes', await paying(poor, LIST_UNITS, 2)],
    [400, '/v1/changes', '/v1/changes', { 'X-PAYMENT': 'pay' }],
    [200, '/v1/domains/{domain}', LOOKUP, await paying(payer, LOOKUP_UNITS)],
    [404, '/v1/domains/{domain}', '/v1/domains/nobody.example', await paying(payer, LOOKUP_UNITS)],
    [503, '/v1/domains/{domain}', LOOKUP, await paying(lost, LOOKUP_UNITS)],
  ];
  for (const [status, door, path, headers] of asked) {
    for (const accept of ['application/json', 'application/problem+json']) {
      const sent: Sending = { method: 'GET', path, headers: { ...headers, accept } };
      const answer = await ask(url, path, sent.headers);
      assert.equal(answer.status, status, `${path}: ${answer.text}`);
      contract.check(operationAt(door), sent, answer);
    }
  }
});

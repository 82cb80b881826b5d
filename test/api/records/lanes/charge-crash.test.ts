import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import { makeServiceKey } from '../../../../src/records/accounts/service-key.ts';
import { newId } from '../../../../src/shared/new-id.ts';
import { appContextIn, tempFolder } from '../../../support/app-context.ts';
import { ask } from '../../../support/http.ts';
import { probe } from '../../../support/probes.ts';
import { serve, until } from '../../../support/program.ts';
import { recordProbes } from '../../../support/records-fixture.ts';
import { ONLY_WIDE } from '../../../support/wide.ts';

const PATH = '/v1/domains/example.org';
const CALLERS = 8;
/** How many answers arrive before the process is killed. */
const ANSWERS = 60;

test('kill -9 under load: every answer that arrived was charged', { skip: ONLY_WIDE }, async (t) => {
  const folder = tempFolder(t);
  const clock = { now: Date.now() };
  const app = appContextIn(t, folder, clock);
  recordProbes(app, clock, [probe('example.org', clock.now, { A: ['192.0.2.1'] })]);
  const { id: account } = app.store.records.accounts.ofEmail('ada@example.org', {
    id: newId(),
    plan: 'daily',
    made_at: 0,
  });
  const maker = { keys: app.store.records.serviceKeys, now: () => clock.now, newId, random: randomBytes, by: 'cli' };
  const { key } = makeServiceKey(maker, { account, level: 'account', name: 'Ada' });
  const { records, child } = await serve(t, folder, {
    SERVICES: 'records',
    KEYED_PER_MINUTE: '1000000',
    KEYED_DAILY: '1000000',
  });

  let answers = 0;
  const callUntilKilled = async () => {
    for (;;) {
      const answer = await ask(records, PATH, { 'x-service-key': key }).catch(() => null);
      if (answer === null) return;
      assert.equal(answer.status, 200, answer.text);
      answers++;
    }
  };
  const callers = Array.from({ length: CALLERS }, callUntilKilled);
  await until(() => (answers >= ANSWERS ? true : null));
  child.kill('SIGKILL');
  await Promise.all([...callers, once(child, 'close')]);

  const charges = app.store.records.meter.days(account, '2026-01-01').reduce((sum, { included }) => sum + included, 0);
  assert.ok(charges >= answers, `${answers} answers, but ${charges} charges`);
  assert.ok(charges <= answers + CALLERS, `${charges} charges for ${answers} answers and at most ${CALLERS} lost ones`);
});

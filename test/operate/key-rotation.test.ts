import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyNode } from '../../src/proof/ed25519.ts';
import { signingPeriodFaults } from '../../src/proof/key-text.ts';
import { parseObservation } from '../../src/proof/records/receipt.ts';
import { deskOf } from '../../src/server/context.ts';
import { signingKeyFile } from '../../src/shared/files/data-folder.ts';
import { rotateSigningKey } from '../../src/signing/signing-key.ts';
import { signingName } from '../../src/signing/signing-name.ts';
import { appContextIn } from '../support/app-context.ts';
import { HOUR, probe } from '../support/probes.ts';
import { evidenceFaults, evidenceOf } from '../support/records-faults.ts';
import { recordsStand } from '../support/records-fixture.ts';

test('a service that runs on signs with the new key from the moment that another process rotates it', async (t) => {
  const stand = await recordsStand(t);
  const { app, clock } = stand;
  const start = clock.now;
  stand.enter(probe('harbor.example', start, { A: ['192.0.2.1'] }));
  const old = deskOf(app).signingKey.kid;

  const other = appContextIn(t, app.settings.dataDir.replace(/\/var$/, ''), clock);
  clock.now = start + HOUR;
  const { kid } = rotateSigningKey(other.store, signingKeyFile(app.settings), signingName(app.settings), clock.now);
  clock.now += HOUR;
  stand.enter(probe('harbor.example', clock.now, { A: ['192.0.2.2'] }));

  const { records } = app.store;
  const chain = [...records.observationsOf(records.find('harbor.example')?.id ?? 0)];
  const said = chain.map(({ receipt }) => parseObservation(receipt.slice(0, receipt.lastIndexOf('\n\n') + 1)));
  assert.deepEqual(
    said.map((receipt) => receipt?.kid),
    [old, kid],
  );
  const keys = app.store.desk.verifyingKeys('records');
  assert.deepEqual(evidenceFaults(evidenceOf('harbor.example', chain, keys), verifyNode, keys), []);
  for (const receipt of said) {
    const key = keys.find((one) => one.kid === receipt?.kid);
    assert.ok(receipt !== null && key !== undefined);
    assert.deepEqual(signingPeriodFaults('observed', receipt.observed_at, key), []);
  }
  const ended = await (await fetch(`${stand.url}/.well-known/records-keys.json`)).json();
  assert.deepEqual(
    (ended as { keys: { retired_at: string | null }[] }).keys.map(({ retired_at }) => retired_at),
    [new Date(start + HOUR).toISOString(), null],
  );
});

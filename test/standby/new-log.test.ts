import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLogKey } from '../../src/signing/log/log-key.ts';
import { signerStatus } from '../../src/signing/signer.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

// docs/machine-gone.md, step 4: the copy lacks leaves that are lost, and the operator begins a new log over the others.
test('a copy that lacks what was signed may sign under a new name, once the key of the lost log is moved away', async (t) => {
  const [folder, lease] = [tempFolder(t), tempFolder(t)];
  const env = { LEASE_URL: lease, ORIGIN: 'https://papers.example' };
  const open = (more = {}) => appContextIn(t, folder, { now: Date.UTC(2026, 10, 20) }, { ...env, ...more });
  const lost = { origin: 'papers.example/log', size: 99, root: Buffer.alloc(32, 1).toString('base64') };
  const record = { broadsheet: 1, desk: 'x', holder: null, beat: 1, heads: { desk: lost, records: null } };
  writeFileSync(join(lease, 'signer.json'), JSON.stringify(record));

  const before = open();
  openLogKey(before, 'desk');
  assert.match((await signerStatus(before))?.reason ?? '', /others, or more: 99; restore the newest copy/);
  before.close();
  rmSync(join(folder, 'var/log.key'));
  const same = open();
  assert.match((await signerStatus(same))?.reason ?? '', /others, or more: 99/, 'the same name is the same log');
  same.close();
  const after = open({ LOG_ORIGIN: 'papers.example/log-2' });
  assert.match((await signerStatus(after))?.reason ?? '', /the next one to start takes it/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acquirePressLease } from '../../src/desk/jobs/press-lease.ts';
import { LockedFault } from '../../src/shared/fault.ts';

test('a press that ended while the database was locked keeps the next one of this process waiting for nothing', async () => {
  let owner: string | null = null;
  let isLocked = false;
  const table = {
    acquireLease(_: string, who: string) {
      if (owner !== null) return false;
      owner = who;
      return true;
    },
    renewLease: () => true,
    leaseOwner: () => owner,
    releaseLease() {
      if (isLocked) throw new LockedFault('locked');
      owner = null;
    },
  };
  const first = await acquirePressLease(table, 'paper');
  isLocked = true;
  first.release();
  isLocked = false;
  const next = await acquirePressLease(table, 'paper', AbortSignal.timeout(5_000));
  assert.equal(owner, next.token);
  next.release();
  assert.equal(owner, null);
});

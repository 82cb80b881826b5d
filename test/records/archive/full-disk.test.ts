import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { auditApp } from '../../../src/operate/audit/audit.ts';
import { DAY } from '../../../src/proof/time.ts';
import { runArchiver } from '../../../src/records/jobs/archive-run.ts';
import { DiskFault } from '../../../src/shared/fault.ts';
import { LEASE_TIME, requestLease } from '../../../src/shared/workers/lease.ts';
import { appContextIn, fileScope, tempFolder } from '../../support/app-context.ts';
import { NOON, observeDays } from '../../support/archive.ts';
import { fill, mounted } from '../../support/small-disk.ts';
import { ONLY_WIDE } from '../../support/wide.ts';

const isWide = ONLY_WIDE === false;
const DAYS = 5;
const NAMES = Array.from({ length: isWide ? 60 : 40 }, (_, n) => `name-${n}.example`);
const FIRST = NOON - (DAYS - 1) * DAY;
let model = '';

const scope = fileScope();
before(() => {
  model = tempFolder(scope);
  const clock = { now: FIRST };
  const app = appContextIn(scope, model, clock);
  observeDays(app, clock, DAYS, NAMES);
  // Otherwise there is room in its file.
  assert.equal(app.store.database.emptyWal(), true);
  app.close();
});

/** Bytes that are free when the archiver starts: it gets to its lease, its objects, a commit, or the next ones. */
const FREE = isWide ? [0, 40_000, 240_000] : [160_000];

for (const full of ['DATA_DIR', 'ARCHIVE_URL'] as const) {
  test(`with a full disk of ${full} nothing is lost, and the archiver goes on when there is room`, {
    skip: ONLY_WIDE,
  }, async (t) => {
    const disk = mounted(t, 'size=128m');
    if (disk === null) return t.skip('this user may not mount a small disk');
    for (const [n, free] of FREE.entries()) {
      const folder = join(disk, String(n));
      const other = tempFolder(t);
      const [data, archive] = full === 'DATA_DIR' ? [folder, join(other, 'archive')] : [other, join(folder, 'archive')];
      for (const made of [archive, join(data, 'var')]) mkdirSync(made, { recursive: true });
      for (const file of ['broadsheet.db', 'door.key']) cpSync(join(model, 'var', file), join(data, 'var', file));
      const clock = { now: NOON + DAY };
      const app = appContextIn(t, data, clock, { ARCHIVE_URL: archive });
      const makeRoom = fill(disk, free);
      await assert.rejects(runArchiver(app, 0), (error) => {
        const known = app.store.database.fault(error) as Error;
        assert.match(known.message, /ENOSPC|disk is full|disk I\/O error/, `${free} bytes free`);
        assert.match(known.message, /(free space|check the disk's space)/);
        assert.ok(known.message.includes(full === 'DATA_DIR' ? data : archive), known.message);
        return true;
      });
      const { records } = app.store;
      assert.equal(records.observationTotals().count, DAYS * NAMES.length, 'nothing is deleted before all is archived');
      makeRoom();
      assert.deepEqual((await auditApp(app, { trees: false })).faults, []);
      // It was given back, or ends by itself.
      if (full === 'DATA_DIR') clock.now += LEASE_TIME + 1;
      assert.equal(await runArchiver(app, 0), true);
      assert.equal(records.archive.through(), DAYS * NAMES.length);
      assert.equal(records.observationTotals().count, NAMES.length);
      assert.deepEqual((await auditApp(app, { archive: true, trees: false })).faults, []);
      assert.deepEqual(
        readdirSync(join(data, 'var')).filter((name) => name.startsWith('archive.')),
        [],
      );
      app.close();
      rmSync(folder, { recursive: true });
    }
  });
}

test('a lease that a full disk does not let go ends by itself, and hides no earlier error', () => {
  const row = { acquire: () => 'acquired' as const, isAnyHeld: () => true };
  const failing = (error: Error) => {
    const release = () => {
      throw error;
    };
    const lease = requestLease(
      { ...row, release },
      'archive',
      () => 0,
      () => {},
    );
    assert.equal(lease.isHeld(), true);
    lease.release();
  };
  failing(new DiskFault('full', 'the disk is full'));
  assert.throws(() => failing(new TypeError('a defect')), TypeError);
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportLedger } from '../../src/desk/ingest/ledger-export.ts';
import { importLedger } from '../../src/desk/ingest/ledger-import.ts';
import { pressPapers } from '../../src/desk/jobs/press-run.ts';
import { auditApp } from '../../src/operate/audit/audit.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, PAPER, tempFolder, treeOf } from '../support/app-context.ts';
import { fixtureFolder, OLD_VERSIONS, rowsOf, unpackDatabase } from '../support/old-database.ts';
import { ONLY_WIDE } from '../support/wide.ts';

// Databases of every schema that ran for a while: upgraded, audited, and compared with one that is imported afresh.

/** The tables of a desk: what was said, and what follows from it. */
const DESK =
  /^(?:entries|door_keys|retirements|records|generations|airings|withdrawals|papers|pieces|tallies|piece_tags|tag_counts|searched)$/;

interface Facts {
  now: number;
  media: { digest: string; base64: string };
}

test('there is a database of each schema that ran for a while', () => {
  assert.deepEqual(OLD_VERSIONS, ['0.1.0', 'schema-070', 'schema-080', 'schema-097']);
});

/** A push has upgrade.test.ts alone, which goes on with a desk of the release. */
for (const version of OLD_VERSIONS) {
  test(`a database of ${version} is upgraded, sound, and the same as one that is imported afresh`, {
    skip: ONLY_WIDE,
  }, async (t) => {
    const folder = tempFolder(t);
    const file = unpackDatabase(version, folder);
    const facts = JSON.parse(readFileSync(join(fixtureFolder(version), 'facts.json'), 'utf8')) as Facts;
    const clock = { now: facts.now + 3_600_000 };
    const app = appContextIn(t, folder, clock);
    app.store.media.keepBytes(facts.media.digest, Buffer.from(facts.media.base64, 'base64'));
    app.signer.open();
    while (app.store.records.indexValues());
    await pressPapers(app);
    const { faults } = await auditApp(app);
    assert.deepEqual(faults, []);

    const ledger = join(folder, 'ledger.jsonl');
    await exportLedger(intakeOf(app), ledger, null);
    const other = tempFolder(t);
    const fresh = appContextIn(t, other, clock);
    await importLedger(intakeOf(fresh), ledger);
    await pressPapers(fresh);
    assert.deepEqual((await auditApp(fresh)).faults, []);
    const rows = (path: string) => {
      const tables = rowsOf(path, (table) => DESK.test(table));
      // How often each database was written to is its own.
      for (const paper of tables.get('papers') ?? []) delete paper.version;
      return [...tables];
    };
    assert.deepEqual(rows(join(other, 'var/broadsheet.db')), rows(file));
    const [here, there] = [folder, other].map((data) => treeOf(join(data, 'papers', PAPER)));
    assert.ok((here?.size ?? 0) > 30);
    assert.deepEqual([...(there ?? [])], [...(here ?? [])], 'the pressed trees are the same to the byte');
  });
}

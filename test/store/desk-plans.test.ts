import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../src/shared/sql/open.ts';
import { type Db, prepareEagerly } from '../../src/shared/sql/sql.ts';
import { ledgerTables } from '../../src/store/desk/ledger-entries.ts';
import { tempFolder } from '../support/app-context.ts';
import { emptyDatabase } from '../support/empty-database.ts';

test('what every signature asks of the ledger reads no record but the corrections of the clock', (t) => {
  const db = openDatabase({ file: emptyDatabase(tempFolder(t)) });
  t.after(() => db.close());
  const statements: string[] = [];
  const listening = {
    prepare(sql: string) {
      statements.push(sql);
      return db.prepare(sql);
    },
  };
  prepareEagerly(listening as Db);
  ledgerTables(listening as Db);
  const asked = statements.filter((sql) => /FROM records/.test(sql));
  assert(asked.length > 3);
  for (const sql of asked) {
    const plan = (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]).map(({ detail }) => detail);
    const scan = plan.find((detail) => /^SCAN (?:r|records)\b(?!.*records_of_clock)/.test(detail));
    assert.equal(scan, undefined, sql);
  }
});

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sha256 } from '../../src/proof/basis.ts';
import { parseLeaf } from '../../src/proof/log/leaf.ts';
import { parseHostname } from '../../src/records/hostname.ts';
import { recordProbe } from '../../src/records/recording.ts';
import { type AppContext, deskOf } from '../../src/server/context.ts';
import { appContextIn, type Scope, tempFolder } from '../support/app-context.ts';
import { HOUR, probe } from '../support/probes.ts';
import { recordProbes } from '../support/records-fixture.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const HOST = 'harbor.example';

function opened(t: Scope): AppContext {
  const app = appContextIn(t, tempFolder(t), { now: NOON });
  app.signer.open();
  return app;
}

const entriesOf = ({
  store: {
    database: { log },
  },
}: AppContext): string[] => log.entries('records', 0, log.size('records'));
const look = (at: number, address = '192.0.2.1') => probe(HOST, at, { A: [address] });

test('every observation leaves the hash of its whole receipt, and nothing else', (t) => {
  const app = opened(t);
  const desk = app.store.database.log.size('desk');
  recordProbes(app, { now: NOON }, [look(NOON), look(NOON + HOUR, '192.0.2.2')]);
  const {
    records,
    database: { log },
  } = app.store;
  const receipts = [...records.observationsOf(records.find(HOST)?.id ?? 0)].map(({ receipt }) => receipt);
  assert.deepEqual(
    entriesOf(app).slice(1).map(parseLeaf),
    receipts.map((receipt) => ({ kind: 'receipt-hash', hash: sha256(receipt) })),
  );
  assert.equal(log.size('desk'), desk, 'the log of the desk knows nothing of it');
});

test('the log names no hostname, and cannot be searched for one without its receipt', (t) => {
  const app = opened(t);
  recordProbes(app, { now: NOON }, [look(NOON)]);
  const { records } = app.store;
  const [observation] = records.observationsOf(records.find(HOST)?.id ?? 0);
  records.optOut(parseHostname(HOST), 'Asked by its owner.', 'cli', NOON + HOUR);
  const entries = entriesOf(app).join('');
  assert.ok(!entries.includes('harbor'), entries);
  // The hash of the text without its signature, which who knows the hostname may guess.
  assert.ok(!entries.includes(observation?.receipt_hash ?? HOST));
});

test('a probe whose lease is lost, or whose transaction is rolled back, leaves nothing', (t) => {
  const app = opened(t);
  const {
    records,
    database: { transact },
  } = app.store;
  records.watch([parseHostname(HOST)], NOON);
  const before = entriesOf(app);
  const tools = {
    ...deskOf(app).signingKey,
    now: NOON,
    every: HOUR,
    randomBytes: (length: number) => randomBytes(length),
  };
  assert.equal(recordProbe(records, 'no lease', look(NOON), tools).outcome, 'lost');
  records.leaseNames({ id: 'one', owner: 'test', until: NOON + HOUR, names: [HOST] });
  assert.throws(() =>
    transact(() => {
      assert.equal(recordProbe(records, 'one', look(NOON), tools).outcome, 'recorded');
      throw new Error('no');
    }),
  );
  assert.deepEqual(entriesOf(app), before);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inShortTransactions } from '../../src/desk/ingest/short-transactions.ts';
import { intakeOf } from '../../src/server/context.ts';
import { appContextIn, tempFolder } from '../support/app-context.ts';

/** Works for a while without letting anybody else. */
function busy(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('long work releases the lock as long as it held it, and does everything once', async (t) => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  const app = appContextIn(t, tempFolder(t), { now });
  assert.ok(app.store.database.leases.acquire('mails', 'a server', () => now, 10_000));
  const turns: { start: number; end: number }[] = [];
  const done: number[] = [];
  const transact = (work: () => void) => {
    const start = performance.now();
    app.store.database.transact(work);
    turns.push({ start, end: performance.now() });
  };
  await inShortTransactions(
    intakeOf(app),
    () => {
      busy(5);
      return done.push(done.length) < 40;
    },
    { transact },
  );
  assert.deepEqual(
    done,
    Array.from({ length: 40 }, (_, index) => index),
  );
  assert.ok(turns.length > 4, `${turns.length} transactions`);
  const held = turns.slice(0, -1).reduce((sum, { start, end }) => sum + end - start, 0);
  const free = turns.slice(1).reduce((sum, { start }, index) => sum + start - (turns[index]?.end ?? start), 0);
  assert.ok(free > held * 0.8, `held ${held} ms, free ${free} ms`);
});

test('a signal ends the work between two transactions', async (t) => {
  const app = appContextIn(t, tempFolder(t), { now: 0 });
  const stop = new AbortController();
  let done = 0;
  const next = () => {
    busy(10);
    if (++done === 5) stop.abort();
    return true;
  };
  await inShortTransactions(intakeOf(app), next, { signal: stop.signal });
  assert.ok(done >= 5 && done < 10, `${done} were done`);
});

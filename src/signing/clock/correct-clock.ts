import { append } from '../../desk/append.ts';
import { clockEntry } from '../../desk/clock-correction.ts';
import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { type ClockStatement, clockText, type Numbered } from '../../proof/clock-note.ts';
import { parseCheckpoint } from '../../proof/log/checkpoint.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { signNote } from '../../proof/signing.ts';
import { isoTime, SECOND } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault } from '../../shared/fault.ts';
import type { Store } from '../../store/store.ts';
import { assertNotFenced } from '../log/log-fence.ts';
import { clockFault, type OutsideTime, TOLERANCE, UNCHECKED } from './clock-guard.ts';

/** What a correction applies to. */
export type Corrected = Pick<ClockStatement, 'service' | 'paper' | 'of' | 'seqs'>;

/**
 * Records in the ledger and in the logs that every time later than now is wrong, because the clock ran ahead. Nothing
 * signed changes, but everything derived from it uses the corrected times from now on. `outside` is the time according
 * to other machines, `stated` according to the operator, in ms. Throws `unavailable` when the clock is wrong now, and
 * `invalid_request` when nobody confirms it: a correction by a slow clock would be wrong forever.
 */
export function correctClock(app: AppContext, outside: readonly OutsideTime[], stated: number | null = null) {
  const { store } = app;
  requireRight(app, outside);
  app.signer.assertHeld();
  for (const log of LOG_SERVICES) assertNotFenced(store.database.log, log);
  // From here on, the ledger may contain times later than the clock's.
  app.clock.check = UNCHECKED;
  app.signer.open();
  return store.database.transact(() => {
    const now = app.clock.now();
    const true_time = isoTime(now);
    forgetAhead(store, now);
    if (store.database.newestTime() - now <= TOLERANCE) return { true_time, corrected: [] };
    requireConfirmed(now, outside, stated);
    const found = [...wrongOfDesk(app, now), ...wrongOfRecords(app, now)];
    for (const { aired, ...one } of found) {
      const { signer, kid } = app.signer.key(one.service);
      append(store.desk, clockEntry(signNote(clockText({ ...one, true_time, kid }), signer), aired), now);
      if (one.service === 'records') store.records.capTimes(now);
    }
    return { true_time, corrected: found.map(({ aired: _aired, ...one }) => one) };
  });
}

/**
 * Repairs waiting times, expiries and daily counts that a clock running ahead moved to the far future. Call it in a
 * transaction.
 */
export function forgetAhead(store: Pick<Store, 'database'>, now: number): void {
  store.database.wakeWaiting(now);
  store.database.endInTime(now);
  store.database.countToday(now);
}

interface Wrong extends Corrected {
  aired: string[];
}

function wrongOfDesk({ store }: AppContext, now: number): Wrong[] {
  const papers = [...store.desk.paperSlugs(), ...store.desk.removedPapers().map(({ slug }) => slug)].sort();
  const found = papers.flatMap((paper): Wrong[] => {
    const covered = (of: Numbered) =>
      Math.max(
        0,
        ...store.desk.corrections('desk', paper, of).flatMap(({ last, time }) => (time <= now ? [last] : [])),
      );
    const first = store.database.firstFiledAfter(paper, now, covered('receipts'));
    const fact = store.desk.firstFactAfter(paper, now, covered('facts'));
    const changedAt = (store.desk.paper(paper) ?? store.desk.removedPaper(paper))?.changed_at ?? 0;
    const isRight = changedAt <= now && store.desk.datedAfter(paper, now).length === 0;
    if (first === null && fact === null && isRight) return [];
    const seqs = first === null ? null : { first, last: store.desk.nextSeq(paper) - 1 };
    const facts = fact === null ? null : { first: fact, last: store.desk.nextFactSeq(paper) - 1 };
    const aired = store.desk.pieces.airedAhead(paper, now);
    return [
      { service: 'desk', paper, of: 'receipts', seqs, aired },
      ...(facts === null ? [] : [{ service: 'desk' as const, paper, of: 'facts' as const, seqs: facts, aired: [] }]),
    ];
  });
  // Readers of a log cannot see the correction of a private paper, but keys concern all of them, so they get their own.
  return isKeyAhead(store.desk.signingKeys(), now)
    ? [{ service: 'desk', paper: null, of: 'receipts', seqs: null, aired: [] }, ...found]
    : found;
}

function wrongOfRecords({ store }: AppContext, now: number): Wrong[] {
  const seqs = store.records.observedAfter(now);
  if (seqs === null && !store.records.isAhead(now) && !isKeyAhead(store.desk.signingKeys(), now)) return [];
  return [{ service: 'records', paper: null, of: 'receipts', seqs, aired: [] }];
}

function isKeyAhead(keys: readonly { nbf: number }[], now: number): boolean {
  return keys.some(({ nbf }) => nbf > now);
}

/** If the clock is wrong again, a correction would turn right times into wrong ones. */
function requireRight({ store, clock: { now } }: AppContext, outside: readonly OutsideTime[]): void {
  const wall = now();
  const found = clockFault({ now: { wall, steady: 0 }, trusted: null, newest: 0, outside });
  if (found !== null) throw new Fault('unavailable', `nothing is corrected: ${found.message}`);
  for (const log of LOG_SERVICES) {
    const seen = newestWitness(store, log);
    if (seen === null || seen.at - wall <= TOLERANCE) continue;
    throw new Fault(
      'unavailable',
      `nothing is corrected: the clock here says ${isoTime(wall)}, but a witness of the log of the ${log} (${seen.name}) signed at ${isoTime(seen.at)}; set the clock right first`,
    );
  }
}

function requireConfirmed(now: number, outside: readonly OutsideTime[], stated: number | null): void {
  const fault = (why: string) =>
    new Fault('invalid_request', `nothing is corrected: the clock here says ${isoTime(now)}, ${why}`, { field: 'now' });
  if (stated === null && outside.length === 0)
    throw fault('and no other machine answered; say what time it is, as in --now 2026-11-26T12:00Z');
  if (stated !== null && !(Math.abs(stated - now) <= TOLERANCE))
    throw fault('which is not the time that --now says; set the clock right first');
}

/** When a witness last signed, by the witness's own clock; null when none did. */
function newestWitness(
  { database: { log: tables } }: AppContext['store'],
  log: LogService,
): { name: string; at: number } | null {
  const last = tables.lastHead(log);
  const head = last === null ? null : tables.newestCosigned(log, last.origin);
  if (head === null) return null;
  const { origin, size } = parseCheckpoint(head.checkpoint);
  const times = tables.cosignatures(log, origin, size).map(({ vkey, time }) => ({ vkey, at: time * SECOND }));
  const newest = times.sort((a, b) => a.at - b.at).at(-1);
  return newest === undefined ? null : { name: newest.vkey.split('+')[0] ?? '', at: newest.at };
}

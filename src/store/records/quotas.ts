import { dayOf, nextDayAt } from '../../proof/time.ts';
import { accountingTime } from '../../records/meter/account-usage.ts';
import { KEYLESS_INTERVAL, type KeylessPass, type KeylessTable } from '../../records/meter/keyless.ts';
import { type Db, integer, orNull, sql, type Transact, text } from '../../shared/sql/sql.ts';

/** Quotas shared by all processes on the database: new accounts per network, and open streams. */
export function quotaTables(db: Db, transact: Transact) {
  const { run, one, number } = sql(db);
  const lastDay = one('SELECT max(day) FROM sign_ups WHERE network = ?', orNull(text));
  const made = number('SELECT made FROM sign_ups WHERE network = ? AND day = ?');
  const make = run('INSERT INTO sign_ups VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET made = made + 1');
  const forget = [run('DELETE FROM sign_ups WHERE day < ?'), run('DELETE FROM mailbox_days WHERE day < ?')];
  // A stream that expires later than possible was opened before the clock was set back. The clock of another process
  // may be slightly ahead.
  const dropStreams = run('DELETE FROM open_streams WHERE lasts_until <= ?1 OR lasts_until > ?2');
  const open = number('SELECT count(*) FROM open_streams WHERE holder = ? AND lasts_until > ? AND lasts_until <= ?');
  const add = run('INSERT INTO open_streams VALUES (?, ?, ?)');
  const renew = run(
    `INSERT INTO open_streams SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), ?2 FROM json_each(?1) WHERE true
     ON CONFLICT DO UPDATE SET lasts_until = excluded.lasts_until`,
  );
  const end = run('DELETE FROM open_streams WHERE id = ?');

  const openStreams = (holder: string, at: number, lasts: number): number => open(holder, at, at + 2 * lasts);

  return {
    /**
     * Counts a new account of a network at `now` (ms), up to `most` per UTC day. Returns null when the account was
     * counted, or the time at which the network may create the next one, in ms.
     */
    signUp: (network: string, now: number, most: number): number | null =>
      transact(() => {
        const at = accountingTime(now, lastDay(network));
        if (made(network, dayOf(at)) >= most) return nextDayAt(at);
        make(network, dayOf(at));
        return null;
      }),
    /** Deletes the counts of all days before `day`. */
    forget(day: string): void {
      for (const drop of forget) drop(day);
    },
    /**
     * Opens a stream of a holder, which counts for `lasts` ms unless it is renewed. Returns false when the holder already
     * has `most` open streams.
     */
    openStream: (
      { id, holder }: { id: string; holder: string },
      now: () => number,
      { most, lasts }: { most: number; lasts: number },
    ): boolean =>
      transact(() => {
        const at = now();
        dropStreams(at, at + 2 * lasts);
        if (openStreams(holder, at, lasts) >= most) return false;
        add(id, holder, at + lasts);
        return true;
      }),
    /** The number of open streams of a holder at a time (ms). Streams of a process that ended count until they expire. */
    openStreams,
    /** Extends streams until a time in ms. */
    renewStreams: (streams: [id: string, holder: string][], until: number): void =>
      void renew(JSON.stringify(streams), until),
    endStream: (id: string): void => void end(id),
  };
}

/** Limits of callers without a key. */
export function keylessTable(db: Db, transact: Transact): KeylessTable {
  const { run, one } = sql(db);
  const latest = one('SELECT day, used FROM keyless_days ORDER BY day DESC LIMIT 1', { day: text, used: integer });
  const seenAt = one('SELECT at FROM keyless_callers WHERE caller = ?', integer);
  const note = run('INSERT INTO keyless_callers (caller, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at');
  // A timestamp in the future means the clock was set back, so the row is deleted too.
  const forget = run('DELETE FROM keyless_callers WHERE at <= ? OR at >= ?');
  const count = run('INSERT INTO keyless_days (day, used) VALUES (?, 1) ON CONFLICT DO UPDATE SET used = used + 1');

  /** The time at which a request counts, and how many requests were admitted on that day. */
  const accountedAt = (now: number): { at: number; used: number } => {
    const last = latest();
    const at = accountingTime(now, last?.day ?? null);
    return { at, used: last?.day === dayOf(at) ? last.used : 0 };
  };

  const peek = (caller: string, at: number, ceiling: number): KeylessPass => {
    const day = accountedAt(at);
    if (day.used >= ceiling) return { pass: 'closed', until: nextDayAt(day.at) };
    const last = seenAt(caller);
    // Another process's clock may be slightly ahead. A difference of a whole interval means the clock was set back.
    if (last !== null && Math.abs(at - last) < KEYLESS_INTERVAL) {
      return { pass: 'throttled', until: last + KEYLESS_INTERVAL };
    }
    return { pass: 'open', until: at + KEYLESS_INTERVAL };
  };

  return {
    peek,
    admit: (caller, now, ceiling) =>
      transact(() => {
        // Read under the lock, so that no other process has recorded a later time.
        const at = now();
        const pass = peek(caller, at, ceiling);
        if (pass.pass !== 'open') return pass;
        forget(at - KEYLESS_INTERVAL, at + KEYLESS_INTERVAL);
        note(caller, at);
        count(dayOf(accountedAt(at).at));
        return pass;
      }),
  };
}

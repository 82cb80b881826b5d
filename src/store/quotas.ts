import { accountingTime } from '../meter/account-usage.ts';
import { dayOf, nextDayAt } from '../time.ts';
import { integer, orNull, text } from './columns.ts';
import type { Db } from './open.ts';
import type { Transact } from './sql.ts';
import { sql } from './sql.ts';

interface StreamLimits {
  /** The most streams per holder. */
  most: number;
  /** How long a stream counts unless it is renewed, in ms. */
  lasts: number;
}

export type QuotaTables = ReturnType<typeof quotaTables>;

/** Quotas shared by all processes on the database: new accounts per network, and open streams. */
export function quotaTables(db: Db, transact: Transact) {
  const { run, one } = sql(db);
  const lastDay = one('SELECT max(day) FROM sign_ups WHERE network = ?', orNull(text));
  const made = one('SELECT made FROM sign_ups WHERE network = ? AND day = ?', integer);
  const make = run('INSERT INTO sign_ups VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET made = made + 1');
  const forget = [run('DELETE FROM sign_ups WHERE day < ?'), run('DELETE FROM mailbox_days WHERE day < ?')];
  // A stream that expires later than possible was opened before the clock was set back. The clock of another process
  // may be slightly ahead.
  const dropStreams = run('DELETE FROM open_streams WHERE lasts_until <= ?1 OR lasts_until > ?2');
  const open = one(
    'SELECT count(*) AS count FROM open_streams WHERE holder = ? AND lasts_until > ? AND lasts_until <= ?',
    integer,
  );
  const add = run('INSERT INTO open_streams VALUES (?, ?, ?)');
  const renew = run(
    `INSERT INTO open_streams SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), ?2 FROM json_each(?1) WHERE true
     ON CONFLICT DO UPDATE SET lasts_until = excluded.lasts_until`,
  );
  const end = run('DELETE FROM open_streams WHERE id = ?');

  const openStreams = (holder: string, at: number, lasts: number): number => open(holder, at, at + 2 * lasts) ?? 0;

  return {
    /**
     * Counts a new account of a network at `now` (ms), up to `most` per UTC day. Returns null when the account was
     * counted, or the time at which the network may create the next one, in ms.
     */
    signUp: (network: string, now: number, most: number): number | null =>
      transact(() => {
        const at = accountingTime(now, lastDay(network));
        if ((made(network, dayOf(at)) ?? 0) >= most) return nextDayAt(at);
        make(network, dayOf(at));
        return null;
      }),
    /** Deletes the counts of all days before `day`. */
    forget(day: string): void {
      for (const drop of forget) drop(day);
    },
    /** Opens a stream of a holder for `lasts` ms. Returns false when the holder already has `most` open streams. */
    openStream: (
      { id, holder }: { id: string; holder: string },
      now: () => number,
      { most, lasts }: StreamLimits,
    ): boolean =>
      transact(() => {
        const at = now();
        dropStreams(at, at + 2 * lasts);
        if (openStreams(holder, at, lasts) >= most) return false;
        add(id, holder, at + lasts);
        return true;
      }),
    /**
     * The number of open streams of a holder at a time (ms). Streams of a process that ended count until they expire.
     */
    openStreams,
    /** Extends streams until a time in ms. */
    renewStreams(streams: [id: string, holder: string][], until: number): void {
      renew(JSON.stringify(streams), until);
    },
    endStream(id: string): void {
      end(id);
    },
  };
}

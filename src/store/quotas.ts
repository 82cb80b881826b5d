import { accountingTime } from '../meter/accounting-time.ts';
import { dayOf, nextDayAt } from '../time.ts';
import type { Db } from './open.ts';

type Transact = <T>(work: () => T) => T;

interface StreamLimits {
  /** How many a holder may have. */
  most: number;
  /** For how long each counts when nobody says more of it, in ms. */
  lasts: number;
}

/** What is counted over all processes on the database: accounts made by network, and streams that are open. */
export function quotaTables(db: Db, transact: Transact) {
  const lastDay = db.prepare('SELECT max(day) AS day FROM sign_ups WHERE network = ?');
  const made = db.prepare('SELECT made FROM sign_ups WHERE network = ? AND day = ?');
  const make = db.prepare('INSERT INTO sign_ups VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET made = made + 1');
  const forget = [
    db.prepare('DELETE FROM sign_ups WHERE day < ?'),
    db.prepare('DELETE FROM mailbox_days WHERE day < ?'),
  ];
  // What lasts much longer than any is given is of a clock that was set back; a neighbour's may be ahead by a little.
  const dropStreams = db.prepare('DELETE FROM open_streams WHERE lasts_until <= ?1 OR lasts_until > ?2');
  const open = db.prepare(
    'SELECT count(*) AS count FROM open_streams WHERE holder = ? AND lasts_until > ? AND lasts_until <= ?',
  );
  const add = db.prepare('INSERT INTO open_streams VALUES (?, ?, ?)');
  const renew = db.prepare(
    `INSERT INTO open_streams SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), ?2 FROM json_each(?1) WHERE true
     ON CONFLICT DO UPDATE SET lasts_until = excluded.lasts_until`,
  );
  const end = db.prepare('DELETE FROM open_streams WHERE id = ?');

  const openStreams = (holder: string, at: number, lasts: number): number =>
    (open.get(holder, at, at + 2 * lasts) as { count: number }).count;

  return {
    /**
     * Counts an account that is made from a network at a time (ms), of so many a
     * UTC day. When the network may make another, ms, where it has made its most
     * of the day; null when this one is counted.
     */
    signUp: (network: string, now: number, most: number): number | null =>
      transact(() => {
        const [last] = lastDay.all(network) as { day: string | null }[];
        const at = accountingTime(now, last?.day ?? null);
        const [row] = made.all(network, dayOf(at)) as { made: number }[];
        if ((row?.made ?? 0) >= most) return nextDayAt(at);
        make.run(network, dayOf(at));
        return null;
      }),
    /** Drops what was counted before a day. */
    forget(day: string): void {
      for (const drop of forget) drop.run(day);
    },
    /** Opens a stream of a holder for `lasts` ms, unless that one has so many open; false then. */
    openStream: (
      { id, holder }: { id: string; holder: string },
      now: () => number,
      { most, lasts }: StreamLimits,
    ): boolean =>
      transact(() => {
        const at = now();
        dropStreams.run(at, at + 2 * lasts);
        if (openStreams(holder, at, lasts) >= most) return false;
        add.run(id, holder, at + lasts);
        return true;
      }),
    /** How many streams of a holder are open at a time (ms); those of a process that died as long as they last. */
    openStreams,
    /** Keeps streams open for longer, until a time in ms. */
    renewStreams(streams: [id: string, holder: string][], until: number): void {
      renew.run(JSON.stringify(streams), until);
    },
    endStream(id: string): void {
      end.run([id]);
    },
  };
}

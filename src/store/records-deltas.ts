import type { Change, Delta } from '../records/delta.ts';
import type { TrackedName } from '../records/tracked.ts';
import { DAY, dayOf } from '../time.ts';
import type { Db } from './open.ts';

/** Which deltas. `host` is a hostname's id; `since` is within, `until` is not; times in ms. */
export interface DeltaQuery {
  host?: number | undefined;
  signal?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** Which part of them: after or before a number, and how many. */
export interface DeltaPage {
  limit: number;
  /** `newest` first unless told otherwise. */
  order?: 'newest' | 'oldest';
  /** The number of the last delta of the page before. */
  cursor?: number | undefined;
}

export interface DayCount {
  /** YYYY-MM-DD, UTC. */
  day: string;
  signal: string;
  kind: Change['kind'];
  count: number;
}

interface DeltaRow {
  seq: number;
  at: number;
  hostname: string;
  signal: TrackedName;
  kind: Change['kind'];
  before: string;
  after: string;
  observation: number;
}

const LAST = Number.MAX_SAFE_INTEGER;

/** Deltas: written in order, never changed. Those of hosts that opted out are not read. */
export function deltaTable(db: Db) {
  const last = db.prepare('SELECT seq, at FROM deltas ORDER BY seq DESC LIMIT 1');
  const add = db.prepare('INSERT INTO deltas VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const firstSince = db.prepare('SELECT seq FROM deltas WHERE at >= ? ORDER BY at, seq LIMIT 1');
  const daySum = db.prepare(
    'SELECT coalesce(sum(count), 0) AS count FROM change_counts WHERE day >= ?1 AND day < ?2 AND (?3 IS NULL OR signal = ?3)',
  );
  const days = db.prepare(
    'SELECT day, signal, kind, count FROM change_counts WHERE day >= ? AND day < ? AND count > 0 ORDER BY day, signal, kind',
  );
  const ofObservation = db.prepare(
    'SELECT signal, kind, "before", "after" FROM deltas WHERE host = ? AND observation = ? ORDER BY seq',
  );
  const total = db.prepare('SELECT count(*) AS count, coalesce(max(seq), 0) AS newest FROM deltas');

  // `at` rises with `seq`, so that a time is a number, and every query a range of numbers. The plus sign
  // keeps a column from choosing the index, and CROSS JOIN the hostnames from being read first.
  const reads = (['host', 'signal', 'all'] as const).map((by) => {
    // Each statement names every parameter, so that all are called alike.
    const narrow = {
      host: 'd.host = ?3 AND (?4 IS NULL OR +d.signal = ?4)',
      signal: 'd.signal = ?4 AND ?3 IS NULL',
      all: '?3 IS NULL AND ?4 IS NULL',
    }[by];
    const from = `FROM deltas AS d CROSS JOIN hostnames AS h ON h.id = d.host
      WHERE ${narrow} AND d.seq >= ?1 AND d.seq < ?2 AND h.state <> 'opted_out'`;
    const rows = (direction: string) =>
      db.prepare(
        `SELECT d.seq, d.at, h.hostname, d.signal, d.kind, d."before", d."after", d.observation
         ${from} ORDER BY d.seq ${direction} LIMIT ?5`,
      );
    return [
      by,
      { newest: rows('DESC'), oldest: rows('ASC'), count: db.prepare(`SELECT count(*) AS count ${from}`) },
    ] as const;
  });
  const read = new Map(reads);
  const readFor = ({ host, signal }: DeltaQuery) =>
    read.get(host !== undefined ? 'host' : signal !== undefined ? 'signal' : 'all') as NonNullable<
      ReturnType<typeof read.get>
    >;

  /** The first number at or after a time. */
  const seqAt = (at: number | undefined, otherwise: number): number =>
    at === undefined ? otherwise : ((firstSince.get(at) as { seq: number } | undefined)?.seq ?? LAST);

  const countBetween = (query: DeltaQuery): number =>
    (
      readFor(query).count.get(
        seqAt(query.since, 0),
        seqAt(query.until, LAST),
        query.host ?? null,
        query.signal ?? null,
      ) as { count: number }
    ).count;

  return {
    /** Enters changes of one host with the next numbers, at `now`, or at the last delta's time when the clock went back. */
    addDeltas(
      host: { id: number; hostname: string },
      changes: Change[],
      observation_seq: number,
      now: number,
    ): Delta[] {
      if (changes.length === 0) return [];
      const before = (last.get() as { seq: number; at: number } | undefined) ?? { seq: 0, at: 0 };
      const at = Math.max(now, before.at);
      return changes.map((change, index) => {
        const seq = before.seq + 1 + index;
        const { signal, kind } = change;
        add.run(
          seq,
          host.id,
          at,
          signal,
          kind,
          JSON.stringify(change.before),
          JSON.stringify(change.after),
          observation_seq,
        );
        return { ...change, seq, at, domain: host.hostname, observation_seq };
      });
    },
    /** Shown deltas, newest first or oldest first. */
    deltas(query: DeltaQuery, { limit, order = 'newest', cursor }: DeltaPage): Delta[] {
      const from = Math.max(seqAt(query.since, 0), order === 'oldest' && cursor !== undefined ? cursor + 1 : 0);
      const to = Math.min(seqAt(query.until, LAST), order === 'newest' && cursor !== undefined ? cursor : LAST);
      const rows = readFor(query)[order].all(from, to, query.host ?? null, query.signal ?? null, limit);
      return (rows as DeltaRow[]).map(deltaFromRow);
    },
    /** How many shown deltas there are. Whole days are not counted row by row. */
    deltaCount(query: DeltaQuery): number {
      if (query.host !== undefined) return countBetween(query);
      const since = query.since ?? 0;
      const until = query.until ?? ((last.get() as { at: number } | undefined)?.at ?? 0) + 1;
      const firstDay = Math.ceil(since / DAY) * DAY;
      const lastDay = query.until === undefined ? (Math.floor(until / DAY) + 1) * DAY : Math.floor(until / DAY) * DAY;
      if (firstDay >= lastDay) return countBetween(query);
      const whole = daySum.get(dayOf(firstDay), dayOf(lastDay), query.signal ?? null) as { count: number };
      const head = since < firstDay ? countBetween({ ...query, since, until: firstDay }) : 0;
      const tail = lastDay < until ? countBetween({ ...query, since: lastDay, until }) : 0;
      return head + whole.count + tail;
    },
    /** Shown deltas by UTC day, signal and kind, from one day up to, not including, another. */
    changesByDay: (from: string, to: string): DayCount[] => days.all(from, to) as DayCount[],
    /** The number of the newest delta, shown or not; 0 before the first. */
    newestDelta: (): number => (last.get() as { seq: number } | undefined)?.seq ?? 0,
    /** What one observation changed, also of a host that opted out: for an audit. */
    changesOf: (host: number, observation: number): Change[] =>
      (ofObservation.all(host, observation) as DeltaRow[]).map(({ signal, kind, before, after }) => ({
        signal,
        kind,
        before: JSON.parse(before) as string[],
        after: JSON.parse(after) as string[],
      })),
    deltaTotals: (): { count: number; newest: number } => {
      const { count, newest } = total.get() as { count: number; newest: number };
      return { count, newest };
    },
  };
}

function deltaFromRow({ seq, at, hostname, signal, kind, before, after, observation }: DeltaRow): Delta {
  return {
    seq,
    at,
    domain: hostname,
    signal,
    kind,
    before: JSON.parse(before) as string[],
    after: JSON.parse(after) as string[],
    observation_seq: observation,
  };
}

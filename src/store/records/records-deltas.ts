import { SIGNAL_TYPES } from '../../proof/records/signal.ts';
import { DAY, dayOf } from '../../proof/time.ts';
import type { Delta, OwnerNote, SeenChange } from '../../records/delta.ts';
import { type Db, integer, json, oneOf, orNull, type Read, sql, text } from '../../shared/sql/sql.ts';
import { OWNER_NOTE } from './owners.ts';

/** Selects deltas. `host` is a hostname's id; `since` is inclusive, `until` exclusive, in ms. */
interface DeltaQuery {
  host?: number | undefined;
  /** The path of a name (`pathOf`): only deltas of it and of the names below it. Not together with `host`. */
  below?: string | undefined;
  signal?: string | undefined;
  kind?: Delta['kind'] | undefined;
  since?: number | undefined;
  until?: number | undefined;
  /** For rotating signals: changes of the learned `sets` (the default), of single `answers`, or both. */
  rotating?: 'sets' | 'answers' | 'both' | undefined;
}

/** Selects a page of deltas. */
interface DeltaPage {
  limit: number;
  /** Defaults to `newest` first. */
  order?: 'newest' | 'oldest';
  /** The number of the last delta on the previous page. */
  cursor?: number | undefined;
}

export const SIGNAL = oneOf(...SIGNAL_TYPES, 'CERTIFICATE');

const ROTATION = orNull(oneOf('answer', 'set'));
const CHANGE = {
  signal: SIGNAL,
  kind: oneOf('added', 'removed', 'changed'),
  before: json<string[]>(),
  after: json<string[]>(),
};

/** The deltas that lists contain by default. Must equal the condition of a partial index word for word. */
export const SHOWN = "d.rotation IS NOT 'answer'";
const ROTATING = { sets: SHOWN, answers: "d.rotation IS NOT 'set'", both: 'true' };

/** A delta's columns, joined with its hostname. */
export const DELTA = {
  ...{ seq: integer, at: integer, domain: text, ...CHANGE, observation_seq: integer, rotation: ROTATION },
  owner_note: orNull(json<OwnerNote>()),
};

/** Converts a row to a delta. Without a note, it has no `owner_note` member. */
export function deltaOf({ owner_note, ...delta }: Read<typeof DELTA>): Delta {
  return owner_note === null ? delta : { ...delta, owner_note };
}

const LAST = Number.MAX_SAFE_INTEGER;

export const DELTA_COLUMNS = `d.seq, d.at, h.hostname AS domain, d.signal, d.kind, d."before", d."after",
  d.observation AS observation_seq, d.rotation, ${OWNER_NOTE} AS owner_note`;

/** Deltas: appended in order, never changed. Reads omit the deltas of hosts that opted out. */
export function deltaTable(db: Db) {
  const { insert, one, number, all } = sql(db);
  const last = one('SELECT seq, at FROM deltas ORDER BY seq DESC LIMIT 1', { seq: integer, at: integer });
  const add = insert('deltas', {
    seq: integer,
    host: integer,
    at: integer,
    ...CHANGE,
    observation: integer,
    rotation: ROTATION,
  });
  const firstSince = one('SELECT seq FROM deltas WHERE at >= ? ORDER BY at, seq LIMIT 1', integer);
  const END = { seq: integer, at: integer };
  const firstWithin = one('SELECT seq, at FROM deltas WHERE at >= ? AND at < ? ORDER BY at, seq LIMIT 1', END);
  const lastWithin = one('SELECT seq, at FROM deltas WHERE at >= ? AND at < ? ORDER BY at DESC, seq DESC LIMIT 1', END);
  const daySum = number(
    'SELECT sum(count) FROM change_counts WHERE day >= ?1 AND day < ?2 AND (?3 IS NULL OR signal = ?3) AND (?4 IS NULL OR kind = ?4)',
  );
  const total = one('SELECT count(*) AS count, coalesce(max(seq), 0) AS newest FROM deltas', {
    count: integer,
    newest: integer,
  });

  // Hosts by their names, as a JSON array.
  const WANTED = 'json_each(?1) AS wanted CROSS JOIN hostnames AS h ON h.hostname = wanted.value';
  const hostDays = all(
    `SELECT h.hostname AS domain, c.day, c.count FROM ${WANTED} CROSS JOIN host_changes AS c ON c.host = h.id WHERE c.day >= ?2`,
    { domain: text, day: text, count: integer },
  );
  const lastChanges = all(
    `SELECT h.hostname AS domain, d.at, d.signal, d.kind FROM ${WANTED} CROSS JOIN deltas AS d
     ON d.seq = (SELECT max(d.seq) FROM deltas AS d WHERE d.host = h.id AND ${SHOWN})`,
    { domain: text, at: integer, signal: CHANGE.signal, kind: CHANGE.kind },
  );

  // `at` rises with `seq`, so every query is a range of numbers. The plus sign keeps a column from selecting the index,
  // and CROSS JOIN keeps SQLite from reading the other table first.
  const BY_NUMBER = 'deltas AS d CROSS JOIN hostnames AS h ON h.id = d.host';
  const BY_NAME = 'hostnames AS h CROSS JOIN deltas AS d ON d.host = h.id';
  const reads = (narrow: string, joined = BY_NUMBER) => {
    const from = `FROM ${joined} WHERE ${narrow} AND d.seq >= ?1 AND d.seq < ?2 AND h.state <> 'opted_out'`;
    const rows = (direction: string) =>
      all(`SELECT ${DELTA_COLUMNS} ${from} ORDER BY d.seq ${direction} LIMIT ?6`, DELTA, deltaOf);
    return { newest: rows('DESC'), oldest: rows('ASC'), count: number(`SELECT count(*) ${from}`) };
  };
  // Each statement uses every parameter, so that all are called in the same way.
  const readsOf = (rotating: string) => {
    const others = `(?4 IS NULL OR +d.signal = ?4) AND (?5 IS NULL OR +d.kind = ?5) AND ${rotating}`;
    return {
      ofHost: reads(`d.host = ?3 AND ${others}`),
      ofName: reads(
        `h.path >= ?3 AND h.path < ?3 || '/' AND (h.path = ?3 OR h.path > ?3 || '.') AND ${others}`,
        BY_NAME,
      ),
      ofSignalAndKind: reads(`d.signal = ?4 AND d.kind = ?5 AND ?3 IS NULL AND ${rotating}`),
      ofSignal: reads(`d.signal = ?4 AND ?3 IS NULL AND ?5 IS NULL AND ${rotating}`),
      ofKind: reads(`d.kind = ?5 AND ?3 IS NULL AND ?4 IS NULL AND ${rotating}`),
      ofAll: reads(`?3 IS NULL AND ?4 IS NULL AND ?5 IS NULL AND ${rotating}`),
    };
  };
  const readers = { sets: readsOf(ROTATING.sets), answers: readsOf(ROTATING.answers), both: readsOf(ROTATING.both) };
  const readFor = ({ host, below, signal, kind, rotating = 'sets' }: DeltaQuery) => {
    const reader = readers[rotating];
    if (host !== undefined) return reader.ofHost;
    if (below !== undefined) return reader.ofName;
    if (signal === undefined) return kind === undefined ? reader.ofAll : reader.ofKind;
    return kind === undefined ? reader.ofSignal : reader.ofSignalAndKind;
  };
  const narrowed = ({ host, below, signal, kind }: DeltaQuery) =>
    [host ?? below ?? null, signal ?? null, kind ?? null] as const;

  /** The first number at or after a time, or `otherwise` when no time is given. */
  const seqAt = (at: number | undefined, otherwise: number): number =>
    at === undefined ? otherwise : (firstSince(at) ?? LAST);

  const countBetween = (query: DeltaQuery): number =>
    readFor(query).count(seqAt(query.since, 0), seqAt(query.until, LAST), ...narrowed(query));

  return {
    /**
     * Appends changes of one host with the next numbers, dated `now`, or the last delta's time if the clock was set
     * back.
     */
    addDeltas(
      host: { id: number; hostname: string },
      changes: SeenChange[],
      observation_seq: number,
      now: number,
    ): Delta[] {
      if (changes.length === 0) return [];
      const before = last() ?? { seq: 0, at: 0 };
      const at = Math.max(now, before.at);
      return changes.map((change, index) => {
        const seq = before.seq + 1 + index;
        add({ ...change, seq, host: host.id, at, observation: observation_seq });
        return { ...change, seq, at, domain: host.hostname, observation_seq };
      });
    },
    /** Shown deltas, newest first or oldest first. */
    deltas(query: DeltaQuery, { limit, order = 'newest', cursor }: DeltaPage): Delta[] {
      const from = Math.max(seqAt(query.since, 0), order === 'oldest' && cursor !== undefined ? cursor + 1 : 0);
      const to = Math.min(seqAt(query.until, LAST), order === 'newest' && cursor !== undefined ? cursor : LAST);
      return readFor(query)[order](from, to, ...narrowed(query), limit);
    },
    /** The number of shown deltas. Whole days are read from stored counts where these apply. */
    deltaCount(query: DeltaQuery): number {
      if ((query.host ?? query.below) !== undefined || (query.rotating ?? 'sets') !== 'sets')
        return countBetween(query);
      const since = query.since ?? 0;
      const until = query.until ?? (last()?.at ?? 0) + 1;
      const firstDay = Math.ceil(since / DAY) * DAY;
      const lastDay = query.until === undefined ? (Math.floor(until / DAY) + 1) * DAY : Math.floor(until / DAY) * DAY;
      if (firstDay >= lastDay) return countBetween(query);
      const whole = daySum(dayOf(firstDay), dayOf(lastDay), query.signal ?? null, query.kind ?? null);
      const head = since < firstDay ? countBetween({ ...query, since, until: firstDay }) : 0;
      const tail = lastDay < until ? countBetween({ ...query, since: lastDay, until }) : 0;
      return head + whole + tail;
    },
    /** The first and last numbers and times (ms) of the deltas in a period, shown or not; null without any. */
    deltaSpan(since: number, until: number) {
      const [first, last] = [firstWithin(since, until), lastWithin(since, until)];
      if (first === null || last === null) return null;
      return { first_seq: first.seq, last_seq: last.seq, first_at: first.at, last_at: last.at };
    },
    /** Shown deltas by UTC day, signal and kind; the second day is exclusive. */
    changesByDay: all(
      'SELECT day, signal, kind, count FROM change_counts WHERE day >= ? AND day < ? AND count > 0 ORDER BY day, signal, kind',
      { day: text, signal: text, kind: CHANGE.kind, count: integer },
    ),
    /** Shown deltas per host and UTC day, from `since` (YYYY-MM-DD) on; days without changes have no row. */
    hostDays: (hostnames: string[], since: string) => hostDays(JSON.stringify(hostnames), since),
    /** The newest shown delta of each of these hosts, for hosts that have one. */
    lastChanges: (hostnames: string[]) => lastChanges(JSON.stringify(hostnames)),
    /** The number of the newest delta, shown or not; 0 before the first. */
    newestDelta: (): number => last()?.seq ?? 0,
    /** The changes of one observation, including those of hosts that opted out, for an audit. */
    changesOf: all(
      'SELECT signal, kind, "before", "after", rotation FROM deltas WHERE host = ? AND observation = ? ORDER BY seq',
      { ...CHANGE, rotation: ROTATION },
    ),
    deltaTotals: () => total() ?? { count: 0, newest: 0 },
  };
}

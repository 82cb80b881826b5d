import { type Db, integer, orNull, sql, text } from './sql.ts';

/** Queues are counted up to this length, so that each reading has a bounded cost. A longer queue shows this number. */
const COUNTED_MAX = 10_000;

export const MAIL_QUEUE_NAMES = ['mails', 'account-mails'] as const;
export const DELIVERY_QUEUE_NAMES = ['webhooks', 'account-webhooks'] as const;

/** The rows of a queue that are due, at most `COUNTED_MAX`, and when the first of them fell due, in ms. */
export interface QueueLength {
  due: number;
  oldest_due_at: number | null;
}

/** The tables of the queues of mails and of webhook deliveries, by the name of their job. */
const MAIL_QUEUES = { mails: ['mails', 'notices'], 'account-mails': ['account_mails'] } as const;
const DELIVERY_QUEUES = { webhooks: 'deliveries', 'account-webhooks': 'change_deliveries' } as const;

/**
 * What monitoring reads of the database. Each reading takes well under a millisecond, however many pieces, readers and
 * observations there are.
 */
export interface VitalSigns {
  /** Throws when the database cannot be read. */
  assertReadable(): void;
  papers(): number;
  /** Pieces on air. */
  pieces(): number;
  mails(queue: keyof typeof MAIL_QUEUES, now: number): QueueLength;
  deliveries(queue: keyof typeof DELIVERY_QUEUES, now: number): QueueLength;
  hubPings(now: number): QueueLength;
  hostnames(): { state: string; count: number }[];
  scanQueue(now: number): QueueLength & { leased: number };
  /** Papers with pages that are not up to date, and the mark up to which each is pressed. */
  stalePapers(): { paper: string; pressed: number }[];
  /** Tags that a press has not read yet, at most `COUNTED_MAX`. */
  staleTags(): number;
  /** The sums of the credit ledger, in credits. */
  credits(): { kind: string; amount: number; lines: number }[];
  /** Payments whose outcome is unknown, and when the first was begun, in ms. */
  openPayments(): { count: number; oldest_at: number | null };
  /** Files that the targets of publications lack, at most `COUNTED_MAX`. */
  unpublished(): number;
}

export function vitalSigns(db: Db): VitalSigns {
  const { one, all } = sql(db);
  const counted = (rows: string) =>
    one(`SELECT count(*) AS count FROM (SELECT 1 FROM ${rows} LIMIT ${COUNTED_MAX})`, integer);
  const queue = (table: string, state: string) => {
    const count = counted(`${table} WHERE ${state} AND due_at <= ?`);
    const first = one(`SELECT min(due_at) AS due_at FROM ${table} WHERE ${state}`, orNull(integer));
    return (now: number): QueueLength => {
      const at = first();
      return at === null || at > now ? { due: 0, oldest_due_at: null } : { due: count(now) ?? 0, oldest_due_at: at };
    };
  };
  const mails = new Map(
    Object.entries(MAIL_QUEUES).map(([job, tables]) => [job, tables.map((table) => queue(table, "state = 'due'"))]),
  );
  const deliveries = new Map(
    Object.entries(DELIVERY_QUEUES).map(([job, table]) => [job, queue(table, "state = 'waiting'")]),
  );
  const scan = queue('hostnames', "state = 'watched'");
  const leased = counted('hostnames WHERE lease IS NOT NULL AND due_at > ?');
  const hubPings = queue('hub_pings', 'due_at IS NOT NULL');
  const readable = one('SELECT count(*) AS count FROM log_state', integer);
  const papers = one('SELECT count(*) AS count FROM papers', integer);
  const pieces = one(
    `SELECT coalesce(sum(t.count), 0) AS count FROM papers p
     CROSS JOIN tallies t ON t.paper = p.slug AND t.what = 'section'`,
    integer,
  );
  // Steps from paper to paper: after an import, a paper may have a hundred thousand rows.
  const stalePapers = all(
    `WITH RECURSIVE stale(paper) AS (
       SELECT min(paper) FROM press_due
       UNION ALL
       SELECT (SELECT min(paper) FROM press_due WHERE paper > stale.paper) FROM stale WHERE paper IS NOT NULL)
     SELECT stale.paper, coalesce(paid, 0) AS pressed FROM stale LEFT JOIN presses USING (paper)
     WHERE stale.paper IS NOT NULL`,
    { paper: text, pressed: integer },
  );
  const staleTags = counted('press_due');
  const unpublished = counted('unpublished');
  const openPayments = one(
    "SELECT count(*) AS count, min(claimed_at) AS oldest_at FROM payments WHERE state = 'settling'",
    { count: integer, oldest_at: orNull(integer) },
  );
  return {
    assertReadable: () => void readable(),
    papers: () => papers() ?? 0,
    pieces: () => pieces() ?? 0,
    mails: (job, now) => together((mails.get(job) ?? []).map((length) => length(now))),
    deliveries: (job, now) => together([deliveries.get(job)?.(now) ?? { due: 0, oldest_due_at: null }]),
    hubPings,
    hostnames: all('SELECT state, count FROM hostname_counts ORDER BY state', { state: text, count: integer }),
    scanQueue: (now) => ({ ...scan(now), leased: leased(now) ?? 0 }),
    stalePapers,
    staleTags: () => staleTags() ?? 0,
    credits: all('SELECT kind, amount, lines FROM credit_totals ORDER BY kind', {
      kind: text,
      amount: integer,
      lines: integer,
    }),
    openPayments: () => openPayments() ?? { count: 0, oldest_at: null },
    unpublished: () => unpublished() ?? 0,
  };
}

/** Several queues as one. */
function together(lengths: QueueLength[]): QueueLength {
  const firsts = lengths.flatMap(({ oldest_due_at }) => oldest_due_at ?? []);
  return {
    due: lengths.reduce((sum, { due }) => sum + due, 0),
    oldest_due_at: firsts.length === 0 ? null : Math.min(...firsts),
  };
}

import { type Db, integer, orNull, sql, text } from '../shared/sql/sql.ts';

/**
 * Queues are counted only up to this length, so that each reading has a bounded cost. A longer queue shows this number.
 */
const COUNTED_MAX = 10_000;

export const MAIL_QUEUE_NAMES = ['mails', 'account-mails'] as const;
export const DELIVERY_QUEUE_NAMES = ['webhooks', 'account-webhooks'] as const;

/** The number of due rows in a queue, at most `COUNTED_MAX`, and when the first of them became due, in ms. */
export interface QueueLength {
  due: number;
  oldest_due_at: number | null;
}

export type VitalSigns = ReturnType<typeof vitalSigns>;

/**
 * The figures for monitoring. Each reading takes well under a millisecond, regardless of the number of pieces, readers
 * and observations.
 */
export function vitalSigns(db: Db) {
  const { one, number, all } = sql(db);
  const counted = (rows: string) => number(`SELECT count(*) FROM (SELECT 1 FROM ${rows} LIMIT ${COUNTED_MAX})`);
  const queue = (table: string, state: string) => {
    const count = counted(`${table} WHERE ${state} AND due_at <= ?`);
    const first = one(`SELECT min(due_at) AS due_at FROM ${table} WHERE ${state}`, orNull(integer));
    return (now: number): QueueLength => {
      const at = first();
      return at === null || at > now ? { due: 0, oldest_due_at: null } : { due: count(now), oldest_due_at: at };
    };
  };
  const mailQueue = (table: string) => queue(table, "state = 'due'");
  const [mails, notices, accountMails] = [mailQueue('mails'), mailQueue('notices'), mailQueue('account_mails')];
  const deliveryQueue = (table: string) => queue(table, "state = 'waiting'");
  const scan = queue('hostnames', "state = 'watched'");
  const leased = counted('hostnames WHERE lease IS NOT NULL AND due_at > ?');
  const readable = number('SELECT count(*) FROM log_state');
  // Skips from paper to paper: after an import, a paper may have a hundred thousand rows.
  const stalePapers = all(
    `WITH RECURSIVE stale(paper) AS (
       SELECT min(paper) FROM press_due
       UNION ALL
       SELECT (SELECT min(paper) FROM press_due WHERE paper > stale.paper) FROM stale WHERE paper IS NOT NULL)
     SELECT stale.paper, coalesce(paid, 0) AS pressed FROM stale LEFT JOIN presses USING (paper)
     WHERE stale.paper IS NOT NULL`,
    { paper: text, pressed: integer },
  );
  const openPayments = one(
    "SELECT count(*) AS count, min(claimed_at) AS oldest_at FROM payments WHERE state = 'settling'",
    { count: integer, oldest_at: orNull(integer) },
  );
  return {
    /** Throws when the database cannot be read. */
    assertReadable: (): void => void readable(),
    papers: number('SELECT count(*) FROM papers'),
    /** Pieces on air. */
    pieces: number("SELECT sum(t.count) FROM papers p CROSS JOIN tallies t ON t.paper = p.slug AND t.what = 'section'"),
    /** The queues of mails and of webhook deliveries, by job name. */
    mails: {
      mails: (now: number): QueueLength => together([mails(now), notices(now)]),
      'account-mails': accountMails,
    },
    deliveries: { webhooks: deliveryQueue('deliveries'), 'account-webhooks': deliveryQueue('change_deliveries') },
    hubPings: queue('hub_pings', 'due_at IS NOT NULL'),
    hostnames: all('SELECT state, count FROM hostname_counts ORDER BY state', { state: text, count: integer }),
    scanQueue: (now: number) => ({ ...scan(now), leased: leased(now) }),
    /** Papers with outdated pages, and the change number up to which each was pressed. */
    stalePapers,
    /** Dependencies that no press has processed yet, at most `COUNTED_MAX`. */
    staleDependencies: counted('press_due'),
    /** The sums of the credit ledger, in credits. */
    credits: all('SELECT kind, amount, lines FROM credit_totals ORDER BY kind', {
      kind: text,
      amount: integer,
      lines: integer,
    }),
    /** The number of payments with an unknown outcome, and when the first of them began, in ms. */
    openPayments: () => openPayments() ?? { count: 0, oldest_at: null },
    /** Queued changes of publications, at most `COUNTED_MAX`. */
    unpublished: counted('unpublished'),
  };
}

/** Combines several queues. */
export function together(lengths: QueueLength[]): QueueLength {
  const firsts = lengths.flatMap(({ oldest_due_at }) => oldest_due_at ?? []);
  return {
    due: lengths.reduce((sum, { due }) => sum + due, 0),
    oldest_due_at: firsts.length === 0 ? null : Math.min(...firsts),
  };
}

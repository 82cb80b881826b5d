import { stat, statfs } from 'node:fs/promises';
import { setImmediate as yielded } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { Counter, Gauge } from 'prom-client';
import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { VERSION } from '../../project.ts';
import type { QueueLength } from '../../store/vital-signs.ts';
import { DELIVERY_QUEUE_NAMES, MAIL_QUEUE_NAMES } from '../../store/vital-signs.ts';
import { lastBackup } from '../backup-note.ts';
import type { AppContext } from '../context.ts';
import { databaseFile } from '../context.ts';
import { eventLoop } from '../event-loop.ts';
import { inFlight } from '../measurements.ts';
import type { PressQueue } from '../press-queue.ts';
import { StaleSince } from './stale-since.ts';

/** What the gauges are read from. */
export interface MetricSources {
  app: AppContext;
  /** Null without the desk. */
  presses(): PressQueue | null;
}

/** How long a reading is kept, in ms: scrapes more often than that share it. */
const KEPT = 1_000;

/**
 * Registers the gauges that are read from the database, the disk and this process. Returns a function that reads them.
 * Each reading of the database is short, and requests are answered between two of them. A reading that fails leaves its
 * gauges out and counts as a failure: a scrape always succeeds.
 */
export function sampledMetrics(registry: Registry, { app, presses }: MetricSources): () => Promise<void> {
  const { store, settings, now } = app;
  const { services } = settings;
  const registers = [registry];
  const gauges: Gauge[] = [];
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> => {
    const made = new Gauge({ name: `broadsheet_${name}`, help, labelNames, registers });
    gauges.push(made as Gauge);
    return made;
  };
  /** A counter whose total is kept elsewhere. */
  const total = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) => {
    const made = new Counter({ name: `broadsheet_${name}`, help, labelNames, registers });
    const before = new Map<string, number>();
    return (labels: Partial<Record<L, string>>, value: number) => {
      const key = JSON.stringify(labels);
      // A counter never falls.
      made.inc(labels, Math.max(0, value - (before.get(key) ?? 0)));
      before.set(key, value);
    };
  };
  const failures = new Counter({
    name: 'broadsheet_metrics_failures_total',
    help: 'Readings of metrics that failed.',
    labelNames: ['reading'],
    registers,
  });

  const info = gauge('info', 'Always 1; the label is the version.', ['version']);
  const ready = gauge('ready', '1 while `/ready` says so.');
  const delay = gauge('event_loop_delay_max_seconds', 'The longest delay of the event loop in the last minute.');
  const flying = gauge('http_requests_in_flight', 'Requests that are not answered yet.', ['service']);
  const pressing = gauge('press_papers', 'Papers that are being pressed, or wait for their turn.', ['state']);
  const stalePapers = gauge('press_stale_papers', 'Papers with pages that are not up to date.');
  const staleTags = gauge('press_stale_tags', 'Changes that no press has read, counted up to 10,000.');
  const staleFor = gauge(
    'press_backlog_seconds',
    'For how long the paper that waits longest has waited, without a press of it that ended.',
  );
  const unpublished = gauge('publish_waiting_files', 'Files that PUBLISH_URL lacks, counted up to 10,000.');
  const queueHelp = 'that are due, counted up to 10,000.';
  const ageHelp = 'For how long the first one has been due.';
  const mails = gauge('mails_due', `Mails ${queueHelp}`, ['queue']);
  const mailAge = gauge('mails_oldest_due_seconds', ageHelp, ['queue']);
  const deliveries = gauge('webhook_deliveries_due', `Deliveries to webhooks ${queueHelp}`, ['queue']);
  const deliveryAge = gauge('webhook_deliveries_oldest_due_seconds', ageHelp, ['queue']);
  const hubPings = gauge('hub_pings_due', `Feeds of which the hub is to be told, ${queueHelp}`);
  const scanDue = gauge('scanner_due', `Hostnames ${queueHelp}`);
  const scanAge = gauge('scanner_oldest_due_seconds', ageHelp);
  const scanLeased = gauge('scanner_leased', 'Hostnames that a scanner holds, counted up to 10,000.');
  const hostnames = gauge('hostnames', 'Hostnames, by state.', ['state']);
  const papers = gauge('papers', 'Papers.');
  const pieces = gauge('pieces_on_air', 'Pieces on air.');
  const leaves = total('signatures_total', 'Signed receipts: the leaves of the log.', ['log']);
  const unsigned = gauge('log_unsigned_leaves', 'Leaves that no signed head covers.', ['log']);
  const headAge = gauge('log_head_age_seconds', 'Age of the newest signed head.', ['log']);
  const uncosigned = gauge('log_uncosigned_leaves', 'Leaves that no cosigned head covers; only with witnesses.', [
    'log',
  ]);
  const fenced = gauge('log_fenced', '1 while this copy of the log must sign nothing.', ['log']);
  const credits = total('credits_total', 'Credits of the ledger, without their sign.', ['kind']);
  const payments = gauge('payments_open', 'Payments whose outcome is unknown.');
  const paymentAge = gauge('payments_oldest_open_seconds', 'Age of the first payment whose outcome is unknown.');
  const search = gauge('search_questions', 'Questions to the search threads.', ['state']);
  const searchThreads = gauge('search_threads', 'Connections that search, each on a thread of its own.');
  const lateAdded = total('late_commits_total', 'Small writes whose way to the disk held up nobody.');
  const lateSyncs = total('late_commit_syncs_total', 'Syncs of such writes.');
  const lateSeconds = total('late_commit_sync_seconds_total', 'The time that these syncs took.');
  const lateWaiting = gauge('late_commits_waiting', 'Such writes that are not on disk yet.');
  const diskFree = gauge('disk_free_bytes', 'Free space for this user on the disk of a folder.', ['folder']);
  const diskSize = gauge('disk_size_bytes', 'Size of the disk of a folder.', ['folder']);
  const backupAt = gauge('backup_timestamp_seconds', 'When the last backup was begun; absent when none is known.');
  const database = gauge('database_bytes', 'Size of the database and of its write-ahead log.', ['file']);

  const signs = () => store.vitalSigns();
  const age = (at: number | null) => (at === null ? 0 : Math.max(0, now() - at) / 1_000);
  const setQueue = <L extends string>(
    [length, oldest]: [Gauge<L>, Gauge<L>],
    labels: Partial<Record<L, string>>,
    { due, oldest_due_at }: QueueLength,
  ) => {
    length.set(labels, due);
    oldest.set(labels, age(oldest_due_at));
  };
  const stale = new StaleSince();
  /** Queues are named in this order: that of the desk, that of the records. */
  const isServed = (n: number) => (n === 0 ? services.desk : services.records);

  const always: Record<string, () => void | Promise<void>> = {
    process() {
      info.set({ version: VERSION }, 1);
      ready.set(app.readiness.report().status === 'ready' ? 1 : 0);
      delay.set(eventLoop.worst() / 1_000);
      for (const service of ['desk', 'records'] as const) flying.set({ service }, inFlight[service]);
      const late = store.lateCounts();
      lateAdded({}, late.added);
      lateSyncs({}, late.syncs);
      lateSeconds({}, late.sync_ms / 1_000);
      lateWaiting.set(late.waiting);
    },
    backup() {
      const last = lastBackup(settings);
      if (last !== null) backupAt.set(last.at / 1_000);
    },
    async disk() {
      const folders = { data: settings.dataDir, papers: settings.distDir, log: settings.logDir };
      for (const [folder, path] of Object.entries(folders)) {
        const found = await statfs(path).catch(() => null);
        if (found === null) continue;
        diskFree.set({ folder }, found.bavail * found.bsize);
        diskSize.set({ folder }, found.blocks * found.bsize);
      }
      const file = databaseFile(settings);
      for (const [name, path] of [
        ['database', file],
        ['log', `${file}-wal`],
      ] as const) {
        database.set({ file: name }, (await stat(path).catch(() => null))?.size ?? 0);
      }
    },
  };
  const ofDesk: typeof always = {
    press() {
      const load = presses()?.load;
      pressing.set({ state: 'pressing' }, load?.running ?? 0);
      pressing.set({ state: 'waiting' }, load?.waiting ?? 0);
      const waiting = signs().stalePapers();
      stalePapers.set(waiting.length);
      staleFor.set(stale.longest(waiting) / 1_000);
      staleTags.set(signs().staleTags());
    },
    publish: () => unpublished.set(app.settings.publishUrl === null ? 0 : signs().unpublished()),
    hub: () => hubPings.set(signs().hubPings(now()).due),
    papers: () => papers.set(signs().papers()),
    pieces: () => pieces.set(signs().pieces()),
    search() {
      const { threads, waiting, answering } = app.searchPool.load;
      searchThreads.set(threads);
      search.set({ state: 'waiting' }, waiting);
      search.set({ state: 'answering' }, answering);
    },
  };
  const ofRecords: typeof always = {
    scanner() {
      const { leased, ...queue } = signs().scanQueue(now());
      setQueue([scanDue, scanAge], {}, queue);
      scanLeased.set(leased);
    },
    hostnames() {
      for (const { state, count } of signs().hostnames()) hostnames.set({ state }, count);
    },
    credits() {
      for (const { kind, amount } of signs().credits()) credits({ kind }, Math.abs(amount));
    },
    payments() {
      const { count, oldest_at } = signs().openPayments();
      payments.set(count);
      paymentAge.set(age(oldest_at));
    },
  };
  const readings = Object.entries({
    ...always,
    ...(services.desk ? ofDesk : {}),
    ...(services.records ? ofRecords : {}),
    mails() {
      for (const [n, queue] of MAIL_QUEUE_NAMES.entries()) {
        if (isServed(n)) setQueue([mails, mailAge], { queue }, signs().mails(queue, now()));
      }
    },
    webhooks() {
      for (const [n, queue] of DELIVERY_QUEUE_NAMES.entries()) {
        if (isServed(n)) setQueue([deliveries, deliveryAge], { queue }, signs().deliveries(queue, now()));
      }
    },
    logs() {
      for (const log of LOG_SERVICES.filter((one) => services[one])) {
        const size = store.log.size(log);
        const head = store.log.lastHead(log);
        leaves({ log }, size);
        unsigned.set({ log }, size - (head?.size ?? 0));
        if (head !== null) headAge.set({ log }, age(head.signed_at));
        if (app.settings.logPolicy !== null) uncosigned.set({ log }, size - store.log.cosignedSize(log));
        fenced.set({ log }, store.log.fence(log) === null ? 0 : 1);
      }
    },
  });

  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - readAt < KEPT) return;
    for (const made of gauges) made.reset();
    for (const [reading, read] of readings) {
      try {
        await read();
      } catch {
        failures.inc({ reading });
      }
      await yielded();
    }
    readAt = performance.now();
  };
}

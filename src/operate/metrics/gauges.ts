import { stat, statfs } from 'node:fs/promises';
import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { codeOf } from '../../shared/fault.ts';
import { databaseFile } from '../../shared/files/data-folder.ts';
import { VERSION } from '../../shared/project.ts';
import { eventLoop } from '../../shared/workers/event-loop.ts';
import { inFlight } from '../../shared/workers/measurements.ts';
import { leavesBehind, SIGNING_REASONS, signingState } from '../../signing/signing-state.ts';
import { DELIVERY_QUEUE_NAMES, MAIL_QUEUE_NAMES } from '../../store/vital-signs.ts';
import { lastBackup } from '../backup/backup-source.ts';
import { readiness } from './readiness.ts';
import type { DiskReadings, MetricSources, Readings, SampledRegistry } from './sampled-registry.ts';

/** This process, and its last backup. */
export function ofProcess({ gauge, total }: SampledRegistry, { app }: MetricSources): Readings {
  const info = gauge('info', 'Always 1; the label is the version.', ['version']);
  const ready = gauge('ready', '1 while `/ready` says so.');
  const clockWrong = gauge('clock_wrong', '1 while nothing is signed because the clock is wrong.');
  const delay = gauge('event_loop_delay_max_seconds', 'The longest delay of the event loop in the last minute.');
  const flying = gauge('http_requests_in_flight', 'Requests that are not answered yet.', ['service']);
  const lockHeld = gauge(
    'write_lock_held_seconds',
    'How long another process has held the write lock of the database; 0 while it is free.',
  );
  const lockTimeouts = total('write_lock_timeouts_total', 'Writes that timed out waiting for this lock.');
  const backupAt = gauge('backup_timestamp_seconds', 'When the last backup was begun; 0 when none is known.');
  return {
    process() {
      info.set({ version: VERSION }, 1);
      ready.set(readiness(app).status === 'ready' ? 1 : 0);
      clockWrong.set(app.clock.fault() === null ? 0 : 1);
      delay.set(eventLoop.worst() / 1_000);
      for (const service of ['desk', 'records'] as const) flying.set({ service }, inFlight[service]);
    },
    write_lock() {
      lockHeld.set(app.store.database.lock.heldFor() / 1_000);
      lockTimeouts({}, app.store.database.lock.timeouts);
    },
    backup() {
      backupAt.set((lastBackup(app.settings)?.at ?? 0) / 1_000);
    },
  };
}

/** The lease of LEASE_URL, if there is one, and why this server does not sign. */
export function ofLease({ gauge, total }: SampledRegistry, { app }: MetricSources): Readings {
  const held = gauge('lease_held', '1 while this server holds the lease of LEASE_URL; absent without one.');
  const left = gauge('lease_seconds_left', 'How long it may sign without renewing the lease.');
  const transitions = total('lease_transitions_total', 'How often this server took or lost the lease.');
  const behind = gauge('lease_leaves_behind', 'Leaves that this copy lacks of what was signed.', ['log']);
  const refused = gauge('signing_refused', '1 for the reason for which nothing is signed here.', ['log', 'why']);
  return {
    lease() {
      const lease = app.signer.state();
      if (lease !== null) {
        held.set(lease.isHeld ? 1 : 0);
        left.set(lease.left / 1_000);
        transitions({}, lease.transitions);
      }
      for (const log of LOG_SERVICES.filter((one) => app.settings.services[one])) {
        const { why } = signingState(app, log);
        for (const reason of SIGNING_REASONS) refused.set({ log, why: reason }, reason === why ? 1 : 0);
        const lacking = leavesBehind(app, log);
        if (lacking !== null) behind.set({ log }, lacking);
      }
    },
  };
}

/** The papers, and the work to press, publish and announce. */
export function ofDesk({ gauge }: SampledRegistry, { app, presses }: MetricSources): Readings {
  const { store, clock } = app;
  const pressing = gauge('press_papers', 'Papers that are being pressed, or wait for their turn.', ['state']);
  const stalePapers = gauge('press_stale_papers', 'Papers with pages that are not up to date.');
  const staleDependencies = gauge('press_stale_tags', 'Changes that no press has read, counted up to 10,000.');
  const staleFor = gauge(
    'press_backlog_seconds',
    'For how long the paper that waits longest has waited, without a press of it that ended.',
  );
  const unpublished = gauge('publish_waiting_files', 'Files that PUBLISH_URL lacks, counted up to 10,000.');
  const hubPings = gauge('hub_pings_due', 'Feeds of which the hub is to be told, that are due, counted up to 10,000.');
  const missing = gauge('missing_media', 'Media files whose bytes DATA_DIR lacks: readers see stand-ins.');
  const papers = gauge('papers', 'Papers.');
  const pieces = gauge('pieces_on_air', 'Pieces on air.');
  const search = gauge('search_questions', 'Questions to the search threads.', ['state']);
  const searchThreads = gauge('search_threads', 'Connections that search, each on a thread of its own.');

  const stale = new StaleSince();
  return {
    press() {
      const load = presses()?.load;
      pressing.set({ state: 'pressing' }, load?.running ?? 0);
      pressing.set({ state: 'waiting' }, load?.waiting ?? 0);
      const signs = store.database.vitalSigns();
      const waiting = signs.stalePapers();
      stalePapers.set(waiting.length);
      staleFor.set(stale.longest(waiting) / 1_000);
      staleDependencies.set(signs.staleDependencies());
    },
    publish: () => unpublished.set(app.settings.publishUrl === null ? 0 : store.database.vitalSigns().unpublished()),
    hub: () => hubPings.set(store.database.vitalSigns().hubPings(clock.now()).due),
    media: () => missing.set(store.desk.missingMedia.all().length),
    papers: () => papers.set(store.database.vitalSigns().papers()),
    pieces: () => pieces.set(store.database.vitalSigns().pieces()),
    search() {
      const { threads, waiting, answering } = app.store.searchPool.load;
      searchThreads.set(threads);
      search.set({ state: 'waiting' }, waiting);
      search.set({ state: 'answering' }, answering);
    },
  };
}

/** The watched hostnames, and the payments for answers about them. */
export function ofRecords(
  { age, gauge, queue, total }: SampledRegistry,
  { app: { store, clock, settings } }: MetricSources,
): Readings {
  const scanQueue = queue(['scanner_due', 'scanner_oldest_due_seconds'], 'Hostnames');
  const scanLeased = gauge('scanner_leased', 'Hostnames that a scanner holds, counted up to 10,000.');
  const hostnames = gauge('hostnames', 'Hostnames, by state.', ['state']);
  const proofs = gauge('owner_proofs', 'Proofs in force that a name is an account’s.');
  const archived = gauge(
    'archive_observations',
    'Observations up to this number are in the archive; with ARCHIVE_URL.',
  );
  const unarchived = gauge('archive_lag_seconds', 'Age of the first observation that is not; with ARCHIVE_URL.');
  const unerased = gauge('archive_erasures', 'Hostnames that are still to be erased in the archive; with ARCHIVE_URL.');
  const dumpDays = gauge('dumps_days', 'Days that have a public dump; with DUMPS_URL.');
  const dumpsDue = gauge('dumps_due', 'Days whose dump is to be made, or made again; with DUMPS_URL.');
  const credits = total('credits_total', 'Credits of the ledger, without their sign.', ['kind']);
  const payments = gauge('payments_open', 'Payments whose outcome is unknown.');
  const paymentAge = gauge('payments_oldest_open_seconds', 'Age of the first payment whose outcome is unknown.');
  return {
    scanner() {
      const { leased, ...length } = store.database.vitalSigns().scanQueue(clock.now());
      scanQueue({}, length);
      scanLeased.set(leased);
    },
    hostnames() {
      for (const { state, count } of store.database.vitalSigns().hostnames()) hostnames.set({ state }, count);
    },
    proofs() {
      proofs.set(store.records.owners.count());
    },
    archive() {
      if (settings.archiveUrl === null) return;
      archived.set(store.records.archive.through());
      unarchived.set(age(store.records.archive.waitingSince()));
      unerased.set(store.records.archive.erasures().length);
    },
    dumps() {
      if (settings.dumps === null) return;
      dumpDays.set(store.records.dumps.shownCount());
      dumpsDue.set(store.records.dumps.dueCount());
    },
    credits() {
      for (const { kind, amount } of store.database.vitalSigns().credits()) credits({ kind }, Math.abs(amount));
    },
    payments() {
      const { count, oldest_at } = store.database.vitalSigns().openPayments();
      payments.set(count);
      paymentAge.set(age(oldest_at));
    },
  };
}

/** Mails, webhooks and the log, which each service has for itself. */
export function ofBoth({ age, gauge, queue, total }: SampledRegistry, { app }: MetricSources): Readings {
  const { store, clock } = app;
  const { services } = app.settings;
  const mails = queue(['mails_due', 'mails_oldest_due_seconds'], 'Mails', ['queue']);
  const deliveries = queue(
    ['webhook_deliveries_due', 'webhook_deliveries_oldest_due_seconds'],
    'Deliveries to webhooks',
    ['queue'],
  );
  const leaves = total('signatures_total', 'Signed receipts: the leaves of the log.', ['log']);
  const unsigned = gauge('log_unsigned_leaves', 'Leaves that no signed head covers.', ['log']);
  const headAge = gauge('log_head_age_seconds', 'Age of the newest signed head.', ['log']);
  const uncosigned = gauge('log_uncosigned_leaves', 'Leaves that no cosigned head covers; only with witnesses.', [
    'log',
  ]);
  const uncosignedFor = gauge(
    'log_uncosigned_seconds',
    'While there are any, the age of the newest cosigned head; only with witnesses.',
    ['log'],
  );
  const fenced = gauge('log_fenced', '1 while this copy of the log must sign nothing.', ['log']);

  /** Queues are named in this order: that of the desk, that of the records. */
  const isServed = (n: number) => (n === 0 ? services.desk : services.records);
  return {
    mails() {
      for (const [n, name] of MAIL_QUEUE_NAMES.entries()) {
        if (isServed(n)) mails({ queue: name }, store.database.vitalSigns().mails[name](clock.now()));
      }
    },
    webhooks() {
      for (const [n, name] of DELIVERY_QUEUE_NAMES.entries()) {
        if (isServed(n)) deliveries({ queue: name }, store.database.vitalSigns().deliveries[name](clock.now()));
      }
    },
    logs() {
      for (const log of LOG_SERVICES.filter((one) => services[one])) {
        const size = store.database.log.size(log);
        const head = store.database.log.lastHead(log);
        leaves({ log }, size);
        unsigned.set({ log }, size - (head?.size ?? 0));
        if (head !== null) headAge.set({ log }, age(head.signed_at));
        if (app.settings.logPolicy !== null) {
          const cosigned = store.database.log.cosignedSize(log);
          uncosigned.set({ log }, size - cosigned);
          uncosignedFor.set({ log }, size > cosigned ? age(store.database.log.cosignedAt(log)) : 0);
        }
        fenced.set({ log }, store.database.log.fence(log) === null ? 0 : 1);
      }
    },
  };
}

/** The disks of the folders, and the size of the database. */
export function ofDisks({ gauge }: SampledRegistry, { app: { settings } }: MetricSources): DiskReadings {
  const free = gauge('disk_free_bytes', 'Free space for this user on the disk of a folder.', ['folder']);
  const size = gauge('disk_size_bytes', 'Size of the disk of a folder.', ['folder']);
  const bytes = gauge('database_bytes', 'Size of the database and of its write-ahead log.', ['file']);

  const disk = async (folder: string, path: string): Promise<void> => {
    const found = await orMissing(statfs(path));
    // Each folder is created by its first writer.
    if (found === null) return;
    free.set({ folder }, found.bavail * found.bsize);
    size.set({ folder }, found.blocks * found.bsize);
  };
  return {
    disk_data: () => disk('data', settings.dataDir),
    disk_papers: () => disk('papers', settings.distDir),
    disk_log: () => disk('log', settings.logDir),
    async database() {
      const file = databaseFile(settings);
      bytes.set({ file: 'database' }, (await stat(file)).size);
      // The write-ahead log exists while the database is open, and may be empty after a checkpoint.
      bytes.set({ file: 'log' }, (await orMissing(stat(`${file}-wal`)))?.size ?? 0);
    },
  };
}

/** Null when there is no such file. */
function orMissing<T>(found: Promise<T>): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
}

/** Measures how long papers have waited for a press. */
export class StaleSince {
  /**
   * By paper: when it was first seen waiting (ms of the monotonic clock), and the change number that was pressed then.
   */
  #seen = new Map<string, { at: number; pressed: number }>();
  readonly #now: () => number;

  /** `now` is the monotonic clock, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * The longest wait, in ms. A press that ended begins a paper's wait anew: a busy paper always waits for something.
   */
  longest(waiting: readonly { paper: string; pressed: number }[]): number {
    const now = this.#now();
    const seen = new Map<string, { at: number; pressed: number }>();
    for (const { paper, pressed } of waiting) {
      const before = this.#seen.get(paper);
      seen.set(paper, before?.pressed === pressed ? before : { at: now, pressed });
    }
    this.#seen = seen;
    return Math.max(0, ...[...seen.values()].map(({ at }) => now - at));
  }
}

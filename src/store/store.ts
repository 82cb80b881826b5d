import type { Archive } from '../desk/archive.ts';
import type { LedgerStore } from '../desk/ledger-store.ts';
import { tags } from '../desk/tags.ts';
import type { CreditLedger } from '../meter/credit-ledger.ts';
import type { Manifest } from '../press/manifest.ts';
import type { ReaderTables } from '../readers/reader-tables.ts';
import { accountMailTable } from './account-mails.ts';
import { accountTable } from './accounts.ts';
import { alertTable } from './alerts.ts';
import { answerTable } from './answers.ts';
import { appliedTable } from './applied.ts';
import { changeAlertTable } from './change-alerts.ts';
import { changeDeliveryTable, changeWebhookStates } from './change-deliveries.ts';
import { changeQueueTable } from './change-queue.ts';
import { creditTables } from './credits.ts';
import { deliveryTable } from './deliveries.ts';
import { eventTable } from './events.ts';
import { forwardedTable } from './forwarded.ts';
import { groupCommit } from './group-commit.ts';
import { hostTable } from './hosts.ts';
import { keylessTable } from './keyless.ts';
import { keyTables } from './keys.ts';
import { leaseTable } from './leases.ts';
import { archiveRows, ledgerFaults } from './ledger-audit.ts';
import { ledgerTables } from './ledger-entries.ts';
import { mailTable } from './mails.ts';
import { manifestTables } from './manifest.ts';
import { meterTable } from './meter.ts';
import { noticeTable } from './notices.ts';
import type { DatabaseSettings } from './open.ts';
import { databaseFault, freshDatabase, openDatabase } from './open.ts';
import { paperTables } from './papers.ts';
import { paymentTable } from './payments.ts';
import { pieceTables } from './pieces.ts';
import { pressRecords } from './press-audit.ts';
import { quotaTables } from './quotas.ts';
import { readerTokenTable } from './reader-tokens.ts';
import { recordsTables } from './records.ts';
import { schemaFaults } from './schema-audit.ts';
import { searchTables } from './search.ts';
import { indexFaults } from './search-audit.ts';
import { servedTable } from './served.ts';
import { serviceKeyTable } from './service-keys.ts';
import { sessionTable } from './sessions.ts';
import { signInTable } from './sign-ins.ts';
import { subscriberTable } from './subscribers.ts';
import { suppressionTable } from './suppressions.ts';
import { termsTable } from './terms.ts';
import { watchGroupTable } from './watch-groups.ts';
import { webhookTable } from './webhooks.ts';

export type Store = ReturnType<typeof openStore>;

/** Opens the one database. Every noun's SQL is in a file of its own beside this one. */
export function openStore(settings: DatabaseSettings) {
  const db = openDatabase(settings);
  const entries = ledgerTables(db);
  const papers = paperTables(db);
  const pieces = pieceTables(db);
  const manifest: Manifest = manifestTables(db);
  const terms = termsTable(db);
  const readers: ReaderTables = {
    subscribers: subscriberTable(db),
    suppressions: suppressionTable(db),
    tokens: readerTokenTable(db),
    mails: mailTable(db),
  };
  const events = eventTable(db);

  const archives = new Map<string, Archive>();
  const archive = (paper: string): Archive => {
    let found = archives.get(paper);
    if (found === undefined) {
      found = archiveOf(paper);
      archives.set(paper, found);
    }
    return found;
  };

  const archiveOf = (paper: string): Archive => ({
    paper() {
      const record = papers.paper(paper);
      if (record === null) throw new Error(`there is no paper ${paper}`);
      return record;
    },
    masthead: () => papers.personas(paper).filter(({ active }) => active),
    persona: (slug) => papers.persona(paper, slug),
    personaSlugs: () => papers.personas(paper).map(({ slug }) => slug),
    mediaPaths: () => papers.allMedia(paper).map(({ path }) => path),
    casts: () => papers.casts(paper),
    cast: (day) => papers.cast(paper, day),
    media: (path) => papers.media(paper, path),
    keys: () => entries.doorKeys(),
    storyById: (id) => pieces.storyById(paper, id),
    storyBySlug: (slug) => pieces.storyBySlug(paper, slug),
    hasSlug: (slug) => pieces.hasSlug(paper, slug),
    piece: (id) => pieces.piece(paper, id),
    revisions: (id) => pieces.revisions(paper, id),
    generations: (id) => pieces.generations(paper, id),
    slugs: () => pieces.slugs(paper),
    latest: (query) => pieces.latest(paper, query),
    search: (terms, limit) => search.search(paper, terms, limit),
    row: (id) => pieces.row(paper, id),
    sectionPage: (section, page, size) => pieces.sectionPage(paper, section, page, size),
    sectionCount: (section) => pieces.sectionCount(paper, section),
    scheduled: () => pieces.allScheduled(paper),
    sectionRank: (section, at) => pieces.sectionRank(paper, section, at),
    newer: (at, cap, section) => pieces.newer(paper, at, cap, section),
    earlier: (row, limit) => pieces.earlier(paper, row, limit),
    laterIds: (section, at, limit) => pieces.laterIds(paper, section, at, limit),
    days: (range) => pieces.days(paper, range),
    day: (day) => pieces.day(paper, day),
    months: () => pieces.months(paper),
    month: (month) => pieces.month(paper, month),
    corrections: (limit) => pieces.corrections(paper, limit),
    hasCorrections: (id) => pieces.hasCorrections(paper, id),
  });

  let depth = 0;
  const transact = <T>(work: () => T): T => {
    if (depth > 0) return work();
    try {
      db.exec('BEGIN IMMEDIATE');
    } catch (error) {
      throw databaseFault(error, settings.file);
    }
    depth++;
    try {
      const result = work();
      search.flush();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      search.forget();
      // After some errors, such as a full disk, SQLite has rolled back by itself.
      if (db.inTransaction) db.exec('ROLLBACK');
      throw databaseFault(error, settings.file);
    } finally {
      depth--;
    }
  };

  const search = searchTables(db, transact);
  search.fill();

  const credits = creditTables(db, transact);
  const keys = keyTables(db, transact);
  const group = groupCommit(db, transact, (error) => databaseFault(error, settings.file));

  const ledger: LedgerStore = {
    transact,
    append: entries.append,
    archive,
    paperSlugs: papers.paperSlugs,
    hasPaper: (paper) => papers.paper(paper) !== null,
    setPaper: papers.setPaper,
    bumpEdition: papers.bumpEdition,
    nextSeq: papers.nextSeq,
    lastFiledAt: entries.lastFiledAt,
    setGeneration(entry) {
      papers.takeSeq(entry.paper, entry.seq);
      pieces.setGeneration(entry);
      search.note(entry.piece.id);
    },
    standing: pieces.standing,
    setStanding(piece, standing) {
      pieces.setStanding(piece, standing);
      search.note(piece);
    },
    scheduled: pieces.scheduled,
    isAllWaiting: (paper) => manifest.isWaiting(paper, tags.config),
    owe: manifest.owe,
    tell: events.append,
  };

  return {
    ...ledger,
    /** Does a small write together with those of other callers, and resolves when it is on the disk. */
    groupCommit: group.add,
    manifest,
    keys,
    served: servedTable(db),
    hosts: hostTable(db),
    forwarded: forwardedTable(db),
    accounts: accountTable(db, transact),
    serviceKeys: serviceKeyTable(db, transact),
    payments: paymentTable(db),
    sessions: sessionTable(db),
    signIns: signInTable(db),
    accountMails: accountMailTable(db),
    watchGroups: watchGroupTable(db),
    changeAlerts: changeAlertTable(db),
    changeQueue: changeQueueTable(db),
    changeDeliveries: changeDeliveryTable(db),
    changeWebhooks: changeWebhookStates(db),
    credits: credits as CreditLedger,
    meter: meterTable(db, transact, credits),
    keyless: keylessTable(db, transact),
    quotas: quotaTables(db, transact),
    answers: answerTable(db, 'answers'),
    serviceAnswers: answerTable(db, 'service_answers'),
    terms,
    readers,
    events,
    alerts: alertTable(db),
    duties: leaseTable(db, transact),
    webhooks: webhookTable(db),
    deliveries: deliveryTable(db),
    notices: noticeTable(db),
    records: recordsTables(db, transact),
    entries: entries.entries,
    doorKeys: entries.doorKeys,
    paper: papers.paper,
    editions: papers.editions,
    record: papers.record,
    allMedia: papers.allMedia,
    unaired: pieces.unaired,
    shown: pieces.shown,
    nextScheduled: pieces.nextScheduled,
    ...appliedTable(db),
    /** Holds what this connection reads as it is now, until `endReading`. It must write nothing meanwhile. */
    beginReading(): void {
      db.exec('BEGIN');
      // SQLite takes its view with the first read, not with BEGIN.
      manifest.lastNumber();
    },
    endReading(): void {
      db.exec('COMMIT');
    },
    /** To be called after many filings: brings the parts of the search index together. */
    settleSearch: search.settle,
    /** An error of this database as a fault that names the cure; others as they are. */
    fault: (error: unknown): unknown => databaseFault(error, settings.file),
    /** Runs SQLite's own check; the texts of what it finds, none when sound. */
    integrity: (): string[] =>
      (db.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[])
        .map((row) => row.integrity_check)
        .filter((text) => text !== 'ok'),
    /** Runs `work`, which only reads, as of one moment: others may write meanwhile. */
    read<T>(work: () => T): T {
      db.exec('BEGIN');
      try {
        return work();
      } finally {
        db.exec('COMMIT');
      }
    },
    ...archiveRows(db),
    ...pressRecords(db),
    /** What does not hold between the ledger's own tables and those that follow from it. */
    ledgerFaults: () => ledgerFaults(db),
    /** How the tables, indexes and triggers differ from this program's. */
    schemaFaults(): string[] {
      const fresh = freshDatabase();
      try {
        return schemaFaults(db, fresh);
      } finally {
        fresh.close();
      }
    },
    /** What the search index holds otherwise than the pieces that it indexes. */
    indexFaults: (progress: (done: number, total: number) => void) => indexFaults(db, progress),
    /** SQLite's quick check, at most a few of the texts of what it finds; and the file's bytes, with those that hold nothing. */
    soundness(): { faults: string[]; size: number; free: number } {
      const pragma = (name: string) => Object.values((db.prepare(`PRAGMA ${name}`).all() as object[])[0] ?? {})[0];
      const faults = (db.prepare('PRAGMA quick_check(5)').all() as { quick_check: string }[]).map(
        (row) => row.quick_check,
      );
      const page = Number(pragma('page_size'));
      return {
        faults: faults.filter((text) => text !== 'ok'),
        size: page * Number(pragma('page_count')),
        free: page * Number(pragma('freelist_count')),
      };
    },
    close(): void {
      group.flush();
      db.close();
    },
  };
}

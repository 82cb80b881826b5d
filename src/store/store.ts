import type { Archive } from '../desk/archive.ts';
import { dependencies } from '../desk/dependencies.ts';
import type { LedgerEntry } from '../desk/ledger-entry.ts';
import type { LedgerStore } from '../desk/ledger-store.ts';
import { DiskFault, type DiskState } from '../shared/fault.ts';
import { checkpoints } from '../shared/sql/checkpoints.ts';
import { groupCommit } from '../shared/sql/group-commit.ts';
import { BUSY_TIMEOUT, type DatabaseSettings, databaseFault, openDatabase } from '../shared/sql/open.ts';
import { soundnessChecks } from '../shared/sql/soundness.ts';
import { beginWriting, rollBack, sql, type Transact } from '../shared/sql/sql.ts';
import { WriteLock } from '../shared/sql/write-lock.ts';
import { logProver } from '../shared/transparency/log-tree.ts';
import { clockTables } from './clock.ts';
import { deliveryTable, webhookTable } from './deliveries.ts';
import { activityTable } from './desk/activity.ts';
import { alertTable, eventTable } from './desk/alerts.ts';
import { archives } from './desk/archive.ts';
import { consoleTables } from './desk/console.ts';
import { challengeTable, consoleLinkTable, consoleSessionTable, passkeyTable } from './desk/console-sign-in.ts';
import {
  answerTable,
  appliedTable,
  hostTable,
  missingMediaTable,
  previewTable,
  removalTable,
  termsTable,
} from './desk/desk.ts';
import { evidenceTables } from './desk/evidence.ts';
import { factTables } from './desk/facts.ts';
import { archiveRows, ledgerFaults } from './desk/ledger-audit.ts';
import { ledgerTables } from './desk/ledger-entries.ts';
import { linkCardTable } from './desk/link-cards.ts';
import { manifestTables, pressRecords } from './desk/manifest.ts';
import { oauthClientTable, oauthGrantTable } from './desk/oauth.ts';
import { pageCountTable } from './desk/page-counts.ts';
import { paperTables } from './desk/papers.ts';
import { pieceTables } from './desk/pieces.ts';
import { readerTables } from './desk/readers.ts';
import { scriptLetterTable } from './desk/script-letters.ts';
import { searchTables } from './desk/search.ts';
import { indexFaults } from './desk/search-audit.ts';
import { keyTables, serviceKeyTable } from './keys.ts';
import { logTables } from './log.ts';
import { accountMailTable, consoleMailTable, noticeTable } from './mails.ts';
import { hubPingTable, publicationTable } from './publications.ts';
import { accountTable, sessionTable, signInTable } from './records/accounts.ts';
import {
  changeAlertTable,
  changeDeliveryTable,
  changeQueueTable,
  changeWebhookStates,
} from './records/change-alerts.ts';
import { creditTables } from './records/credits.ts';
import { expectationTable } from './records/expectations.ts';
import { groupFeedTable } from './records/group-feeds.ts';
import { meterTable } from './records/meter.ts';
import { ownerTable } from './records/owners.ts';
import { paymentTable } from './records/payments.ts';
import { planTable } from './records/plans.ts';
import { keylessTable, quotaTables } from './records/quotas.ts';
import { recordsTables } from './records/records.ts';
import { watchGroupTable } from './records/watch-groups.ts';
import { forwardedTable, leaseTable, servedTable } from './services.ts';
import { type VitalSigns, vitalSigns } from './vital-signs.ts';

/** The database in three parts. Take only what you use: `Pick<Store, 'records'>`, or the table itself. */
export type Store = ReturnType<typeof openStore>;

/** Opens the database. The SQL of each table is in its own file next to this one. */
export function openStore(settings: DatabaseSettings) {
  const db = openDatabase(settings);
  const lock = new WriteLock(db, settings);
  const entries = ledgerTables(db);
  const papers = paperTables(db);
  const pieces = pieceTables(db);
  const facts = factTables(db);
  const evidence = evidenceTables(db);
  const manifest = manifestTables(db);
  const events = eventTable(db);
  const deliveries = deliveryTable(db);
  const missingMedia = missingMediaTable(db);
  const linkCards = linkCardTable(db);
  const scriptLetters = scriptLetterTable(db);
  const log = logTables(db);
  const logProof = logProver(log, 'desk');
  const isLogCosigned = () => log.cosignedSize('desk') > 0;

  const { commit, close: closeCheckpoints } = checkpoints(db, settings);
  const truncateWal = sql(db).number('PRAGMA wal_checkpoint(TRUNCATE)');
  const changes = sql(db).number('SELECT total_changes()');
  let diskFault: DiskState | null = null;
  const faultOf = (error: unknown) => databaseFault(error, settings.file);
  const noted = (error: unknown): unknown => {
    const fault = faultOf(error);
    if (fault instanceof DiskFault) diskFault = fault.state;
    return fault;
  };
  let depth = 0;
  /** A new object for each transaction. */
  let transaction = {};
  const transact: Transact = (work) => {
    if (depth > 0) return work();
    try {
      beginWriting(db);
    } catch (error) {
      throw noted(error);
    }
    depth++;
    transaction = {};
    try {
      // A commit without changes does not touch the disk.
      const before = diskFault === null ? 0 : changes();
      const result = work();
      search.flush();
      commit();
      if (diskFault !== null && changes() !== before) diskFault = null;
      return result;
    } catch (error) {
      search.forget();
      rollBack(db);
      throw noted(error);
    } finally {
      depth--;
    }
  };

  const search = searchTables(db, transact);
  search.fill();
  pieces.fillWordCounts(transact);
  const newArchive = archives(db, {
    papers,
    entries,
    search,
    facts,
    evidence,
    missingMedia,
    linkCards,
    scriptLetters,
    logProof,
    isLogCosigned,
  });
  const known = new Map<string, Archive>();
  const archive = (paper: string): Archive => {
    const found = known.get(paper) ?? newArchive(paper);
    known.set(paper, found);
    return found;
  };
  const credits = creditTables(db, transact);
  const group = groupCommit(db, transact, faultOf);
  // Prepared on first use: most connections never need them.
  let signs: VitalSigns | null = null;

  let check = (_entry: LedgerEntry): void => {};
  const ledger: LedgerStore = {
    ...papers,
    transact,
    append(entry) {
      check(entry);
      entries.append(entry);
    },
    archive,
    foundedAt: entries.foundedAt,
    lastFiledAt: entries.lastFiledAt,
    setFact: facts.setFact,
    capFacts: facts.capFacts,
    capEvidence: evidence.capEvidence,
    nextFactSeq: facts.nextFactSeq,
    nextEvidenceSeq: evidence.nextEvidenceSeq,
    setEvidence: evidence.setEvidence,
    evidenceBefore: evidence.evidenceBefore,
    waitingFor: evidence.waitingFor,
    takeFindings: evidence.takeFindings,
    awaitsEvidence: evidence.awaitsEvidence,
    setAwaitsEvidence: evidence.setAwaitsEvidence,
    queuePieceSources: evidence.queuePieceSources,
    queueFactSource: evidence.queueFactSource,
    queuePaperSources: evidence.queuePaperSources,
    nextReviewSeq: (paper) => entries.reviewCount(paper) + 1,
    setGeneration(entry) {
      papers.takeSeq(entry.paper, entry.seq);
      pieces.setGeneration(entry);
      facts.setCitations(entry.paper, entry.piece);
      // A new piece is a draft, which has neither tags nor a row in the search index.
      if (entry.piece.revision === 1) return;
      pieces.updateTags(entry.piece.id);
      search.note(entry.piece.id);
    },
    pieceState: pieces.state,
    setPieceState(piece, state) {
      pieces.setState(piece, state);
      facts.updateCitations(piece);
      search.note(piece);
      pieces.updateTags(piece);
    },
    awaitsReview: pieces.awaitsReview,
    setReviewed: pieces.setReviewed,
    setChangeRequest: pieces.setChangeRequest,
    datedAfter: pieces.datedAfter,
    capReviewed: pieces.capReviewed,
    scheduled: pieces.scheduled,
    isFullPressPending: (paper) => manifest.isPending(paper, dependencies.config),
    markStale: manifest.markStale,
    emit(event) {
      // Queued events about the piece would reveal its headline, now or when resent.
      if (event.type === 'story.withdrawn' && event.headline_withheld)
        deliveries.forgetPiece(event.paper, event.story.id);
      events.append(event);
    },
    logLeaf: log.append,
  };

  return {
    /** The file as a whole: transactions, the transparency logs, and tables used by both services. */
    database: {
      transact,
      /**
       * Identifies the running transaction, or the last one. Within one transaction, no other process changes anything.
       */
      transaction: (): object => transaction,
      publications: publicationTable(db, transact),
      log,
      served: servedTable(db),
      forwarded: forwardedTable(db),
      leases: leaseTable(db, transact),
      /** Other writers, and how long this connection waits for them. */
      lock,
      /**
       * Runs a small write together with those of other callers, and resolves when it is on disk. Waits up to
       * `patience` ms while another process holds the lock.
       */
      groupCommit: <T>(work: () => T, patience?: number, bytes?: number): Promise<T> =>
        lock.patiently(() => group.add(work, bytes), patience),
      /** Keeps this connection at the current state of the database until `endReading`. Do not write in between. */
      beginReading(): void {
        db.exec('BEGIN');
        // SQLite takes its snapshot at the first read, not at BEGIN.
        manifest.lastChangeOfAll();
      },
      endReading(): void {
        db.exec('COMMIT');
      },
      /** Runs read-only `work` on one state of the database, while others may write. */
      read<T>(work: () => T): T {
        db.exec('BEGIN');
        try {
          return work();
        } finally {
          db.exec('COMMIT');
        }
      },
      /** Why this connection's last write failed, if the disk rejected it; null once a write has succeeded. */
      diskFault: (): DiskState | null => diskFault,
      /** Converts an error of this database to a fault with a cure. Returns other errors unchanged. */
      fault: faultOf,
      ...clockTables(db, entries),
      ...soundnessChecks(db),
      /** The figures for monitoring. */
      vitalSigns(): VitalSigns {
        signs ??= vitalSigns(db);
        return signs;
      },
      /**
       * Moves the write-ahead log into the database and empties its file, which may contain deleted data. Returns false
       * if a read that began earlier, or another writer, prevented it.
       */
      emptyWal(): boolean {
        // Otherwise it would wait for readers while holding the write lock.
        db.exec('PRAGMA busy_timeout = 0');
        try {
          return truncateWal() === 0;
        } finally {
          db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
        }
      },
      close(): void {
        group.flush();
        db.close();
        closeCheckpoints();
      },
    },
    /** The ledger of the papers, and the tables derived from it. */
    desk: {
      ...entries,
      ...papers,
      ...ledger,
      firstFactAfter: facts.firstFactAfter,
      pieces,
      evidence,
      console: consoleTables(db),
      manifest,
      keys: keyTables(db, transact),
      consoleSessions: consoleSessionTable(db),
      consoleLinks: consoleLinkTable(db),
      consoleMails: consoleMailTable(db),
      passkeys: passkeyTable(db),
      challenges: challengeTable(db),
      activity: activityTable(db, transact),
      pageCounts: pageCountTable(db, transact),
      oauthClients: oauthClientTable(db),
      oauthGrants: oauthGrantTable(db, transact),
      terms: termsTable(db),
      previews: previewTable(db, transact),
      events,
      hosts: hostTable(db),
      hubPings: hubPingTable(db),
      removals: removalTable(db),
      missingMedia,
      linkCards,
      scripts: scriptLetters,
      ...appliedTable(db),
      readers: readerTables(db),
      alerts: alertTable(db),
      webhooks: webhookTable(db),
      deliveries,
      notices: noticeTable(db),
      /** Stored responses to the desk's writes. */
      answers: answerTable(db, 'answers'),
      nextScheduled: pieces.nextScheduled,
      /** Sets a check that runs before an entry is appended, and throws to reject it. */
      guard(given: (entry: LedgerEntry) => void): void {
        check = given;
      },
      /** Optimizes the search index. Call it after many filings. */
      optimizeSearch: search.optimize,
      ...archiveRows(db),
      ...pressRecords(db),
      /** Contradictions between the ledger's own tables and the tables derived from them. */
      ledgerFaults: (): string[] => ledgerFaults(db),
      /** Differences between the search index and the pieces that it indexes. */
      indexFaults: (progress: (done: number, total: number) => void): string[] => indexFaults(db, progress),
    },
    /** The domain records and their accounts. */
    records: {
      serviceAnswers: answerTable(db, 'service_answers'),
      ...recordsTables(db, transact, log),
      accounts: accountTable(db, transact),
      serviceKeys: serviceKeyTable(db, transact),
      sessions: sessionTable(db),
      signIns: signInTable(db),
      accountMails: accountMailTable(db),
      watchGroups: watchGroupTable(db, transact),
      groupFeeds: groupFeedTable(db),
      owners: ownerTable(db, transact),
      changeAlerts: changeAlertTable(db),
      changeQueue: changeQueueTable(db),
      expectations: expectationTable(db),
      changeDeliveries: changeDeliveryTable(db),
      changeWebhooks: changeWebhookStates(db),
      credits,
      meter: meterTable(db, transact, credits),
      keyless: keylessTable(db, transact),
      quotas: quotaTables(db, transact),
      payments: paymentTable(db),
      plans: planTable(db, transact),
    },
  };
}

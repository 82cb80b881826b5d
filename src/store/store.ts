import type { AccountTable } from '../accounts/account.ts';
import type { AccountMailTable } from '../accounts/account-mail.ts';
import type { ChangeAlertTable } from '../accounts/change-alert.ts';
import type { ServiceKeyTable } from '../accounts/service-key.ts';
import type { SessionTable } from '../accounts/session.ts';
import type { SignInTable } from '../accounts/sign-in.ts';
import type { WatchGroupTable } from '../accounts/watching.ts';
import type { AnswerTable } from '../desk/answers.ts';
import type { Archive } from '../desk/archive.ts';
import type { HostTable } from '../desk/host.ts';
import type { KeyTable } from '../desk/keys.ts';
import type { LedgerEntry } from '../desk/ledger-entry.ts';
import type { LedgerStore } from '../desk/ledger-store.ts';
import type { PreviewTable } from '../desk/preview-link.ts';
import { tags } from '../desk/tags.ts';
import type { TermsTable } from '../desk/terms.ts';
import { DiskFault, type DiskState } from '../fault.ts';
import type { CreditLedger } from '../meter/credits.ts';
import type { KeylessTable } from '../meter/keyless.ts';
import type { MeterTable } from '../meter/meter-table.ts';
import type { PaymentTable } from '../meter/purchase.ts';
import type { DeliveryJob, DeliveryQueue, WebhookStates } from '../outbound/delivery.ts';
import type { Manifest } from '../press/manifest.ts';
import type { AlertTable } from '../readers/alert-table.ts';
import type { DeliveryTable } from '../readers/delivery.ts';
import type { NoticeTable } from '../readers/notice.ts';
import type { ReaderTables } from '../readers/reader-tables.ts';
import type { WebhookTable } from '../readers/webhook-table.ts';
import { logProver } from '../transparency/log-proof.ts';
import type { LogTables } from '../transparency/log-tables.ts';
import { accountMailTable } from './account-mails.ts';
import { accountTable } from './accounts.ts';
import { alertTable } from './alerts.ts';
import { answerTable } from './answers.ts';
import type { AppliedTable } from './applied.ts';
import { appliedTable } from './applied.ts';
import { archiveOf } from './archive.ts';
import { askedMailboxTable } from './asked-mailboxes.ts';
import { changeAlertTable } from './change-alerts.ts';
import { changeDeliveryTable, changeWebhookStates } from './change-deliveries.ts';
import type { ChangeQueue } from './change-queue.ts';
import { changeQueueTable } from './change-queue.ts';
import { checkpoints } from './checkpoints.ts';
import type { ClockTables } from './clock.ts';
import { clockTables } from './clock.ts';
import { integer } from './columns.ts';
import { creditTables } from './credits.ts';
import { deliveryTable } from './deliveries.ts';
import type { Events } from './events.ts';
import { eventTable } from './events.ts';
import type { ForwardedTable } from './forwarded.ts';
import { forwardedTable } from './forwarded.ts';
import { groupCommit } from './group-commit.ts';
import { hostTable } from './hosts.ts';
import type { HubPingTable } from './hub-pings.ts';
import { hubPingTable } from './hub-pings.ts';
import { keylessTable } from './keyless.ts';
import { keyTables } from './keys.ts';
import type { LeaseTable } from './leases.ts';
import { leaseTable } from './leases.ts';
import type { ArchiveRows } from './ledger-audit.ts';
import { archiveRows, ledgerFaults } from './ledger-audit.ts';
import type { LedgerTables } from './ledger-entries.ts';
import { ledgerTables } from './ledger-entries.ts';
import { logTables } from './log.ts';
import { mailTable } from './mails.ts';
import { manifestTables } from './manifest.ts';
import { meterTable } from './meter.ts';
import type { MissingMediaTable } from './missing-media.ts';
import { missingMediaTable } from './missing-media.ts';
import { noticeTable } from './notices.ts';
import type { DatabaseSettings } from './open.ts';
import { databaseFault, openDatabase } from './open.ts';
import type { PaperTable } from './papers.ts';
import { paperTables } from './papers.ts';
import { paymentTable } from './payments.ts';
import { pieceTagTable } from './piece-tags.ts';
import type { PieceTable } from './pieces.ts';
import { pieceTables } from './pieces.ts';
import type { PressRecords } from './press-audit.ts';
import { pressRecords } from './press-audit.ts';
import { previewTable } from './previews.ts';
import type { PublicationTable } from './publications.ts';
import { publicationTable } from './publications.ts';
import type { QuotaTables } from './quotas.ts';
import { quotaTables } from './quotas.ts';
import { readerTokenTable } from './reader-tokens.ts';
import type { RecordsTables } from './records.ts';
import { recordsTables } from './records.ts';
import type { RemovalTable } from './removals.ts';
import { removalTable } from './removals.ts';
import { searchTables } from './search.ts';
import { indexFaults } from './search-audit.ts';
import type { ServedTable } from './served.ts';
import { servedTable } from './served.ts';
import { serviceKeyTable } from './service-keys.ts';
import { sessionTable } from './sessions.ts';
import { signInTable } from './sign-ins.ts';
import type { SoundnessChecks } from './soundness.ts';
import { soundnessChecks } from './soundness.ts';
import type { Transact } from './sql.ts';
import { beginWriting, sql } from './sql.ts';
import { subscriberTable } from './subscribers.ts';
import { suppressionTable } from './suppressions.ts';
import { termsTable } from './terms.ts';
import type { VitalSigns } from './vital-signs.ts';
import { vitalSigns } from './vital-signs.ts';
import { watchGroupTable } from './watch-groups.ts';
import { webhookTable } from './webhooks.ts';
import { WriteLock } from './write-lock.ts';

/** All tables of the database. Take only what you use: `Pick<Store, 'accounts' | 'sessions'>`, or the table itself. */
export interface Store
  extends LedgerStore,
    Pick<
      LedgerTables,
      | 'entries'
      | 'signingKeys'
      | 'keysAsEntered'
      | 'clockNotes'
      | 'corrections'
      | 'verifyingKeys'
      | 'signedLast'
      | 'signingNames'
    >,
    Pick<
      PaperTable,
      | 'paper'
      | 'removedPapers'
      | 'removedPaper'
      | 'papersVersion'
      | 'changedPapers'
      | 'record'
      | 'allMedia'
      | 'mediaAfter'
      | 'nextPlaceExpiry'
    >,
    Pick<PieceTable, 'unaired' | 'shown' | 'nextScheduled'>,
    AppliedTable,
    ArchiveRows,
    ClockTables,
    PressRecords,
    SoundnessChecks {
  papers: PaperTable;
  pieces: PieceTable;
  manifest: Manifest;
  keys: KeyTable;
  terms: TermsTable;
  previews: PreviewTable;
  events: Events;
  hosts: HostTable;
  hubPings: HubPingTable;
  publications: PublicationTable;
  removals: RemovalTable;
  served: ServedTable;
  missingMedia: MissingMediaTable;
  forwarded: ForwardedTable;
  /** Answers to writes, of the desk and of the domain records. */
  answers: AnswerTable;
  serviceAnswers: AnswerTable;

  readers: ReaderTables;
  alerts: AlertTable;
  webhooks: WebhookTable;
  deliveries: DeliveryTable;
  notices: NoticeTable;
  leases: LeaseTable;
  log: LogTables;

  records: RecordsTables;
  accounts: AccountTable;
  serviceKeys: ServiceKeyTable;
  sessions: SessionTable;
  signIns: SignInTable;
  accountMails: AccountMailTable;
  watchGroups: WatchGroupTable;
  changeAlerts: ChangeAlertTable;
  changeQueue: ChangeQueue;
  changeDeliveries: DeliveryQueue<DeliveryJob>;
  changeWebhooks: WebhookStates;
  credits: CreditLedger;
  meter: MeterTable;
  keyless: KeylessTable;
  quotas: QuotaTables;
  payments: PaymentTable;

  /** Who else may write, and how long this connection waits for it. */
  lock: WriteLock;
  /**
   * Runs a small write together with those of other callers, and resolves when it is on disk. While another process
   * holds the lock, it waits for `patience` ms.
   */
  groupCommit<T>(work: () => T, patience?: number): Promise<T>;
  /** Runs read-only `work` on one state of the database, while others may write. */
  read<T>(work: () => T): T;
  /** Keeps this connection at the current state of the database until `endReading`. Write nothing in between. */
  beginReading(): void;
  endReading(): void;
  /** Optimizes the search index. Call it after many filings. */
  optimizeSearch(): void;
  /** Has a check run before any entry is appended, which throws to refuse it. */
  guard(check: (entry: LedgerEntry) => void): void;
  /** Faults between the ledger's own tables and the tables derived from them. */
  ledgerFaults(): string[];
  /** Differences between the search index and the pieces that it indexes. */
  indexFaults(progress: (done: number, total: number) => void): string[];
  /** Why the last write of this connection failed, if the disk did not take it; null since one succeeded. */
  diskFault(): DiskState | null;
  /** Turns an error of this database into a fault that names the cure. Returns other errors unchanged. */
  fault(error: unknown): unknown;
  /** What monitoring reads. */
  vitalSigns(): VitalSigns;
  close(): void;
}

/** Opens the database. The SQL of each table is in its own file next to this one. */
export function openStore(settings: DatabaseSettings): Store {
  const db = openDatabase(settings);
  const lock = new WriteLock(db, settings);
  const entries = ledgerTables(db);
  const papers = paperTables(db);
  const pieces = pieceTables(db);
  const pieceTags = pieceTagTable(db);
  const manifest: Manifest = manifestTables(db);
  const terms = termsTable(db);
  const readers: ReaderTables = {
    subscribers: subscriberTable(db),
    askedMailboxes: askedMailboxTable(db),
    suppressions: suppressionTable(db),
    tokens: readerTokenTable(db),
    mails: mailTable(db),
  };
  const events = eventTable(db);
  const deliveries = deliveryTable(db);

  const log = logTables(db);
  const logProof = logProver(log, 'desk');
  const isLogCosigned = () => log.cosignedSize('desk') > 0;

  const missingMedia = missingMediaTable(db);

  const archives = new Map<string, Archive>();
  const archive = (paper: string): Archive => {
    let found = archives.get(paper);
    if (found === undefined) {
      found = archiveOf(paper, { papers, pieces, pieceTags, entries, search, missingMedia, logProof, isLogCosigned });
      archives.set(paper, found);
    }
    return found;
  };

  const { commit, close: closeCheckpoints } = checkpoints(db, settings);
  const changes = sql(db).one('SELECT total_changes()', integer);
  let diskFault: DiskState | null = null;
  const noted = (error: unknown): unknown => {
    const fault = databaseFault(error, settings.file);
    if (fault instanceof DiskFault) diskFault = fault.state;
    return fault;
  };
  let depth = 0;
  const transact: Transact = (work) => {
    if (depth > 0) return work();
    try {
      beginWriting(db);
    } catch (error) {
      throw noted(error);
    }
    depth++;
    try {
      // A commit without changes touches no disk.
      const before = diskFault === null ? 0 : changes();
      const result = work();
      search.flush();
      commit();
      if (diskFault !== null && changes() !== before) diskFault = null;
      return result;
    } catch (error) {
      search.forget();
      // SQLite itself rolls back after some errors, such as a full disk.
      if (db.inTransaction) db.exec('ROLLBACK');
      throw noted(error);
    } finally {
      depth--;
    }
  };

  const search = searchTables(db, transact);
  search.fill();

  const credits = creditTables(db, transact);
  const keys = keyTables(db, transact);
  const faultOf = (error: unknown) => databaseFault(error, settings.file);
  const group = groupCommit(db, transact, faultOf);
  // Prepared on first use: most connections never read them.
  let signs: VitalSigns | null = null;

  let check = (_entry: LedgerEntry): void => {};
  const ledger: LedgerStore = {
    transact,
    append(entry) {
      check(entry);
      entries.append(entry);
    },
    archive,
    paperSlugs: papers.paperSlugs,
    hasPaper: papers.hasPaper,
    setPaper: papers.setPaper,
    removePaper: papers.removePaper,
    bumpEdition: papers.bumpEdition,
    nextSeq: papers.nextSeq,
    lastFiledAt: entries.lastFiledAt,
    setGeneration(entry) {
      papers.takeSeq(entry.paper, entry.seq);
      pieces.setGeneration(entry);
      // A new piece is a draft, which has neither.
      if (entry.piece.revision === 1) return;
      pieceTags.setOf(entry.piece.id);
      search.note(entry.piece.id);
    },
    pieceState: pieces.state,
    setPieceState(piece, state) {
      pieces.setState(piece, state);
      search.note(piece);
      pieceTags.setOf(piece);
    },
    datedAfter: pieces.datedAfter,
    capChangedAt: papers.capChangedAt,
    scheduled: pieces.scheduled,
    isFullPressPending: (paper) => manifest.isPending(paper, tags.config),
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
    ...ledger,
    papers,
    pieces,
    lock,
    groupCommit: (work, patience) => lock.patiently(() => group.add(work), patience),
    manifest,
    keys,
    removals: removalTable(db),
    served: servedTable(db),
    missingMedia,
    hosts: hostTable(db),
    hubPings: hubPingTable(db),
    publications: publicationTable(db, transact),
    forwarded: forwardedTable(db),
    accounts: accountTable(db, transact),
    serviceKeys: serviceKeyTable(db, transact),
    payments: paymentTable(db),
    sessions: sessionTable(db),
    signIns: signInTable(db),
    accountMails: accountMailTable(db),
    watchGroups: watchGroupTable(db, transact),
    changeAlerts: changeAlertTable(db),
    changeQueue: changeQueueTable(db),
    changeDeliveries: changeDeliveryTable(db),
    changeWebhooks: changeWebhookStates(db),
    credits,
    meter: meterTable(db, transact, credits),
    keyless: keylessTable(db, transact),
    quotas: quotaTables(db, transact),
    answers: answerTable(db, 'answers'),
    serviceAnswers: answerTable(db, 'service_answers'),
    terms,
    previews: previewTable(db, transact),
    readers,
    events,
    alerts: alertTable(db),
    leases: leaseTable(db, transact),
    log,
    webhooks: webhookTable(db),
    deliveries,
    notices: noticeTable(db),
    records: recordsTables(db, transact, log),
    entries: entries.entries,
    signingKeys: entries.signingKeys,
    keysAsEntered: entries.keysAsEntered,
    clockNotes: entries.clockNotes,
    corrections: entries.corrections,
    verifyingKeys: entries.verifyingKeys,
    signedLast: entries.signedLast,
    signingNames: entries.signingNames,
    paper: papers.paper,
    removedPapers: papers.removedPapers,
    removedPaper: papers.removedPaper,
    papersVersion: papers.papersVersion,
    changedPapers: papers.changedPapers,
    record: papers.record,
    allMedia: papers.allMedia,
    mediaAfter: papers.mediaAfter,
    nextPlaceExpiry: papers.nextPlaceExpiry,
    unaired: pieces.unaired,
    shown: pieces.shown,
    nextScheduled: pieces.nextScheduled,
    ...appliedTable(db),
    ...clockTables(db, entries),
    guard(given) {
      check = given;
    },
    beginReading() {
      db.exec('BEGIN');
      // SQLite takes its snapshot at the first read, not at BEGIN.
      manifest.highestMarkOfAll();
    },
    endReading() {
      db.exec('COMMIT');
    },
    optimizeSearch: search.optimize,
    diskFault: () => diskFault,
    fault: (error) => databaseFault(error, settings.file),
    read(work) {
      db.exec('BEGIN');
      try {
        return work();
      } finally {
        db.exec('COMMIT');
      }
    },
    ...soundnessChecks(db),
    ...archiveRows(db),
    ...pressRecords(db),
    ledgerFaults: () => ledgerFaults(db),
    indexFaults: (progress) => indexFaults(db, progress),
    vitalSigns() {
      signs ??= vitalSigns(db);
      return signs;
    },
    close() {
      group.flush();
      db.close();
      closeCheckpoints();
    },
  };
}

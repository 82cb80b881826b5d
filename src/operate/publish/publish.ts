import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../shared/fault.ts';
import { inParallel } from '../../shared/storage/in-parallel.ts';
import { compare } from './compare.ts';
import { objectHeaders } from './object-headers.ts';
import { type LeaseRequest, PublishLease, readLease } from './publish-lease.ts';
import type { Difference, Pending, Source, SourceFile } from './source.ts';

/** After this many files, the database records that they were sent. */
const BATCH = 256;
/** The longest interval between two such records, in ms. */
const RECORD_EVERY = 1_000;
/** The pause before replacing a plan that a press made obsolete, in ms. */
const RETRY_PAUSE = 200;
/** If nothing of this many plans in a row could be sent, the tree on disk counts as damaged. */
const FRUITLESS_MAX = 10;

export interface PublishJob extends Omit<LeaseRequest, 'takesOver'> {
  source: Source;
  /** Compares every object and its headers, and takes over a target without a lease. */
  repair: boolean;
  progress(done: number, total: number, what: string): void;
}

export interface PublishReport {
  sent: number;
  bytes: number;
  removed: number;
}

/** Sends the files that the database has queued, and resumes after a kill. Compares an unknown target file by file. */
export async function publish(job: PublishJob): Promise<PublishReport> {
  const { source, bucket, prefix, excludes, repair } = job;
  if (!repair && (await isUpToDate(job))) return { sent: 0, bytes: 0, removed: 0 };
  source.watch();
  const lease = await PublishLease.acquire({ ...job, takesOver: repair });
  try {
    const isKnown = lease.before !== null && lease.before === source.publication();
    let differences: Difference[] | null = null;
    if (!isKnown || repair) {
      const compared = await compare(source, bucket, prefix, {
        excludes,
        // Another publication may have sent other headers with the same bytes.
        headers: repair || lease.before !== null,
        bytes: repair,
        progress: (done) => job.progress(done, done, 'compared'),
      });
      // A path that the tree never had belongs to something else, such as a backup in the same bucket.
      differences = repair ? compared.differences : compared.differences.filter(isOwn(source));
    }
    lease.assertHeld();
    source.begin(lease.publication, differences);
    const report = await sendAll(job, lease);
    lease.assertHeld();
    source.finish();
    // If this machine was suspended, it finds out here that it lost the lease.
    await lease.release();
    lease.signal.throwIfAborted();
    return report;
  } finally {
    await lease.release();
    // Writes in flight may have replaced files of the next publisher.
    if (lease.isLost()) source.doubt();
  }
}

const isOwn =
  (source: Source) =>
  ({ path, what }: Difference): boolean =>
    what !== 'stray' || source.mayHave(path);

/** Whether nothing is queued, and the target is the one that the database remembers. */
async function isUpToDate(job: PublishJob): Promise<boolean> {
  const { source, signal } = job;
  if (source.publication() === null || !isEmpty(await source.pending(signal))) return false;
  const lease = await readLease(job);
  return lease?.record.publication === source.publication();
}

/** What a publication would do, without doing any of it. */
export async function plan(job: Omit<PublishJob, 'repair'>): Promise<Difference[]> {
  const { source, bucket, prefix, excludes } = job;
  const lease = await readLease(job);
  if (lease !== null && lease.record.publication === source.publication()) {
    const { stages, removals } = await source.pending(job.signal);
    return [
      ...stages.flat().map(({ path }): Difference => ({ path, what: 'other bytes' })),
      ...removals.map((path): Difference => ({ path, what: 'stray' })),
    ];
  }
  const { differences } = await compare(source, bucket, prefix, { excludes, headers: lease !== null, bytes: false });
  return differences.filter(isOwn(source));
}

const isEmpty = ({ stages, removals }: Pending) => stages.every((stage) => stage.length === 0) && removals.length === 0;

/** Sends until nothing is queued. A concurrent press makes a plan obsolete, and the next one takes over. */
async function sendAll(job: PublishJob, lease: PublishLease): Promise<PublishReport> {
  const report: PublishReport = { sent: 0, bytes: 0, removed: 0 };
  let fruitless = 0;
  for (;;) {
    const pending = await job.source.pending(lease.signal);
    if (isEmpty(pending)) return report;
    const before = report.sent + report.removed;
    const overtaken = await sendPlan(job, lease, pending, report);
    if (overtaken === null) continue;
    fruitless = report.sent + report.removed > before ? 0 : fruitless + 1;
    if (fruitless === FRUITLESS_MAX) {
      const message = `${job.source.folder}/${overtaken} is not the file that was pressed; run broadsheet press --full, then publish again`;
      throw new Fault('unavailable', message);
    }
    await sleep(RETRY_PAUSE, undefined, { signal: lease.signal });
  }
}

/** Sends one plan stage by stage, then removes. Returns the path of a file that changed meanwhile, or null. */
async function sendPlan(
  { source, bucket, prefix, progress }: PublishJob,
  lease: PublishLease,
  { stages, removals }: Pending,
  report: PublishReport,
): Promise<string | null> {
  const total = stages.reduce((sum, stage) => sum + stage.length, 0) + removals.length;
  let done = 0;
  let overtaken: string | null = null;
  for (const stage of stages) {
    for (let at = 0; at < stage.length; at += BATCH) {
      const sent: SourceFile[] = [];
      let recordedAt = performance.now();
      const record = async (): Promise<void> => {
        recordedAt = performance.now();
        const files = sent.splice(0);
        if (files.length === 0) return;
        await bucket.flush();
        source.settle(files, []);
      };
      const send = async (file: SourceFile): Promise<void> => {
        if (overtaken !== null) return;
        const bytes = await file.read();
        if (bytes === null) {
          overtaken = file.path;
          return;
        }
        lease.assertHeld();
        const headers = bucket.keepsHeaders ? objectHeaders(source.headersOf(file.path), file.path, bytes) : {};
        await bucket.put(prefix + file.path, bytes, { headers, signal: lease.signal });
        sent.push(file);
        report.sent++;
        report.bytes += bytes.length;
        done++;
        progress(done, total, file.path);
        // So that large files are not sent again after a kill.
        if (performance.now() - recordedAt > RECORD_EVERY) await record();
      };
      try {
        await inParallel(stage.slice(at, at + BATCH), send);
      } finally {
        await record();
      }
      if (overtaken !== null) return overtaken;
    }
  }
  if (removals.length > 0) {
    lease.assertHeld();
    await bucket.remove(
      removals.map((path) => prefix + path),
      lease.signal,
    );
    await bucket.flush();
    source.settle([], removals);
    report.removed += removals.length;
    progress(total, total, 'removed');
  }
  return null;
}

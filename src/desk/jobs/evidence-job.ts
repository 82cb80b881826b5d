import { join } from 'node:path';
import type { Logger } from 'pino';
import { sha256 } from '../../proof/basis.ts';
import { askedFor, type CitedObservation } from '../../proof/records/cited-observation.ts';
import { DAY, HOUR, isoTime, MINUTE, SECOND } from '../../proof/time.ts';
import { type AppContext, deskOf } from '../../server/context.ts';
import { messageOf } from '../../shared/fault.ts';
import { clientOptions } from '../../shared/net/outbound-client.ts';
import { VERSION } from '../../shared/project.ts';
import { BATCH_PAUSE, hourly, poll } from '../../shared/workers/poll.ts';
import { type EvidenceState, isReadable, READ_EVERY } from '../evidence.ts';
import { isDemoPaper } from '../ingest/demo-papers.ts';
import { type ReadingFound, recordReading } from '../record-reading.ts';
import { DEMO_HOST, type DemoDocuments, demoDocuments } from '../sources/demo-documents.ts';
import { observedChanges, observeSource } from '../sources/observation-source.ts';
import { type Reading, type SourceReader, sourceReader } from '../sources/source-reader.ts';
import { type TextPool, textPool } from '../sources/text-pool.ts';
import type { Cited, Found } from '../sources/text-worker.ts';
import { warcOf } from '../sources/warc.ts';
import { CLAIM, keptAndSigned, noteFiles, sweepSources } from './source-files.ts';

const JOB = 'sources';
/** How often the job looks for sources to read, in ms. */
const LOOK_EVERY = 2 * SECOND;
/** Maximum number of sources read at a time. */
const AT_ONCE = 4;
/** Maximum number of facts checked in one reading of a source. The others are checked in the next one. */
const FACTS_AT_ONCE = 500;
/** Maximum duration of a reading, in ms. */
const READING_TIME = 5 * MINUTE;
/** With at least this many new changes, all observations are checked. */
const CHANGES_MAX = 1_000;
/** The wait after each consecutive failure, in ms. */
export const READ_WAITS = [10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY] as const;

/** The tools for reading sources. */
export interface SourceTools {
  read: SourceReader;
  /** Reads the documents of a demo paper, which reads no other sources. Without it, none of its sources are read. */
  demo?: ((paper: string) => SourceReader) | null;
  texts: TextPool;
  /** Called before each reading of a source. */
  began?(): void;
  /** The paper after which the next search for due sources begins, so that no paper delays the others. */
  after?: string;
  /** The newest change of the domain records whose observations are already due. */
  seen?: number;
}

/** Reads the sources of papers that enabled it, and again every month. Returns a function that stops the job. */
export function startSources(app: AppContext, logger: Logger): () => Promise<void> {
  const tools = sourceTools(app);
  const sweep = hourly(app, () => sweepSources(app));
  const round = async (): Promise<number> => {
    sweep(app.clock.now());
    sourcesOfChanged(app, tools);
    return (await readSources(app, tools, logger)) > 0 ? BATCH_PAUSE : LOOK_EVERY;
  };
  const stop = poll(round, { job: JOB, logger, failed: 'the job failed; it is retried' });
  return async () => {
    await stop();
    await tools.close();
  };
}

export function sourceTools({ settings }: Pick<AppContext, 'settings'>): SourceTools & { close(): Promise<void> } {
  const agent = `Broadsheet/${VERSION} (+${settings.origin})`;
  const texts = textPool();
  const demos = new Map<string, DemoDocuments>();
  const demo = (paper: string): SourceReader => {
    const found = demos.get(paper) ?? demoDocuments(join(settings.contentDir, paper, 'documents'), agent);
    demos.set(paper, found);
    return found.read;
  };
  return {
    read: sourceReader(clientOptions(agent, settings.webhookPrivate)),
    texts,
    demo: settings.demoSources ? demo : null,
    async close() {
      await Promise.all([texts.close(), ...[...demos.values()].map((demo) => demo.close())]);
    },
  };
}

/** Reads every source of some papers now. Returns how many were read. Skips sources that another process is reading. */
export async function checkSources(app: AppContext, papers: readonly string[]): Promise<number> {
  const tools = sourceTools(app);
  const { evidence } = app.store.desk;
  let count = 0;
  const began = () => void count++;
  try {
    for (const paper of papers) {
      app.store.database.transact(() => evidence.readAllSources(paper, app.clock.now()));
      while ((await readSources(app, { ...tools, began }, null, paper)) > 0);
    }
  } finally {
    await tools.close();
  }
  return count;
}

/**
 * Makes observations due again if their hostnames changed since they were read. Covers only the domain records that
 * this installation serves; observations of other services are read again every month. Returns how many became due.
 */
export function sourcesOfChanged({ store, settings, clock }: AppContext, tools: Pick<SourceTools, 'seen'>): number {
  const { records, desk } = store;
  const { seen } = tools;
  const newest = records.newestDelta();
  if (newest === seen) return 0;
  tools.seen = newest;
  const since = seen === undefined ? [] : records.deltas({}, { limit: CHANGES_MAX, order: 'oldest', cursor: seen });
  const isAll = seen === undefined || since.length === CHANGES_MAX;
  const changed = new Set(since.map(({ domain }) => domain));
  const changedAt = (instrument: string): number => {
    const domain = askedFor(instrument)?.domain ?? '';
    const host = isAll || changed.has(domain) ? records.find(domain) : null;
    return host === null ? 0 : (records.deltas({ host: host.id }, { limit: 1 })[0]?.at ?? 0);
  };
  const papers = desk.paperSlugs().filter((paper) => desk.paper(paper)?.sources?.read === true);
  const due = papers.flatMap((paper) =>
    desk.evidence
      .sourcesUnder(paper, settings.dataOrigin)
      // Subtracts the reading time, because a reading may have begun before a change and been noted after it.
      .filter(({ instrument, read_at }) => changedAt(instrument) > read_at - READING_TIME)
      .map(({ instrument }) => ({ paper, instrument })),
  );
  if (due.length > 0) {
    store.database.transact(() => {
      for (const { paper, instrument } of due) desk.evidence.readSourceAgain(paper, instrument, clock.now());
    });
  }
  return due.length;
}

/** Reads due sources, at most `AT_ONCE`. Returns how many were read. */
export async function readSources(
  app: AppContext,
  tools: SourceTools,
  logger: Logger | null,
  of?: string,
): Promise<number> {
  const { store, clock } = app;
  const due: { paper: string; instrument: string }[] = [];
  const slugs = of === undefined ? store.desk.paperSlugs() : [of];
  const from = slugs.indexOf(tools.after ?? '') + 1;
  for (const paper of [...slugs.slice(from), ...slugs.slice(0, from)]) {
    if (due.length >= AT_ONCE || store.desk.paper(paper)?.sources?.read !== true) continue;
    for (const instrument of store.desk.evidence.dueInstruments(paper, clock.now(), AT_ONCE - due.length))
      due.push({ paper, instrument });
    tools.after = paper;
  }
  const done = await Promise.allSettled(due.map((one) => readOne(app, tools, logger, one.paper, one.instrument)));
  for (const one of done) if (one.status === 'rejected') throw one.reason;
  return due.length;
}

/** Reads a source once, for all facts that name it. */
async function readOne(app: AppContext, tools: SourceTools, logger: Logger | null, paper: string, instrument: string) {
  const { store, clock } = app;
  const { desk, database } = store;
  const read = readerOf(app, tools, paper, instrument);
  const now = clock.now();
  const until = now + CLAIM;
  const tasks = await database.groupCommit(
    () =>
      desk.evidence.tasksOf(paper, now, instrument, FACTS_AT_ONCE).filter((task) => {
        if (read === null || !desk.evidence.isNewest(paper, task))
          return void desk.evidence.dropTask(paper, task.subject);
        if (!desk.evidence.claimTask(paper, task, until, now)) return false;
        // A source that readers do not see is read only once.
        const isNeeded =
          desk.evidence.evidenceBefore(paper, task.subject, task.version) === null ||
          desk.evidence.isSourceCited(paper, task);
        if (!isNeeded) desk.evidence.finishTask(paper, task, until, now + READ_EVERY, 0);
        return isNeeded;
      }),
    Number.POSITIVE_INFINITY,
  );
  if (tasks.length === 0 || read === null) return;
  tools.began?.();
  const reading = await read(instrument);
  const cited = tasks.map(({ subject, version, statement, quote }) => {
    const first = desk.evidence.evidenceBefore(paper, subject, version)?.first_observation ?? null;
    return { statement, quote, first };
  });
  const { found, keep } = await foundIn(reading, { read, texts: tools.texts }, instrument, isoTime(clock.now()), cited);
  const sign = () =>
    tasks.flatMap((task, at) => {
      const one = found[at];
      // If this process was held up, another one may have read the source, and the fact may have a newer version.
      if (one === undefined || !desk.hasPaper(paper) || !desk.evidence.holdsTask(paper, task, until)) return [];
      const before = desk.evidence.evidenceBefore(paper, task.subject, task.version);
      const isUnread = one.status === 'unread';
      const isUnverified = one.observed === 'unverified';
      const failures = isUnread || isUnverified ? task.failures + 1 : 0;
      const wait = failures === 0 ? READ_EVERY : (READ_WAITS[failures - 1] ?? READ_EVERY);
      desk.evidence.finishTask(paper, task, until, clock.now() + wait, failures > READ_WAITS.length ? 0 : failures);
      // An hour of downtime is not reported, and a source that stays unreadable or unverified is reported only once.
      const isLong = failures > READ_WAITS.length;
      const isNews =
        before === null ||
        (isUnread ? isLong && before.state !== 'unread' : !isUnverified || before.state !== 'unverified');
      if (!isNews) return [];
      noteFiles(app, [before?.text, before?.archive]);
      return [recordReading(deskOf(app), paper, task, one)];
    });
  let states: EvidenceState[];
  try {
    states = await keptAndSigned(app, keep, sign);
  } catch (error) {
    // Try again after a while. If this write fails too, the source is due when the claim ends.
    const due = clock.now() + READ_WAITS[0];
    try {
      for (const task of tasks) desk.evidence.finishTask(paper, task, until, due, task.failures);
    } catch {}
    throw error;
  }
  logger?.info(
    { job: JOB, paper, url: instrument, states, error: 'reason' in reading ? reading.reason : undefined },
    'read a source',
  );
}

/** A fact that cites a source; `first` is the observation that was read there first, null before. */
interface CitedFact extends Cited {
  first: CitedObservation | null;
}

/** The reader for an instrument of a paper; null when it is not read. The demo needs no network and is repeatable. */
function readerOf({ store }: AppContext, tools: SourceTools, slug: string, instrument: string): SourceReader | null {
  if (!isReadable(instrument)) return null;
  const paper = store.desk.paper(slug);
  if (paper === null || !isDemoPaper(paper)) return tools.read;
  return new URL(instrument).host === DEMO_HOST ? (tools.demo?.(slug) ?? null) : null;
}

/** What a reading shows about each fact, and the files to keep. */
async function foundIn(
  reading: Reading,
  tools: SourceTools,
  instrument: string,
  readAt: string,
  cited: readonly CitedFact[],
): Promise<{ found: ReadingFound[]; keep: Uint8Array[] }> {
  const nothing = { body: null, text: null, quote: null, reason: null, archive: null, nearest: null, missing: [] };
  const soughtIn = ({ quote }: { quote: string | null }) => (quote === null ? null : sha256(quote));
  const all = (one: Omit<ReadingFound, 'sought'>) => cited.map((fact) => ({ ...one, sought: soughtIn(fact) }));
  if (reading.outcome === 'gone') return { found: all({ ...nothing, status: 'gone' }), keep: [] };
  if (reading.outcome === 'unread') {
    return { found: all({ ...nothing, status: 'unread', reason: reading.reason }), keep: [] };
  }
  const { text, found, reason, unread, observed, observation, exchanges } = await said(
    reading,
    tools,
    instrument,
    cited,
  );
  if (unread !== undefined) return { found: all({ ...nothing, status: 'unread', reason: unread }), keep: [] };
  const warc = warcOf({ instrument: new URL(instrument).href, readAt, exchanges });
  const digest = text === null ? null : sha256(text);
  const kept = { ...nothing, status: reading.status, body: sha256(reading.body), text: digest, archive: sha256(warc) };
  const each = cited.map((fact, at): ReadingFound => {
    const { quote = null, nearest = null, missing = [], changes, unseen } = found[at] ?? {};
    if (unseen !== undefined) return { ...nothing, status: 'unread', reason: unseen, sought: soughtIn(fact) };
    const of = { ...kept, reason, sought: soughtIn(fact), quote, nearest, missing };
    if (observed !== undefined) {
      const beside = observation === undefined ? {} : { observation, changes: changes ?? [] };
      return { ...of, observed, ...beside };
    }
    // The source returned an observation at first, and something else now.
    if (fact.first === null) return of;
    return { ...kept, text: null, sought: of.sought, reason: NO_OBSERVATION, observed: 'unverified' };
  });
  return { found: each, keep: [warc, ...(text === null ? [] : [Buffer.from(text)])] };
}

const NO_OBSERVATION = 'it answered a signed observation before, and does not now';

/** What a response shows about each fact: as a signed observation if it is one, else as a text. */
interface Said extends Pick<ReadingFound, 'reason' | 'observed' | 'observation'>, Pick<Reading, 'exchanges'> {
  text: string | null;
  /** `unseen`: why it is unknown whether the hostname of an observation that was read before still answers the same. */
  found: (Found & { changes?: string[]; unseen?: string })[];
  /** Why it has to be read again. */
  unread?: string;
}

async function said(
  reading: Extract<Reading, { outcome: 'read' }>,
  { read, texts }: SourceTools,
  instrument: string,
  cited: readonly CitedFact[],
): Promise<Said> {
  const { plain: bytes, contentType, exchanges } = reading;
  const nothing = { text: null, found: [], exchanges };
  try {
    const seen = await observeSource(reading, instrument, { read, texts });
    if (seen === null) {
      const { text, found } = await texts.find({ bytes, contentType }, cited);
      return { text, found, exchanges, reason: text === null ? 'it has no text' : null };
    }
    const { found: one, exchanges: asked } = seen;
    if ('unread' in one) return { ...nothing, reason: null, unread: plainReason(one.unread) };
    if ('fault' in one) {
      return { ...nothing, exchanges: asked, reason: plainReason(one.fault), observed: 'unverified' };
    }
    const { observation, receipt, observed_by, text, unseen } = one;
    const inText = await texts.findIn(text, cited);
    const found = inText.map((found, at) => {
      const first = cited[at]?.first ?? null;
      const why = unseen === null || first === null ? {} : { unseen: plainReason(`its newest observation: ${unseen}`) };
      return { ...found, changes: observedChanges(one, first), ...why };
    });
    return { text, found, reason: null, observation, observed: { receipt, observed_by }, exchanges: asked };
  } catch (error) {
    return { ...nothing, reason: plainReason(`its text cannot be read: ${messageOf(error)}`) };
  }
}

/** Removes control and bidirectional characters, because errors of libraries may quote the text of a page. */
function plainReason(text: string): string {
  return text
    .replace(/[\p{C}\s]+/gu, ' ')
    .slice(0, REASON_MAX)
    .toWellFormed();
}

/** Maximum length of a reason in the ledger, in UTF-16 units. */
const REASON_MAX = 200;

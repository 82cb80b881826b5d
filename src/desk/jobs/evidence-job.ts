import type { Logger } from 'pino';
import { sha256 } from '../../proof/basis.ts';
import { DAY, HOUR, isoTime, MINUTE, SECOND } from '../../proof/time.ts';
import { type AppContext, deskOf } from '../../server/context.ts';
import { messageOf } from '../../shared/fault.ts';
import { clientOptions } from '../../shared/net/outbound-client.ts';
import { VERSION } from '../../shared/project.ts';
import { BATCH_PAUSE, hourly, poll } from '../../shared/workers/poll.ts';
import { type EvidenceState, isReadable } from '../evidence.ts';
import { type ReadingFound, recordReading } from '../record-reading.ts';
import { type Reading, type SourceReader, sourceReader } from '../sources/source-reader.ts';
import { type TextFound, type TextPool, textPool } from '../sources/text-pool.ts';
import { warcOf } from '../sources/warc.ts';
import { CLAIM, keptAndSigned, noteFiles, sweepSources } from './source-files.ts';

const JOB = 'sources';
/** How often the job looks for sources to read, in ms. */
const LOOK_EVERY = 2 * SECOND;
/** The most sources that are read at a time. */
const AT_ONCE = 4;
/** The most facts that are looked up in one reading of a source; the others have the next one. */
const FACTS_AT_ONCE = 500;
/** When a source is read again, in ms. */
export const READ_EVERY = 30 * DAY;
/** The wait after each failure in a row, in ms. */
export const READ_WAITS = [10 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY] as const;

/** What reads sources. */
export interface SourceTools {
  read: SourceReader;
  texts: TextPool;
  /** The paper after which the next look begins, so that no paper with many sources keeps others waiting. */
  after?: string;
}

/** Reads the sources of papers that want that, and again each month. Returns a function that stops it. */
export function startSources(app: AppContext, logger: Logger): () => Promise<void> {
  const tools = sourceTools(app);
  const sweep = hourly(app, () => sweepSources(app));
  const round = async (): Promise<number> => {
    sweep(app.clock.now());
    return (await readSources(app, tools, logger)) > 0 ? BATCH_PAUSE : LOOK_EVERY;
  };
  const stop = poll(round, { job: JOB, logger, failed: 'the job failed; it is retried' });
  return async () => {
    await stop();
    await tools.texts.close();
  };
}

export function sourceTools({ settings }: Pick<AppContext, 'settings'>): SourceTools {
  const agent = `Broadsheet/${VERSION} (+${settings.origin})`;
  return { read: sourceReader(clientOptions(agent, settings.webhookPrivate)), texts: textPool() };
}

/** Reads every source of some papers now. Returns how many were read. A source that another process reads is left to it. */
export async function checkSources(app: AppContext, papers: readonly string[]): Promise<number> {
  const tools = sourceTools(app);
  const { evidence } = app.store.desk;
  let count = 0;
  try {
    for (const paper of papers) {
      app.store.database.transact(() => evidence.readAllSources(paper, app.clock.now()));
      for (let read = -1; read !== 0; count += read) read = await readSources(app, tools, null, paper);
    }
  } finally {
    await tools.texts.close();
  }
  return count;
}

/** Reads the sources that are due, `AT_ONCE` of them at most. Returns how many were read. */
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
async function readOne(
  app: AppContext,
  { read, texts }: SourceTools,
  logger: Logger | null,
  paper: string,
  instrument: string,
) {
  const { store, clock } = app;
  const { desk, database } = store;
  const now = clock.now();
  const until = now + CLAIM;
  const tasks = await database.groupCommit(
    () =>
      desk.evidence.tasksOf(paper, now, instrument, FACTS_AT_ONCE).filter((task) => {
        if (!isReadable(instrument) || !desk.evidence.isNewest(paper, task))
          return void desk.evidence.dropTask(paper, task.subject);
        if (!desk.evidence.claimTask(paper, task, until, now)) return false;
        // What readers do not see is read once.
        const isNeeded =
          desk.evidence.evidenceBefore(paper, task.subject, task.version) === null ||
          desk.evidence.isSourceCited(paper, task);
        if (!isNeeded) desk.evidence.finishTask(paper, task, until, now + READ_EVERY, 0);
        return isNeeded;
      }),
    Number.POSITIVE_INFINITY,
  );
  if (tasks.length === 0) return;
  const reading = await read(instrument);
  const { found, keep } = await foundIn(reading, texts, instrument, isoTime(clock.now()), tasks);
  const sign = () =>
    tasks.flatMap((task, at) => {
      const one = found[at];
      // Another process may have read it after this one was held up, and the fact may have a newer version.
      if (one === undefined || !desk.hasPaper(paper) || !desk.evidence.holdsTask(paper, task, until)) return [];
      const before = desk.evidence.evidenceBefore(paper, task.subject, task.version);
      const failures = one.status === 'unread' ? task.failures + 1 : 0;
      const wait = failures === 0 ? READ_EVERY : (READ_WAITS[failures - 1] ?? READ_EVERY);
      desk.evidence.finishTask(paper, task, until, clock.now() + wait, failures > READ_WAITS.length ? 0 : failures);
      // A site that is down for an hour is no news, and it is said once that a source cannot be read.
      const isNews =
        one.status !== 'unread' || before === null || (failures > READ_WAITS.length && before.state !== 'unread');
      if (!isNews) return [];
      noteFiles(app, [before?.text, before?.archive]);
      return [recordReading(deskOf(app), paper, task, one)];
    });
  let states: EvidenceState[];
  try {
    states = await keptAndSigned(app, keep, sign);
  } catch (error) {
    // It is due again after a while; when the disk takes no row either, once the claim ends.
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

/** What a reading says of each fact, and the files that are kept of it. */
async function foundIn(
  reading: Reading,
  texts: TextPool,
  instrument: string,
  readAt: string,
  tasks: readonly { statement: string; quote: string | null }[],
): Promise<{ found: ReadingFound[]; keep: Uint8Array[] }> {
  const nothing = { body: null, text: null, quote: null, reason: null, archive: null, nearest: null, missing: [] };
  const all = (one: Omit<ReadingFound, 'quoted'>) => tasks.map(({ quote }) => ({ ...one, quoted: quote !== null }));
  if (reading.outcome === 'gone') return { found: all({ ...nothing, status: 'gone' }), keep: [] };
  if (reading.outcome === 'unread') {
    return { found: all({ ...nothing, status: 'unread', reason: reading.reason }), keep: [] };
  }
  const { status, body, plain, contentType, exchanges } = reading;
  const cited = tasks.map(({ statement, quote }) => ({ statement, quote }));
  let inText: TextFound = { text: null, digest: null, found: [] };
  let reason: string | null = null;
  try {
    inText = await texts.find({ bytes: plain, contentType }, cited);
    if (inText.text === null) reason = 'it has no text';
  } catch (error) {
    reason = `its text cannot be read: ${messageOf(error)}`
      .replace(/[\p{C}\s]+/gu, ' ')
      .slice(0, REASON_MAX)
      .toWellFormed();
  }
  const warc = warcOf({ instrument: new URL(instrument).href, readAt, exchanges });
  const kept = { ...nothing, status, body: sha256(body), text: inText.digest, reason, archive: sha256(warc) };
  const found = tasks.map(({ quote }, at) => {
    const { quote: place = null, nearest = null, missing = [] } = inText.found[at] ?? {};
    return { ...kept, quoted: quote !== null, quote: place, nearest, missing };
  });
  return { found, keep: [warc, ...(inText.text === null ? [] : [Buffer.from(inText.text)])] };
}

/** The longest reason that the ledger keeps, in UTF-16 units: errors of libraries may quote what they read,
 * also what turns the text of a page around. */
const REASON_MAX = 200;

import { toBase64 } from '../../../proof/bytes.ts';
import { edgeRoot } from '../../../proof/log/append.ts';
import { LogFault } from '../../../proof/log/log-fault.ts';
import type { Policy } from '../../../proof/log/policy.ts';
import { isoTime, MINUTE } from '../../../proof/time.ts';
import { Fault, messageOf } from '../../../shared/fault.ts';
import { plural } from '../../../shared/plural.ts';
import { logSource, ServedTree } from '../log/served-log.ts';
import { readGrowth, readHead } from './log-growth.ts';
import type { Finding } from './log-memory.ts';
import { type MonitorState, readState, type WatchedPage, writeState } from './monitor-state.ts';
import { checkPage, type ReadLog, readPage, type SeenPage } from './page-check.ts';
import { STORIES_MAX, storyAddresses } from './story-addresses.ts';

/** The most pages that one run reads: new, listed and unlisted ones in turn, the least recently read first. */
const PAGES_PER_RUN = 500;
const AT_ONCE = 4;
/** A site is not asked further after this many failures in a row. */
const FAILURES_MAX = 5;
/** How long a run may take, in ms. */
const LONGEST_RUN = 30 * MINUTE;
/** The most findings in a state file. */
const KEPT_MAX = 1_000;

export interface MonitorRun {
  /** The log's origin and head; null when it could not be read. */
  log: { origin: string; size: number; root: string } | null;
  leaves_read: number;
  pages_read: number;
  /** Pages whose receipt the log does not show yet, and which are not late. */
  pages_waiting: number;
  findings: Finding[];
  /** Corrections of the clock that were read for the first time, each one line. */
  corrections: string[];
  /** What could not be checked, each one line. */
  unchecked: string[];
}

interface MonitorTask {
  /** The addresses of papers or of hosts, all of which one log is for. */
  sites: string[];
  policy: Policy;
  /** The state file. */
  file: string;
  now: () => number;
  progress?: (label: string, done: number, total: number) => void;
}

/**
 * One run: reads pages, then the log, compares both with each other and with the last run. Throws a Fault when the
 * state file is damaged, or of another log.
 */
export async function monitor(task: MonitorTask): Promise<MonitorRun> {
  const { sites, policy, file, now, progress = () => {} } = task;
  const until = now() + LONGEST_RUN;
  const isLate = () => now() >= until;
  const state = await readState(file);
  if (state.origin !== null && !policy.logs.some(({ key }) => key.name === state.origin)) {
    throw new Fault('invalid_request', `${file} is the state of ${state.origin}, a log that the policy does not name`);
  }
  const nothing = { leaves_read: 0, pages_read: 0, pages_waiting: 0 };
  const run: MonitorRun = { log: null, ...nothing, findings: [], corrections: [], unchecked: [] };
  const pages = await watchedPages(sites, state, run, isLate);
  const seen = await readPages(pages, run, isLate, (done, total) => progress('pages', done, total));
  // Where the policy's only log says, else at the host of the first site.
  const [only, ...others] = policy.logs;
  const source = logSource(only?.url != null && others.length === 0 ? only.url : new URL('/log/', sites[0]).href);
  await tried(run, async () => {
    const head = await readHead(source, policy);
    const { origin, size, root } = head.checkpoint;
    if (state.origin !== null && state.origin !== origin) {
      throw new Fault('invalid_request', `${file} is the state of ${state.origin}, and ${source.where} is ${origin}`);
    }
    run.log = { origin, size, root: toBase64(root) };
    const growth = await readGrowth(source, head, state, state.memory, (done, total) => {
      if (isLate()) throw new Fault('unavailable', `the log could not be read in ${LONGEST_RUN / MINUTE} minutes`);
      progress('leaves', done, total);
    });
    run.findings.push(...growth.findings);
    run.corrections.push(...state.memory.corrections.map((line) => `${origin}: ${line}`));
    if (growth.edge === null) return;
    if (head.quorum_fault !== null) throw new Fault('unavailable', `${source.where}: ${head.quorum_fault}`);
    run.leaves_read = size - state.edge.size;
    const tree = new ServedTree(source, size);
    const log = { source, head: head.checkpoint, tree, memory: state.memory, old_size: state.edge.size };
    const kept = [...state.findings, ...growth.findings].slice(0, KEPT_MAX);
    run.findings.unshift(...state.findings);
    const watched = await comparePages(seen, pages, log, run, { now: now(), isLate });
    const shown = { origin, edge: growth.edge, checkpoint: head.text, seen_at: isoTime(now()) };
    const next = { ...state, ...shown, findings: kept, pages: watched };
    const other = await writeState(file, next);
    if (other === null) return;
    const what = `at ${other.seen_at} another monitor read the root ${toBase64(edgeRoot(other.edge))} for ${size} leaves, and this one ${toBase64(root)}`;
    run.findings.push({ kind: 'fork', where: origin, what, means: 'different readers are shown different logs' });
  });
  return run;
}

/** Runs a part; if something cannot be read, a line of `unchecked` says so. */
async function tried(run: MonitorRun, part: () => Promise<void>): Promise<void> {
  try {
    await part();
  } catch (error) {
    if (!(error instanceof Fault) && !(error instanceof LogFault)) throw error;
    run.unchecked.push(messageOf(error));
  }
}

/** The pages to watch: those of the last run and those that the sites list now, in the order in which to read them. */
async function watchedPages(sites: string[], state: MonitorState, { unchecked }: MonitorRun, isLate: () => boolean) {
  const pages = new Map(state.pages.map((page) => [page.address, page]));
  const listed = new Set<string>();
  for (const site of sites) {
    const hadStories = state.pages.some(({ address }) => new URL(address).origin === new URL(site).origin);
    for (const address of await storyAddresses(site, unchecked, isLate, hadStories)) listed.add(address);
  }
  for (const address of listed) {
    if (pages.has(address)) continue;
    if (pages.size === STORIES_MAX) {
      unchecked.push(`there are more than ${STORIES_MAX} pages, the most that a monitor watches`);
      break;
    }
    const nothing = { paper: null, piece: null, unlogged_since: null };
    pages.set(address, { address, ...nothing, seen_size: state.edge.size, checked_at: 0 });
  }
  const longest = [...pages.values()].sort((a, b) => a.checked_at - b.checked_at);
  const isNew = ({ checked_at }: WatchedPage) => checked_at === 0;
  // In turn, so that a site that lists many useless addresses cannot keep a monitor from the pages that it knows.
  return inTurn(
    // Pages that are no longer listed may be gone.
    longest.filter((page) => !isNew(page) && !listed.has(page.address)),
    longest.filter(isNew),
    longest.filter((page) => !isNew(page) && listed.has(page.address)),
  );
}

/** The first of each list, then the second of each, and so on. */
function inTurn<T>(...lists: T[][]): T[] {
  const most = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: most }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/** Reads the first of some pages, a few at once. */
async function readPages(
  pages: WatchedPage[],
  run: MonitorRun,
  isLate: () => boolean,
  progress: (done: number, total: number) => void,
): Promise<SeenPage[]> {
  const asked = pages.slice(0, PAGES_PER_RUN);
  const seen: SeenPage[] = [];
  const failures = new Map<string, number>();
  for (let at = 0; at < asked.length; at += AT_ONCE) {
    if (isLate()) {
      run.unchecked.push(`${plural(asked.length - at, 'page')} could not be read in ${LONGEST_RUN / MINUTE} minutes`);
      break;
    }
    const reading = asked.slice(at, at + AT_ONCE).map(async (page) => {
      const host = new URL(page.address).host;
      const failed = failures.get(host) ?? 0;
      if (failed >= FAILURES_MAX) return;
      await tried(run, async () => {
        failures.set(host, failed + 1);
        seen.push(await readPage(page));
        failures.delete(host);
      });
      if ((failures.get(host) ?? 0) >= FAILURES_MAX) run.unchecked.push(`${host}: its other pages were not asked for`);
    });
    await Promise.all(reading);
    progress(Math.min(at + AT_ONCE, asked.length), asked.length);
  }
  run.pages_read = seen.length;
  return seen;
}

/** Compares the pages that were read with the log. Returns the pages to watch from now on. */
async function comparePages(
  seen: SeenPage[],
  pages: WatchedPage[],
  log: ReadLog,
  run: MonitorRun,
  { now, isLate }: { now: number; isLate: () => boolean },
): Promise<WatchedPage[]> {
  const watched = new Map(pages.map((page) => [page.address, page]));
  for (const [at, one] of seen.entries()) {
    if (isLate()) {
      run.unchecked.push(
        `${plural(seen.length - at, 'page')} could not be compared in ${LONGEST_RUN / MINUTE} minutes`,
      );
      break;
    }
    await tried(run, async () => {
      const { page, findings } = await checkPage(one, log, now);
      run.findings.push(...findings);
      if (page === null) watched.delete(one.page.address);
      else watched.set(one.page.address, page);
      if (page?.unlogged_since != null && findings.length === 0) run.pages_waiting++;
    });
  }
  return [...watched.values()];
}

import { requirePaper } from '../../desk/papers/require-paper.ts';
import type { AppContext } from '../../server/context.ts';
import { Fault, messageOf, stackOf, Unreachable } from '../../shared/fault.ts';
import { plural } from '../../shared/plural.ts';
import { sizeText } from '../../shared/size.ts';
import { type Address, treePrefix } from '../../shared/storage/address.ts';
import type { Bucket } from '../../shared/storage/bucket.ts';
import { openBucket, publishAddress } from '../../shared/storage/publish-target.ts';
import { printError } from '../../shared/terminal/output.ts';
import { progressTo } from '../../shared/terminal/progress.ts';
import { readLogKey } from '../../signing/log/log-key.ts';
import { compare } from './compare.ts';
import { type PublishReport, plan, publish } from './publish.ts';
import { type LeaseTimes, readLease } from './publish-lease.ts';
import { hasLog, isLogStale, LOG_TREE, logSource } from './publish-log-source.ts';
import { paperSource } from './publish-paper-source.ts';
import type { Source } from './source.ts';

export interface PublishOptions {
  /** Publishes only this paper, without the log. */
  paper?: string | undefined;
  /** Publishes only those of these trees that exist. */
  trees?: ReadonlySet<string>;
  repair?: boolean | undefined;
  times?: LeaseTimes;
  waiting?: (tree: string, holder: string) => void;
  progress?: (tree: string, done: number, total: number, what: string) => void;
  signal?: AbortSignal | undefined;
}

/** The trees of which an address lacks files, as far as the database knows. */
export function staleTrees(app: AppContext, address: Address): string[] {
  const { publications } = app.store.database;
  const known = publications.trees(address.href).filter(({ isPublished }) => isPublished);
  const published = new Set(known.map(({ tree }) => tree));
  const papers = address.paper === null ? app.store.desk.paperSlugs() : [address.paper];
  const fresh = papers.filter((paper) => !published.has(paper) && publications.hasFiles(paper));
  const queued = known.filter(({ isQueued }) => isQueued).map(({ tree }) => tree);
  return [...(isLogStale(app, address.href) ? [LOG_TREE] : []), ...new Set([...fresh, ...queued])];
}

/** Publishes the files that an address lacks: the log first, then each paper. Returns a report for each tree. */
export async function publishTrees(app: AppContext, address: Address, bucket: Bucket, options: PublishOptions = {}) {
  const { publications } = app.store.database;
  const work = async (source: Source): Promise<PublishReport> => {
    try {
      return await publish({ ...jobOf(source, address, bucket, options), repair: options.repair === true });
    } catch (error) {
      if (options.signal?.aborted !== true)
        publications.fail(address.href, source.tree, app.clock.now(), messageOf(error));
      throw error;
    }
  };
  return eachTree(app, address, bucket, options, work);
}

/** What a publication would do now. */
export function planTrees(app: AppContext, address: Address, bucket: Bucket, options: PublishOptions = {}) {
  return eachTree(app, address, bucket, options, (source) => plan(jobOf(source, address, bucket, options)));
}

/** Compares every object with the trees: its bytes and its headers. */
export function compareTrees(app: AppContext, address: Address, bucket: Bucket, options: PublishOptions = {}) {
  return eachTree(app, address, bucket, options, async (source) => {
    const job = jobOf(source, address, bucket, options);
    const { prefix, excludes, progress } = job;
    // Throws for another desk's tree, whose objects a listing would all report as strays.
    await readLease(job);
    const shown = (done: number) => progress(done, done, 'compared');
    return compare(source, bucket, prefix, { excludes, headers: true, bytes: true, progress: shown });
  });
}

/** Works on each tree. A failure does not stop the others, and is thrown at the end. */
async function eachTree<T>(
  app: AppContext,
  address: Address,
  bucket: Bucket,
  options: PublishOptions,
  work: (source: Source) => Promise<T>,
): Promise<Map<string, T>> {
  const results = new Map<string, T>();
  const failures: unknown[] = [];
  for (const source of sourcesOf(app, address, bucket, options)) {
    try {
      results.set(source.tree, await work(source));
    } catch (error) {
      failures.push(error);
      // The other trees would wait just as long.
      if (error instanceof Unreachable) break;
    }
  }
  if (failures.length === 0) return results;
  if (failures.length === 1 || !failures.every((error) => error instanceof Fault)) throw failures[0];
  throw new Fault('unavailable', [...new Set(failures.map(messageOf))].join('; '));
}

/** The trees that an address should have, and those that it had. */
function sourcesOf(app: AppContext, address: Address, bucket: Bucket, { paper, trees }: PublishOptions): Source[] {
  const { store } = app;
  const only = paper ?? address.paper;
  if (paper !== undefined && address.paper !== null && paper !== address.paper) {
    throw new Fault('invalid_request', `--paper ${paper}: the address has paper=${address.paper}; give one of them`);
  }
  if (only !== null && store.desk.removedPaper(only) === null) {
    requirePaper(app, only);
    if (!store.database.publications.hasFiles(only) && store.database.publications.find(address.href, only) === null) {
      const cure = 'run broadsheet press first, or make the paper public';
      throw new Fault('unavailable', `nothing of ${only} is pressed; ${cure}`);
    }
  }
  const published = store.database.publications.trees(address.href).map(({ tree }) => tree);
  const papers = only === null ? [...store.desk.paperSlugs(), ...published] : [only];
  const isWanted = (tree: string) => trees === undefined || trees.has(tree);
  const wanted = [...new Set(papers)]
    .filter((tree) => tree !== LOG_TREE && isWanted(tree))
    .filter((tree) => store.database.publications.hasFiles(tree) || published.includes(tree))
    .map((tree) => paperSource(app, tree, address.href, bucket.keepsHeaders));
  const isLogWanted = paper === undefined && isWanted(LOG_TREE) && hasLog(app);
  const key = isLogWanted ? readLogKey(app, 'desk') : null;
  return key === null ? wanted : [logSource(app, address.href, key.vkey), ...wanted];
}

function jobOf(source: Source, address: Address, bucket: Bucket, options: PublishOptions) {
  const { tree } = source;
  const prefix = treePrefix(address, tree);
  const logPrefix = treePrefix(address, LOG_TREE);
  return {
    source,
    bucket,
    prefix,
    excludes: logPrefix !== prefix && logPrefix.startsWith(prefix) ? [logPrefix] : [],
    tree,
    key: source.key,
    times: options.times,
    waiting: (holder: string) => options.waiting?.(tree, holder),
    progress: (done: number, total: number, what: string) => options.progress?.(tree, done, total, what),
    signal: options.signal,
  };
}

/** Publishes, and shows the progress on the terminal. */
export async function publishWithProgress(
  app: AppContext,
  command: Pick<PublishOptions, 'paper' | 'trees' | 'repair'> & { to?: string | undefined },
): Promise<Map<string, PublishReport>> {
  const address = publishAddress(app.settings, command.to);
  const progress = progressTo();
  const reporter = publishReporter((tree, ...at) => progress.step(`publish ${tree}`, ...at));
  const bucket = openBucket(app.settings, address);
  return publishTrees(app, address, bucket, { ...command, ...reporter }).finally(progress.end);
}

/** What a command prints while it works or waits. */
export function publishReporter(progress: (tree: string, done: number, total: number, what: string) => void) {
  let lastHolder = '';
  return {
    progress,
    waiting: (tree: string, holder: string) => {
      if (lastHolder === holder) return;
      lastHolder = holder;
      printError(`waiting: another publisher, ${holder}, is at work on ${treeName(tree)}`);
    },
  };
}

/** A tree's name in messages. */
export function treeName(tree: string): string {
  return tree === LOG_TREE ? 'the log' : tree;
}

/** A summary with one line per tree. */
export function publishLines(reports: ReadonlyMap<string, PublishReport>): string[] {
  const lines = [...reports]
    .filter(([, { sent, removed }]) => sent + removed > 0)
    .map(
      ([tree, { sent, bytes, removed }]) =>
        `published ${treeName(tree)}: ${plural(sent, 'file')} sent (${sizeText(bytes)}), ${removed} removed`,
    );
  return lines.length > 0 ? lines : ['nothing left to publish'];
}

/** Publishes after a press, if PUBLISH_URL is set. A failure is reported and does not fail the command. */
export async function publishAfterPress(app: AppContext): Promise<void> {
  if (app.settings.publishUrl === null) return;
  try {
    // Only these, because each tree costs a request, and there may be a thousand.
    const trees = new Set(staleTrees(app, publishAddress(app.settings, undefined)));
    if (trees.size === 0) return;
    for (const line of publishLines(await publishWithProgress(app, { trees }))) printError(line);
  } catch (error) {
    // The command has done its own work, so not even a defect here makes it fail.
    const why = error instanceof Fault ? error.message : stackOf(error);
    printError(`not published: ${why}. What was not sent is queued: run broadsheet publish, or leave it to the server`);
  }
}

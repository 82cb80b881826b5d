import { LOG_SERVICES } from '../../desk/log-leaves.ts';
import { type MediaLocation, missingMedia, openMediaStore, unnoticedMedia } from '../../desk/media/missing-media.ts';
import { hostOfPaper, hostProblem, servedAt } from '../../desk/papers/host.ts';
import { LOG_SLUG } from '../../desk/papers/paper.ts';
import { tableTag } from '../../phrases/tables.ts';
import type { LogService } from '../../proof/log/leaf.ts';
import { isoTime } from '../../proof/time.ts';
import type { AppContext } from '../../server/context.ts';
import type { Settings } from '../../server/env.ts';
import { CLI } from '../../shared/command-line.ts';
import { plural } from '../../shared/plural.ts';
import { openBucket, publishAddress } from '../../shared/storage/publish-target.ts';
import { assertNotFenced } from '../../signing/log/log-fence.ts';
import { logStatus } from '../../signing/log/log-status.ts';
import { readSignerLease, watchSignerLease } from '../../signing/signer.ts';
import { CEDED_CURE, cededWords } from '../../signing/signer-lease.ts';
import { readLease } from '../publish/publish-lease.ts';
import { staleTrees, treeName } from '../publish/publish-run.ts';
import { type Finding, type Found, fault, holds, open, runChecks } from './finding.ts';

/** Compares the papers' addresses with the hosts at which they are served. */
export function checkHosts({ store, settings }: AppContext) {
  const papers = store.desk.paperSlugs().flatMap((slug) => store.desk.paper(slug) ?? []);
  const served = servedAt(papers, store.desk.hosts);
  const unfit = served.find(({ url }) => hostProblem(new URL(url ?? ''), settings) !== null);
  if (unfit !== undefined) {
    const host = hostOfPaper(unfit);
    return fault(
      `${unfit.slug} is served at ${host}, which is a host of the service itself`,
      `run \`${CLI} paper host ${unfit.slug} ${host} --remove\`, and give the paper a domain of its own`,
    );
  }
  // The slug was not reserved from the beginning.
  if (papers.some((paper) => paper.slug === LOG_SLUG && !served.includes(paper))) {
    return fault(
      `the transparency log is at ${settings.origin}/${LOG_SLUG}/, which was the front page of the paper called ${LOG_SLUG}; its other pages are still served`,
      `give that paper a domain of its own with \`url\` in its paper.yaml, and file it again`,
    );
  }
  const elsewhere = papers.find(
    (paper) => paper.url?.startsWith(`${settings.origin}/`) === false && !served.includes(paper),
  );
  if (elsewhere !== undefined) {
    return open(
      `${elsewhere.slug} has the address ${elsewhere.url}, where this server does not serve it; if it should, run \`${CLI} paper host ${elsewhere.slug} ${hostOfPaper(elsewhere)}\``,
    );
  }
  return holds(served.length === 0 ? 'no paper has its own host' : served.map(({ url }) => url).join(', '));
}

/** Names the papers in a language without a table of phrases: the words around their pieces are English. */
export function checkLanguages(app: AppContext | null) {
  const papers = app === null ? [] : app.store.desk.paperSlugs().flatMap((slug) => app.store.desk.paper(slug) ?? []);
  const without = papers.filter(({ language }) => tableTag(language) === null);
  if (without.length === 0) return holds('the pages of every paper speak its language');
  const named = without.map(({ slug, language }) => `${slug} (${language})`).join(', ');
  return open(`pages speak English around the pieces of ${named}; docs/translating.md says how to add a language`);
}

/** Checks that PUBLISH_URL can be reached, and that the pressed files are published there. */
export async function checkPublish(settings: Settings, app: AppContext | null): Promise<Found> {
  if (settings.publishUrl === null) return open('PUBLISH_URL is not set: nothing is published to a bucket or a folder');
  const address = publishAddress(settings, undefined);
  const bucket = openBucket(settings, address);
  // A request that needs the credentials and changes nothing: no tree has this name.
  await readLease({ bucket, prefix: `${address.kind === 's3' ? address.prefix : ''}.doctor/`, tree: '', key: '' });
  if (app === null) return open(`${bucket.name} answers; nothing is pressed yet`);
  const failed = app.store.database.publications.all(address.href).filter(({ failure }) => failure !== null);
  if (failed.length > 0) {
    const said = failed.map(
      ({ tree, failed_at, failure }) => `${treeName(tree)} since ${isoTime(failed_at ?? 0)}: ${failure}`,
    );
    return fault(`not published: ${said.join('. ')}`, 'correct that, then run broadsheet publish');
  }
  const stale = staleTrees(app, address);
  const trees = app.store.database.publications.all(address.href).length;
  const waiting = app.store.database.vitalSigns().unpublished();
  const known = `${bucket.name} has ${plural(trees, 'tree')}`;
  const found =
    stale.length === 0
      ? `${known}, all up to date`
      : `${known}; still to be published: ${stale.map(treeName).join(', ')}`;
  return holds(found, { trees, stale: stale.length, waiting_files: waiting });
}

/** How many missing files are named. */
const NAMED_MAX = 5;

/** Names missing media, and checks whether MEDIA_URL responds. */
export async function checkMedia(settings: Settings, app: AppContext | null): Promise<Found> {
  const missing = app === null ? [] : missingMedia(app);
  if (missing.length > 0) {
    return fault(
      `readers see a stand-in for ${named(missing)}: DATA_DIR lacks the bytes`,
      'put them back from a backup, or file them again, then run broadsheet press; audit names every file',
      { missing: missing.length },
    );
  }
  const lost = app === null ? [] : unnoticedMedia(app);
  if (lost.length > 0) {
    return fault(
      `DATA_DIR lacks the bytes of ${named(lost)}, and nothing was pressed since`,
      'run broadsheet press: it takes them from the pressed tree or MEDIA_URL, and names those that neither has',
      { missing: lost.length },
    );
  }
  const mediaStore = openMediaStore(settings);
  if (mediaStore === null)
    return open('MEDIA_URL is not set: what was filed since the last backup is on this disk alone');
  const there = await mediaStore.digests();
  return holds(`${mediaStore.name} has ${plural(there.size, 'media file')}`, { kept: there.size });
}

function named(locations: readonly MediaLocation[]): string {
  const names = locations.slice(0, NAMED_MAX).map(({ paper, path }) => `${paper}/${path}`);
  return names.join(', ') + (locations.length > names.length ? ` and ${locations.length - names.length} more` : '');
}

/** Checks the transparency logs of the services that this process runs. `app` is null when there is no database yet. */
export function checkLogs(settings: Settings, app: AppContext | null): Promise<Finding[]> {
  return runChecks(LOG_SERVICES.map((log) => [`log of the ${log}`, () => checkLog(app, log), settings.services[log]]));
}

function checkLog(app: AppContext | null, log: LogService): Found {
  if (app === null) return open('there is none yet; the first start creates it');
  const { origin, leaves, head, cosigned, witnesses, quorum_answers } = logStatus(app, log);
  assertNotFenced(app.store.database.log, log);
  const known = `${origin} with ${plural(leaves, 'leaf', 'leaves')}`;
  if (witnesses === null) return open(`${known}, and no witnesses: LOG_POLICY is not set`);
  const silent = witnesses.filter((witness) => witness.fault !== null);
  const said = silent.map(({ name, fault, fault_at }) => `witness ${name} since ${fault_at}: ${fault}`).join('. ');
  if (!quorum_answers) {
    return fault(
      `${known}: too few witnesses answer for the quorum. ${said}`,
      'docs/witnesses.md says what to do about each, and a restart asks them all at once',
    );
  }
  const far = cosigned === null ? 'none of it witnessed yet' : `${cosigned.size} of ${head?.size ?? 0} witnessed`;
  return holds(`${known}, ${far}${said === '' ? '' : `. ${said}`}`);
}

/** Says who holds the lease of LEASE_URL, and whether the holder renews it. Changes nothing there. */
export async function checkLease(settings: Settings, app: AppContext | null): Promise<Found> {
  if (settings.leaseUrl === null) return open('LEASE_URL is not set: this server has no standby');
  const { name, holder, isHere, isFresh, copyFault, ceded } = await readSignerLease(settings, settings.leaseUrl, app);
  if (ceded !== null) return fault(`${name}: ${cededWords(ceded)}`, CEDED_CURE);
  if (holder === null) {
    if (copyFault !== null)
      return fault(`${name}: no server holds it, and one of this machine may not: ${copyFault}`, COPY);
    return open(`${name}: no server holds it; the next one to start takes it`);
  }
  const since = holder.since === null ? '' : ` since ${holder.since}`;
  if (isHere) return holds(`${name}: ${holder.name} holds it${since}, on this machine`);
  if (!(isFresh ?? (await watchSignerLease(settings, settings.leaseUrl)))) {
    return fault(
      `${name}: ${holder.name} took it${since} and no longer renews it: nobody signs`,
      copyFault === null ? 'start that server, or a standby, which takes over' : COPY,
    );
  }
  return holds(`${name}: ${holder.name} holds it${since}; a server of this machine stands by, and signs nothing`);
}

const COPY = 'restore the newest copy of the database (docs/machine-gone.md)';

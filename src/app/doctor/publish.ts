import type { Settings } from '../../env.ts';
import { plural } from '../../plural.ts';
import { readClaim } from '../../publish/claim.ts';
import { isoTime } from '../../time.ts';
import type { AppContext } from '../context.ts';
import { treeName } from '../publish-progress.ts';
import { staleTrees } from '../publish-run.ts';
import { openBucket, publishAddress } from '../publish-target.ts';
import type { Finding } from './finding.ts';
import { fault, holds, open } from './finding.ts';

/** Checks that PUBLISH_URL can be reached, and that what was pressed is published there. */
export async function checkPublish(settings: Settings, app: AppContext | null): Promise<Omit<Finding, 'name'>> {
  if (settings.publishUrl === null) return open('PUBLISH_URL is not set: nothing is published to a bucket or a folder');
  const address = publishAddress(settings, undefined);
  const bucket = openBucket(settings, address);
  // A look that needs the credentials, and changes nothing. No tree has this name.
  await readClaim(bucket, { prefix: `${address.kind === 's3' ? address.prefix : ''}.doctor/`, tree: '', key: '' });
  if (app === null) return open(`${bucket.name} answers; nothing is pressed yet`);
  const failed = app.store.publications.all(address.href).filter(({ failure }) => failure !== null);
  if (failed.length > 0) {
    const said = failed.map(
      ({ tree, failed_at, failure }) => `${treeName(tree)} since ${isoTime(failed_at ?? 0)}: ${failure}`,
    );
    return fault(`not published: ${said.join('. ')}`, 'correct that, then run broadsheet publish');
  }
  const stale = staleTrees(app, address);
  const trees = app.store.publications.all(address.href).length;
  const waiting = app.store.vitalSigns().unpublished();
  const known = `${bucket.name} has ${plural(trees, 'tree')}`;
  const found =
    stale.length === 0
      ? `${known}, all up to date`
      : `${known}; still to be published: ${stale.map(treeName).join(', ')}`;
  return { ...holds(found), figures: { trees, stale: stale.length, waiting_files: waiting } };
}

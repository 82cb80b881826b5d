import type { Settings } from '../../env.ts';
import { plural } from '../../plural.ts';
import type { AppContext } from '../context.ts';
import { openMediaStore } from '../media-place.ts';
import { missingPlaces } from '../missing-media.ts';
import type { Finding } from './finding.ts';
import { fault, holds, open } from './finding.ts';

/** How many missing files are named. */
const NAMED_MAX = 5;

/** Names media that are missing, and looks whether MEDIA_URL answers. */
export async function checkMedia(settings: Settings, app: AppContext | null): Promise<Omit<Finding, 'name'>> {
  const missing = app === null ? [] : missingPlaces(app);
  if (missing.length > 0) {
    const named = missing.slice(0, NAMED_MAX).map(({ paper, path }) => `${paper}/${path}`);
    const more = missing.length > named.length ? ` and ${missing.length - named.length} more` : '';
    return {
      ...fault(
        `readers see a stand-in for ${named.join(', ')}${more}: DATA_DIR lacks the bytes`,
        'put them back from a backup, or file them again, then run broadsheet press; audit names every file',
      ),
      figures: { missing: missing.length },
    };
  }
  const place = openMediaStore(settings);
  if (place === null) return open('MEDIA_URL is not set: what was filed since the last backup is on this disk alone');
  const there = await place.digests();
  return { ...holds(`${place.name} has ${plural(there.size, 'media file')}`), figures: { kept: there.size } };
}

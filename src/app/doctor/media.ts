import type { Settings } from '../../env.ts';
import { plural } from '../../plural.ts';
import type { AppContext } from '../context.ts';
import { openMediaStore } from '../media-place.ts';
import type { MediaPlace } from '../missing-media.ts';
import { missingPlaces, unnoticedPlaces } from '../missing-media.ts';
import type { Finding } from './finding.ts';
import { fault, holds, open } from './finding.ts';

/** How many missing files are named. */
const NAMED_MAX = 5;

/** Names media that are missing, and looks whether MEDIA_URL answers. */
export async function checkMedia(settings: Settings, app: AppContext | null): Promise<Omit<Finding, 'name'>> {
  const missing = app === null ? [] : missingPlaces(app);
  if (missing.length > 0) {
    return {
      ...fault(
        `readers see a stand-in for ${named(missing)}: DATA_DIR lacks the bytes`,
        'put them back from a backup, or file them again, then run broadsheet press; audit names every file',
      ),
      figures: { missing: missing.length },
    };
  }
  const lost = app === null ? [] : unnoticedPlaces(app);
  if (lost.length > 0) {
    return {
      ...fault(
        `DATA_DIR lacks the bytes of ${named(lost)}, and nothing was pressed since`,
        'run broadsheet press: it takes them from the pressed tree or MEDIA_URL, and names those that neither has',
      ),
      figures: { missing: lost.length },
    };
  }
  const place = openMediaStore(settings);
  if (place === null) return open('MEDIA_URL is not set: what was filed since the last backup is on this disk alone');
  const there = await place.digests();
  return { ...holds(`${place.name} has ${plural(there.size, 'media file')}`), figures: { kept: there.size } };
}

function named(places: readonly MediaPlace[]): string {
  const names = places.slice(0, NAMED_MAX).map(({ paper, path }) => `${paper}/${path}`);
  return names.join(', ') + (places.length > names.length ? ` and ${places.length - names.length} more` : '');
}

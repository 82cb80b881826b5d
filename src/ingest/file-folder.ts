import type { Filed } from './desk-folder.ts';
import { DeskFolder } from './desk-folder.ts';
import type { Intake } from './intake.ts';
import { Pages } from './pages.ts';
import type { MediaReader } from './record-files.ts';
import { Records } from './record-files.ts';
import { Stories } from './stories.ts';

/**
 * Files one paper's folder through the door: its record, its media, its masthead, its video editions, its own pages,
 * its stories.
 * Reports rejected files and continues. `only` limits the stories to these paths; `signal` stops the work between two
 * stories.
 */
export async function fileFolder(
  intake: Intake,
  folder: string,
  only?: Set<string>,
  signal?: AbortSignal,
): Promise<Filed> {
  const at = new DeskFolder(intake, folder);
  if (await applyRecords(at)) await new Stories(at).file(only, signal);
  return at.result;
}

/** Applies everything of a paper's folder that is not a story. Returns false when there is still no paper. */
export async function applyRecords(at: DeskFolder, media?: MediaReader): Promise<boolean> {
  const records = new Records(at);
  // The paper's record may name its logo, icon and stylesheet.
  const mediaFirst = records.namesMedia();
  if (mediaFirst) await records.media(media);
  if (!records.paper()) return false;
  if (!mediaFirst) await records.media(media);
  records.masthead();
  records.casts();
  new Pages(at).file();
  return true;
}

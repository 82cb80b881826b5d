import { existsSync } from 'node:fs';
import { problemLine } from '../desk/ingest/source-file.ts';
import { withoutFileLine } from '../desk/ingest/story-files.ts';
import type { OwnAddresses } from '../desk/papers/host.ts';
import { messageOf } from '../shared/fault.ts';
import { databaseFile } from '../shared/files/data-folder.ts';
import { printable } from '../shared/terminal/output.ts';
import { type FiledContent, filedContent } from '../store/desk/filed-content.ts';
import { type WritingDesk, writingDesk } from './desk.ts';
import { allLostPieces, allProblems } from './outlook.ts';
import { deskPictures } from './pictures.ts';
import type { DevDesk } from './shown.ts';
import { folderWatch } from './watch.ts';

type Logger = Record<'info' | 'warn' | 'error', (line: string) => void>;

interface Opening extends Pick<DevDesk, 'reloader' | 'opensEditor'> {
  /** Gets the problems that the filing door finds. */
  logger: Logger;
  /** Called whenever pages may have changed. */
  changed(): void;
}

/** Opens the writing desk over the content folder, and follows the folder until it is closed. */
export async function openDesk(
  settings: OwnAddresses & { contentDir: string; dataDir: string },
  { logger, changed, ...how }: Opening,
): Promise<DevDesk & { close(): void }> {
  const filed = () => filedContent(databaseFile(settings));
  const report = problemReport(logger, filed);
  const follow = () => watch.follow([settings.contentDir, ...desk.folders()].filter((folder) => existsSync(folder)));
  const show = () => {
    report(desk);
    follow();
    changed();
  };
  const desk = writingDesk(settings, { changed: show });
  const refresh = () =>
    desk.refresh().then(
      (isNew) => isNew && show(),
      (error: unknown) => logger.error(printable(messageOf(error))),
    );
  const watch = folderWatch(() => void refresh());
  await refresh();
  follow();
  return {
    ...{ desk, filed, ...how },
    pictures: deskPictures((digest) => desk.mediaPath(digest)),
    close() {
      watch.close();
      desk.close();
    },
  };
}

/** Logs each problem once, and each file whose problems are solved. */
function problemReport(logger: Logger, filed: () => FiledContent): (desk: WritingDesk) => void {
  let known = new Map<string, string>();
  return (desk) => {
    const now = new Map(allProblems(desk).map((problem) => [problemLine(problem), problem.file]));
    for (const piece of allLostPieces(desk, filed())) now.set(withoutFileLine(piece), piece.file);
    for (const line of now.keys()) if (!known.has(line)) logger.warn(printable(line));
    const faulty = new Set(now.values());
    for (const file of new Set(known.values()))
      if (!faulty.has(file)) logger.info(printable(`${file}: no problems any more`));
    known = now;
  };
}

import { existsSync } from 'node:fs';
import type { AstroIntegration, AstroIntegrationLogger } from 'astro';
import { problemLine } from '../desk/ingest/source-file.ts';
import { withoutFileLine } from '../desk/ingest/story-files.ts';
import { readSettings } from '../server/env.ts';
import { messageOf } from '../shared/fault.ts';
import { databaseFile } from '../shared/files/data-folder.ts';
import { printable } from '../shared/terminal/output.ts';
import { type FiledContent, filedContent } from '../store/desk/filed-content.ts';
import { type WritingDesk, writingDesk } from '../writing/desk.ts';
import { allLostPieces, allProblems } from '../writing/outlook.ts';
import { deskPictures } from '../writing/pictures.ts';
import { folderWatch } from '../writing/watch.ts';
import { shareDesk } from './dev-desk.ts';

type ViteDevServer = Parameters<NonNullable<AstroIntegration['hooks']['astro:server:setup']>>[0]['server'];

/**
 * Opens the writing desk over the content folder, prints what the door objects to, and has every open page reloaded
 * when the desk shows something else.
 */
export async function openDesk(server: ViteDevServer, logger: AstroIntegrationLogger): Promise<void> {
  const settings = readSettings();
  const filed = () => filedContent(databaseFile(settings));
  const report = problemReport(logger, filed);
  const changed = () => {
    report(desk);
    watch.follow([settings.contentDir, ...desk.folders()].filter((folder) => existsSync(folder)));
    server.ws.send({ type: 'full-reload' });
  };
  const desk = writingDesk(settings, { changed });
  const refresh = () =>
    desk.refresh().then(
      (isNew) => isNew && changed(),
      (error: unknown) => logger.error(printable(messageOf(error))),
    );
  const watch = folderWatch(() => void refresh());
  shareDesk({
    desk,
    pictures: deskPictures((digest) => desk.mediaPath(digest)),
    filed,
  });
  await refresh();
  watch.follow([settings.contentDir, ...desk.folders()].filter((folder) => existsSync(folder)));
  server.httpServer?.once('close', () => {
    watch.close();
    desk.close();
  });
}

/** Prints each problem once, and each file that has none any more. */
function problemReport(logger: AstroIntegrationLogger, filed: () => FiledContent): (desk: WritingDesk) => void {
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

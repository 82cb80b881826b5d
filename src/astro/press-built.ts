import type { AstroIntegrationLogger } from 'astro';
import { fileContent } from '../desk/ingest/content-folder.ts';
import { problemLine } from '../desk/ingest/source-file.ts';
import { pressLines, pressWithProgress } from '../operate/publish/press-progress.ts';
import { intakeOf, withAppContext } from '../server/context.ts';
import type { Settings } from '../server/env.ts';
import { openCommandLog } from '../server/server-log.ts';
import { messageOf } from '../shared/fault.ts';
import { printable } from '../shared/terminal/output.ts';
import { publishLogOnce } from '../signing/log/open-witnesses.ts';

/** Files `content/`, logs its problems, and presses every paper with the pages that were just built. */
export function pressBuilt(settings: Settings, logger: AstroIntegrationLogger): Promise<void> {
  return withAppContext(settings, async (app) => {
    const { problems } = await fileContent(intakeOf(app));
    for (const problem of problems) logger.warn(printable(problemLine(problem)));
    if (problems.length > 0) process.exitCode = 1;
    await publishLogOnce(app, 'desk', openCommandLog(app.settings.logLevel)).catch((error: unknown) =>
      logger.warn(printable(messageOf(error))),
    );
    for (const line of pressLines(await pressWithProgress(app))) logger.info(printable(line));
  });
}

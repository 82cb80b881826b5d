import type { AstroIntegrationLogger } from 'astro';
import { intakeOf, withAppContext } from '../app/context.ts';
import { publishLogOnce } from '../app/open-witnesses.ts';
import { pressLines, pressWithProgress } from '../app/press-progress.ts';
import { openCommandLog } from '../app/server-log.ts';
import type { Settings } from '../env.ts';
import { messageOf } from '../fault.ts';
import { fileContent } from '../ingest/content-folder.ts';
import { problemLine } from '../ingest/source-file.ts';
import { printable } from '../terminal/output.ts';

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

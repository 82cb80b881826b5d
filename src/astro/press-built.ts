import type { AstroIntegrationLogger } from 'astro';
import { type AppContext, withAppContext } from '../app/context.ts';
import { publishLogOnce } from '../app/open-witnesses.ts';
import { pressLines, pressWithProgress } from '../app/press-progress.ts';
import { openCommandLog } from '../app/server-log.ts';
import type { Settings } from '../env.ts';
import { messageOf } from '../fault.ts';
import { fileContent } from '../ingest/content-folder.ts';
import { problemLine } from '../ingest/source-file.ts';
import { printable } from '../terminal/output.ts';

/** Files `content/` and presses every paper with the pages that were just built. */
export function pressBuilt(settings: Settings, logger: AstroIntegrationLogger): Promise<void> {
  return withAppContext(settings, async (app) => {
    if ((await fileWarning(app, logger)) > 0) process.exitCode = 1;
    await publishLogOnce(app, 'desk', openCommandLog(app.settings.logLevel)).catch((error: unknown) =>
      logger.warn(printable(messageOf(error))),
    );
    for (const line of pressLines(await pressWithProgress(app))) logger.info(printable(line));
  });
}

/** Files `content/` and logs a warning for each problem. Returns the number of problems. */
async function fileWarning(app: AppContext, logger: AstroIntegrationLogger): Promise<number> {
  const { problems } = await fileContent(app);
  for (const problem of problems) logger.warn(printable(problemLine(problem)));
  return problems.length;
}

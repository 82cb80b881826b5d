import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AstroIntegration, AstroIntegrationLogger } from 'astro';
import { BUILT, stampBuild } from '../app/build.ts';
import { type AppContext, withAppContext } from '../app/context.ts';
import { pressLines, pressWithProgress } from '../app/press-progress.ts';
import { publishLogOnce } from '../app/publish-log-once.ts';
import { openCommandLog } from '../app/server-log.ts';
import { DESK_PORT, readSettings } from '../env.ts';
import { messageOf } from '../fault.ts';
import { fileContent } from '../ingest/content-folder.ts';
import { problemLine } from '../ingest/source-file.ts';
import { PROJECT } from '../project.ts';
import { printable } from '../terminal/escape.ts';

/** Runs the press in Astro's build: `astro build` files `content/` and leaves every paper's tree complete. */
export function pressIntegration(): AstroIntegration {
  return {
    name: 'press',
    hooks: {
      'astro:config:setup': ({ command, addMiddleware, updateConfig }) => {
        if (command !== 'dev') return;
        const { dataDir, distDir, logDir, port } = readSettings();
        // Pages are not made from the store or the trees, and watching them costs a handle per file.
        const watch = { ignored: [dataDir, distDir, logDir].map((folder) => `${folder}/**`) };
        // With the default port the next free one will do; a configured port is used, or starting fails.
        updateConfig({ vite: { server: { watch, strictPort: port !== DESK_PORT } } });
        addMiddleware({ order: 'pre', entrypoint: join(PROJECT, 'src/astro/dev-middleware.ts') });
      },
      // So that a new checkout has papers to show.
      'astro:server:setup': ({ logger }) =>
        withAppContext(readSettings(), async (app) => {
          await fileWarning(app, logger);
        }),
      'astro:build:start': () => {
        for (const folder of BUILT) rmSync(folder, { recursive: true, force: true });
      },
      'astro:build:done': ({ logger }) =>
        withAppContext(readSettings(), async (app) => {
          stampBuild();
          if (!app.settings.buildPresses) return;
          if ((await fileWarning(app, logger)) > 0) process.exitCode = 1;
          await publishLogOnce(app, 'desk', openCommandLog(app.settings.logLevel)).catch((error: unknown) =>
            logger.warn(printable(messageOf(error))),
          );
          for (const line of pressLines(await pressWithProgress(app))) logger.info(printable(line));
        }),
    },
  };
}

/** Where `npm run dev` listens: HOST and PORT, unless flags of the command override them. */
export function devServer(): { host: string; port: number } {
  const { host, port } = readSettings();
  return { host, port };
}

/** Files `content/` and logs a warning for each problem. Returns the number of problems. */
async function fileWarning(app: AppContext, logger: AstroIntegrationLogger): Promise<number> {
  const { problems } = await fileContent(app);
  for (const problem of problems) logger.warn(printable(problemLine(problem)));
  return problems.length;
}

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AstroIntegration, AstroIntegrationLogger } from 'astro';
import { BUILT, stampBuild } from '../app/build.ts';
import { type AppContext, databaseFile, withAppContext } from '../app/context.ts';
import { pressLines, pressWithProgress } from '../app/press-progress.ts';
import { publishLogOnce } from '../app/publish-log-once.ts';
import { openCommandLog } from '../app/server-log.ts';
import { DESK_PORT, readSettings } from '../env.ts';
import { messageOf } from '../fault.ts';
import { fileContent } from '../ingest/content-folder.ts';
import { problemLine } from '../ingest/source-file.ts';
import { PROJECT } from '../project.ts';
import { filedDigests } from '../store/filed-digests.ts';
import { printable } from '../terminal/escape.ts';
import { WritingDesk } from '../writing/desk.ts';
import { allProblems } from '../writing/outlook.ts';
import { deskPictures } from '../writing/pictures.ts';
import { FolderWatch } from '../writing/watch.ts';
import { shareDesk } from './dev-desk.ts';

/** Runs the press in Astro's build: `astro build` files `content/` and leaves every paper's tree complete. */
export function pressIntegration(): AstroIntegration {
  return {
    name: 'press',
    hooks: {
      'astro:config:setup': ({ command, addMiddleware, updateConfig }) => {
        if (command !== 'dev') return;
        const { contentDir, dataDir, distDir, logDir, port } = readSettings();
        // Vite follows the templates; the writing desk follows the content by itself. Watching costs a handle per file.
        const watch = { ignored: [contentDir, dataDir, distDir, logDir].map((folder) => `${folder}/**`) };
        // With the default port the next free one will do; a configured port is used, or starting fails.
        updateConfig({ vite: { server: { watch, strictPort: port !== DESK_PORT } } });
        addMiddleware({ order: 'pre', entrypoint: join(PROJECT, 'src/astro/dev-middleware.ts') });
      },
      'astro:server:setup': ({ server, logger }) => openDesk(server, logger),
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

type ViteDevServer = Parameters<NonNullable<AstroIntegration['hooks']['astro:server:setup']>>[0]['server'];

/**
 * Opens the writing desk over the content folder, prints what the door objects to, and has every open page reloaded
 * when the desk shows something else.
 */
async function openDesk(server: ViteDevServer, logger: AstroIntegrationLogger): Promise<void> {
  const settings = readSettings();
  const report = problemReport(logger);
  const changed = () => {
    report(desk);
    watch.follow([settings.contentDir, ...desk.folders].filter((folder) => existsSync(folder)));
    server.ws.send({ type: 'full-reload' });
  };
  const desk = new WritingDesk(settings, { changed });
  const refresh = () =>
    desk.refresh().then(
      (isNew) => isNew && changed(),
      (error: unknown) => logger.error(printable(messageOf(error))),
    );
  const watch = new FolderWatch(() => void refresh());
  shareDesk({
    desk,
    pictures: deskPictures((digest) => desk.mediaPath(digest)),
    filed: () => filedDigests(databaseFile(settings)),
  });
  await refresh();
  watch.follow([settings.contentDir, ...desk.folders].filter((folder) => existsSync(folder)));
  server.httpServer?.once('close', () => {
    watch.close();
    desk.close();
  });
}

/** Prints each problem once, and each file that has none any more. */
function problemReport(logger: AstroIntegrationLogger): (desk: WritingDesk) => void {
  let known = new Map<string, string>();
  return (desk) => {
    const now = new Map(allProblems(desk).map((problem) => [problemLine(problem), problem.file]));
    for (const line of now.keys()) if (!known.has(line)) logger.warn(printable(line));
    const faulty = new Set(now.values());
    for (const file of new Set(known.values()))
      if (!faulty.has(file)) logger.info(printable(`${file}: no problems any more`));
    known = now;
  };
}

/** Files `content/` and logs a warning for each problem. Returns the number of problems. */
async function fileWarning(app: AppContext, logger: AstroIntegrationLogger): Promise<number> {
  const { problems } = await fileContent(app);
  for (const problem of problems) logger.warn(printable(problemLine(problem)));
  return problems.length;
}

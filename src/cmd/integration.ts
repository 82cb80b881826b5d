import { join } from 'node:path';
import type { AstroIntegration, AstroIntegrationLogger } from 'astro';
import { readSettings } from '../env.ts';
import { PROJECT, stampBuild } from '../works/build.ts';
import type { Workshop } from '../works/workshop.ts';
import { fileContent } from './file.ts';
import { problemLine } from './inbox/source-file.ts';
import { pressLines, pressShowing } from './press.ts';
import { withWorkshop } from './run.ts';

/** The press as a part of Astro: `astro build` alone files `content/` and leaves every paper's tree complete. */
export function pressIntegration(): AstroIntegration {
  return {
    name: 'press',
    hooks: {
      'astro:config:setup': ({ command, addMiddleware, updateConfig }) => {
        if (command !== 'dev') return;
        const { dataDir, distDir } = readSettings();
        // The store and the trees are no sources of a page; watching them costs a handle a file.
        updateConfig({ vite: { server: { watch: { ignored: [`${dataDir}/**`, `${distDir}/**`] } } } });
        addMiddleware({ order: 'pre', entrypoint: join(PROJECT, 'src/cmd/dev-middleware.ts') });
      },
      // On a new machine there are papers to show.
      'astro:server:setup': ({ logger }) =>
        withWorkshop(async (shop) => {
          await fileWarning(shop, logger);
        }),
      'astro:build:done': ({ logger }) =>
        withWorkshop(async (shop) => {
          stampBuild();
          if ((await fileWarning(shop, logger)) > 0) process.exitCode = 1;
          for (const line of pressLines(await pressShowing(shop, {}))) logger.info(line);
        }),
    },
  };
}

/** Files `content/` and warns of what was refused. Returns the number of problems. */
async function fileWarning(shop: Workshop, logger: AstroIntegrationLogger): Promise<number> {
  const { problems } = await fileContent(shop);
  for (const problem of problems) logger.warn(problemLine(problem));
  return problems.length;
}

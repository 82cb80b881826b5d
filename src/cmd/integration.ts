import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AstroIntegration } from 'astro';
import { readSettings } from '../env.ts';
import { PROJECT, sourceStamp } from '../works/build.ts';
import { fileContent } from './file.ts';
import { problemLine } from './inbox/source-file.ts';
import { pressLines, pressShowing } from './press.ts';
import { openWorkshop } from '../works/workshop.ts';

/** The press as a part of Astro: `astro build` alone files `content/` and leaves every paper's tree complete. */
export function pressIntegration(): AstroIntegration {
  return {
    name: 'press',
    hooks: {
      'astro:config:setup': ({ command, addMiddleware }) => {
        if (command !== 'dev') return;
        addMiddleware({ order: 'pre', entrypoint: join(PROJECT, 'src/cmd/dev-middleware.ts') });
      },
      'astro:build:done': async ({ logger }) => {
        writeFileSync(join(PROJECT, 'dist/server/source.txt'), sourceStamp());
        const shop = openWorkshop(readSettings());
        try {
          const { problems } = await fileContent(shop);
          for (const problem of problems) logger.warn(problemLine(problem));
          for (const line of pressLines(await pressShowing(shop, {}))) logger.info(line);
          if (problems.length > 0) process.exitCode = 1;
        } finally {
          shop.close();
        }
      },
    },
  };
}

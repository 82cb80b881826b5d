import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AstroIntegration } from 'astro';
import { BUILT, stampBuild } from '../desk/press/build.ts';
import { readSettings } from '../server/env.ts';
import { DESK_PORT } from '../server/settings/services.ts';
import { PROJECT } from '../shared/project.ts';

/**
 * Runs the press in Astro's build: `astro build` files `content/` and leaves every paper's tree complete. A build that
 * presses nothing loads none of the press, and opens no database.
 */
export function pressIntegration(): AstroIntegration {
  return {
    name: 'press',
    hooks: {
      'astro:config:setup': ({ command, addMiddleware, updateConfig }) => {
        if (command !== 'dev') return;
        const { contentDir, dataDir, distDir, logDir, port } = readSettings();
        // Vite follows the templates; the writing desk follows the content by itself. Watching costs a handle per file.
        const watch = { ignored: [contentDir, dataDir, distDir, logDir].map((folder) => `${folder}/**`) };
        // The default port may be replaced by the next free one; with a configured port, starting fails instead.
        updateConfig({ vite: { server: { watch, strictPort: port !== DESK_PORT } } });
        addMiddleware({ order: 'pre', entrypoint: join(PROJECT, 'src/astro/dev-middleware.ts') });
      },
      'astro:server:setup': async ({ server, logger }) => {
        const [{ openDesk }, { shareDesk }] = await Promise.all([
          import('../writing/open-desk.ts'),
          import('./shared-desk.ts'),
        ]);
        const changed = () => server.ws.send({ type: 'full-reload' });
        const how = { logger, changed, reloader: '/@vite/client', opensEditor: true };
        const dev = await openDesk(readSettings(), how);
        shareDesk(dev);
        server.httpServer?.once('close', dev.close);
      },
      'astro:build:start': () => {
        for (const folder of BUILT) rmSync(folder, { recursive: true, force: true });
      },
      'astro:build:done': async ({ logger }) => {
        stampBuild();
        const settings = readSettings();
        if (!settings.buildPresses) return;
        const { pressBuilt } = await import('./press-built.ts');
        await pressBuilt(settings, logger);
      },
    },
  };
}

/** Where `npm run dev` listens: HOST and PORT, unless flags of the command override them. */
export function devServer(): { host: string; port: number } {
  const { host, port } = readSettings();
  return { host, port };
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Command } from 'commander';
import { bind, urlOf } from '../../api/listen.ts';
import { loadBuild } from '../desk/press/build.ts';
import { readSettings, type Settings } from '../server/env.ts';
import { DESK_PORT } from '../server/settings/services.ts';
import { printError, printResult } from '../shared/terminal/output.ts';
import { DeskServer, RELOADER } from '../writing/desk-server.ts';
import { openDesk } from '../writing/open-desk.ts';
import { currentPages } from './current-pages.ts';

/** How many ports after the default one are tried. */
const PORTS_TRIED = 9;

/** `broadsheet dev`: the writing desk with the built pages, without Astro. */
export function command(): Command {
  return new Command('dev')
    .description('show content/ while you write, drafts and the door’s objections too; file, sign and write nothing')
    .action(async () => {
      const settings = readSettings();
      await currentPages().built;
      const build = await loadBuild();
      let server: DeskServer | null = null;
      const logger = { info: printError, warn: printError, error: printError };
      const changed = () => server?.reload();
      const dev = await openDesk(settings, { logger, changed, reloader: RELOADER, opensEditor: false });
      server = new DeskServer(dev, build, settings.host);
      const url = await listen(settings, server).catch((error: unknown) => {
        // Its file watch would keep this process running.
        dev.close();
        throw error;
      });
      printResult(false, null, [`${url}/ shows ${settings.contentDir} as it is on disk; nothing is filed`]);
    });
}

/** Listens at `HOST` and `PORT`, or instead of the default port at the next free one. Returns the address. */
async function listen({ host, port }: Settings, desk: DeskServer): Promise<string> {
  const server = createServer((request, response) => void desk.answer(request, response));
  for (let at = port; ; at++) {
    try {
      await bind(server, { host, port: at, setting: 'PORT' }, port === DESK_PORT ? 0 : undefined);
      return urlOf(server.address() as AddressInfo);
    } catch (error) {
      if (port !== DESK_PORT || at === port + PORTS_TRIED) throw error;
    }
  }
}

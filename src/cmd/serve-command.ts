import { Command, Option } from 'commander';
import type { AppContext } from '../server/context.ts';
import { openInBrowser } from '../shared/terminal/browser.ts';
import { takeSignals } from './serve/signals.ts';

/** `broadsheet serve`. The code of the server is loaded while another process builds the pages. */
export function command(): Command {
  return (
    new Command('serve')
      .description('build the pages if needed and serve; file content/ and press in the background')
      .option('--port <number>', 'where the papers listen, instead of PORT; 0 picks a free port')
      .option('--open', 'open the papers in a browser when they are ready')
      // Set by `broadsheet standby`, which replaces the copy only after this server has ended.
      .addOption(new Option('--copy <id>', 'the copy of a standby that this server serves').hideHelp())
      .action(async ({ copy, port, open }: { copy?: string; port?: string; open?: boolean }) => {
        // First, because an unhandled SIGHUP ends the process.
        const signals = takeSignals();
        const { readSettings, setVariable } = await import('../server/env.ts');
        const { currentPages } = await import('./current-pages.ts');
        const { assertOwnCopy } = await import('../signing/standby-copy.ts');
        if (port !== undefined) setVariable('PORT', port);
        const settings = readSettings();
        assertOwnCopy(settings.dataDir, copy);
        const pages = currentPages();
        const { serve } = await import('./serve.ts');
        const onReady = ({ settings }: AppContext) => {
          if (open) openInBrowser(`${settings.services.desk ? settings.origin : settings.dataOrigin}/`);
        };
        await serve(settings, { pages, signals, onReady });
      })
  );
}

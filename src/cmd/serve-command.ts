import { Command, Option } from 'commander';
import { takeSignals } from './serve/signals.ts';

/** `broadsheet serve`. The code of the server is loaded while another process builds the pages. */
export function command(): Command {
  return (
    new Command('serve')
      .description('build the pages if needed and serve; file content/ and press in the background')
      // Given by `broadsheet standby`, which replaces the copy only when this server has ended.
      .addOption(new Option('--copy <id>', 'the copy of a standby that this server serves').hideHelp())
      .action(async ({ copy }: { copy?: string }) => {
        // First, because an unhandled SIGHUP ends the process.
        const signals = takeSignals();
        const { readSettings } = await import('../server/env.ts');
        const { currentPages } = await import('./current-pages.ts');
        const { assertOwnCopy } = await import('../signing/standby-copy.ts');
        const settings = readSettings();
        assertOwnCopy(settings.dataDir, copy);
        const pages = currentPages();
        const { serve } = await import('./serve.ts');
        await serve(settings, { pages, signals });
      })
  );
}

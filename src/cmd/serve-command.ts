import { Command } from 'commander';
import { takeSignals } from './serve/signals.ts';

/** `broadsheet serve`. The code of the server is loaded while another process builds the pages. */
export function command(): Command {
  return new Command('serve')
    .description('build the pages if needed and serve; file content/ and press in the background')
    .action(async () => {
      // First of all, because a SIGHUP that nobody takes ends the process.
      const signals = takeSignals();
      const { readSettings } = await import('../env.ts');
      const { currentPages } = await import('./current-pages.ts');
      const settings = readSettings();
      const pages = currentPages();
      const { serve } = await import('./serve.ts');
      await serve(settings, undefined, pages, signals);
    });
}

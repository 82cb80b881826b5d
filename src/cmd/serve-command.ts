import { Command } from 'commander';
import { readSettings } from '../env.ts';
import { currentPages } from './current-pages.ts';

/** `broadsheet serve`. The code of the server is loaded while another process builds the pages. */
export function command(): Command {
  return new Command('serve')
    .description('build the pages if needed and serve; file content/ and press in the background')
    .action(async () => {
      const settings = readSettings();
      const pages = currentPages();
      const { serve } = await import('./serve.ts');
      await serve(settings, undefined, pages);
    });
}

import { basename } from 'node:path';
import { Command } from 'commander';
import { importArchive, type RefusedLine, requireArchive } from '../desk/ingest/import-archive.ts';
import { pressThenPrint } from '../operate/publish/press-progress.ts';
import { intakeOf, withAppContext } from '../server/context.ts';
import { readSettings } from '../server/env.ts';
import { printError, printResult } from '../shared/terminal/output.ts';
import { withProgress } from '../shared/terminal/progress.ts';
import { givenPath } from '../shared/terminal/project-folder.ts';

type Options = { paper: string; create?: boolean; persona?: string; air?: boolean; press: boolean; json?: boolean };

export function command(): Command {
  return new Command('import')
    .description('file an archive: JSON Lines, one piece per line, gzipped or not')
    .argument('<file>', 'a .jsonl or .jsonl.gz file')
    .requiredOption('--paper <slug>', 'the paper to file with')
    .option('--create', 'create the paper, its sections and a persona where they are missing')
    .option('--persona <slug>', 'the persona that signs (default: the paper’s only one, or archive-desk)')
    .option('--air', 'put each piece on air at its own published_at')
    .option('--no-press', 'do not press afterwards')
    .option('--json', 'print the outcome as JSON')
    .action((given: string, options: Options) => {
      const file = givenPath(given);
      // Before a database is created for it.
      requireArchive(file);
      return withAppContext(readSettings(), async (app) => {
        const onRefused = (line: RefusedLine) => refusedLines(file, line).forEach(printError);
        const outcome = await withProgress((step) => {
          const onProgress = (lines: number) => step(`import ${options.paper}`, lines, null, '');
          return importArchive(intakeOf(app), file, { ...options, onRefused, onProgress });
        });
        const isThere = app.store.desk.hasPaper(options.paper);
        const mayPress = options.press && isThere;
        await pressThenPrint(app, mayPress ? { paper: options.paper } : null, (pressed, reports) =>
          printResult(options.json, { ...outcome, pressed: Object.fromEntries(reports) }, [
            `${outcome.filed} filed, ${outcome.unchanged} unchanged, ${outcome.refused.length} refused`,
            ...(isThere ? [] : [`the paper ${options.paper} was not created: nothing was filed`]),
            ...pressed,
          ]),
        );
        if (outcome.refused.length > 0 || !isThere) process.exitCode = 1;
      });
    });
}

function refusedLines(file: string, { line, slug, problems }: RefusedLine): string[] {
  const where = `${basename(file)}:${line}${slug === null ? '' : ` ${slug}`}`;
  return problems.map(({ field, message }) => `${where} ${field}: ${message}`);
}

import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { withAppContext } from '../app/context.ts';
import { pressLines, pressWithProgress } from '../app/press-progress.ts';
import { readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { fileContent } from '../ingest/content-folder.ts';
import { problemLine } from '../ingest/source-file.ts';
import { givenPath } from '../terminal/given-path.ts';
import { printError, printResult } from '../terminal/output.ts';

export function command(): Command {
  return new Command('file')
    .description('file the content folder, or only these paths, and press what changed')
    .argument('[paths...]', 'papers’ folders, or story files in them')
    .option('--no-press', 'do not press afterwards')
    .option('--json', 'print the outcome as JSON')
    .action((paths: string[], options: { press: boolean; json?: boolean }) =>
      withAppContext(readSettings(), async (app) => {
        const { contentDir } = app.settings;
        if (paths.length === 0 && !existsSync(contentDir)) {
          throw new Fault(
            'not_found',
            `CONTENT_DIR ${contentDir} does not exist; create it, or set CONTENT_DIR to the folder of the papers`,
          );
        }
        const outcome = await fileContent(app, paths.map(givenPath));
        const reports = options.press ? await pressWithProgress(app) : new Map();
        for (const problem of outcome.problems) printError(problemLine(problem));
        const refused = new Set(outcome.problems.map(({ file }) => file)).size;
        printResult(options.json, { ...outcome, pressed: Object.fromEntries(reports) }, [
          ...outcome.filed.map((file) => `filed ${file}`),
          `${outcome.filed.length} filed, ${outcome.unchanged} unchanged, ${refused} refused`,
          ...(options.press ? pressLines(reports) : []),
        ]);
        if (refused > 0) process.exitCode = 1;
      }),
    );
}

import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { fileContent } from '../desk/ingest/content-folder.ts';
import { problemLine } from '../desk/ingest/source-file.ts';
import { withoutFileLine } from '../desk/ingest/story-files.ts';
import { pressThenPrint } from '../operate/publish/press-progress.ts';
import { intakeOf, withAppContext } from '../server/context.ts';
import { readSettings, type Settings } from '../server/env.ts';
import { Fault } from '../shared/fault.ts';
import { printError, printResult } from '../shared/terminal/output.ts';
import { givenPath } from '../shared/terminal/project-folder.ts';

export function command(): Command {
  return new Command('file')
    .description('file the content folder, or only these paths, and press what changed')
    .argument('[paths...]', 'papers’ folders, or story files in them')
    .option('--no-press', 'do not press afterwards')
    .option('--json', 'print the outcome as JSON')
    .action((paths: string[], options: { press: boolean; json?: boolean }) => {
      const settings = readSettings();
      const given = paths.map(givenPath);
      requireContent(settings, given);
      return withAppContext(settings, async (app) => {
        const outcome = await fileContent(intakeOf(app), given);
        await pressThenPrint(app, options.press ? {} : null, (pressed, reports) => {
          for (const problem of outcome.problems) printError(problemLine(problem));
          const refused = new Set(outcome.problems.map(({ file }) => file)).size;
          printResult(options.json, { ...outcome, pressed: Object.fromEntries(reports) }, [
            ...outcome.filed.map((file) => `filed ${file}`),
            ...outcome.without_file.map(withoutFileLine),
            `${outcome.filed.length} filed, ${outcome.unchanged} unchanged, ${refused} refused`,
            ...pressed,
          ]);
          if (refused > 0) process.exitCode = 1;
        });
      });
    });
}

/** Throws `not_found` when there is nothing to file, before a database is created for it. */
function requireContent({ contentDir }: Settings, paths: readonly string[]): void {
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) {
    throw new Fault('not_found', `${missing} does not exist; name a paper's folder or a story's file`);
  }
  if (paths.length > 0 || existsSync(contentDir)) return;
  throw new Fault(
    'not_found',
    `CONTENT_DIR ${contentDir} does not exist; create it, or set CONTENT_DIR to the folder of the papers`,
  );
}

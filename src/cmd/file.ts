import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { Fault } from '../fault.ts';
import type { Filed } from '../ingest/desk-folder.ts';
import { fileFolder } from '../ingest/file-folder.ts';
import { problemLine } from '../ingest/source-file.ts';
import { givenPath } from './given-path.ts';
import { pressLines, pressShowing } from './press.ts';
import { say, tell, withAppContext } from './run.ts';

export function command(): Command {
  return new Command('file')
    .description('file the content folder, or these paths, through the door, and press what changed')
    .argument('[paths...]', 'a paper’s folder, or story files in one')
    .option('--no-press', 'leave the press to a later command')
    .option('--json', 'print the outcome as JSON')
    .action((paths: string[], options: { press: boolean; json?: boolean }) =>
      withAppContext(async (app) => {
        const { contentDir } = app.settings;
        if (paths.length === 0 && !existsSync(contentDir)) {
          throw new Fault(
            'not_found',
            `there is no folder ${contentDir}; make it, or set CONTENT_DIR to where the papers are`,
          );
        }
        const outcome = await fileContent(app, paths);
        const reports = options.press ? await pressShowing(app, {}) : new Map();
        for (const problem of outcome.problems) tell(problemLine(problem));
        const refused = new Set(outcome.problems.map(({ file }) => file)).size;
        say(options.json, { ...outcome, pressed: Object.fromEntries(reports) }, [
          ...outcome.filed.map((file) => `filed ${file}`),
          `${outcome.filed.length} filed, ${outcome.unchanged} unchanged, ${refused} refused`,
          ...(options.press ? pressLines(reports) : []),
        ]);
        if (refused > 0) process.exitCode = 1;
      }),
    );
}

/** Slugs of the papers that have a folder in the content folder. */
export function papersInContent(app: AppContext): string[] {
  return [...foldersOf(app, []).keys()].map((folder) => basename(folder));
}

/**
 * Files the content folder, or the papers and stories that the paths name.
 * `signal` ends the work between two stories; `filed` hears of each paper that is done.
 */
export async function fileContent(
  app: AppContext,
  paths: string[] = [],
  { signal, filed: done }: { signal?: AbortSignal; filed?: (paper: string) => void } = {},
): Promise<Filed> {
  const outcome: Filed = { filed: [], unchanged: 0, problems: [] };
  for (const [folder, only] of foldersOf(app, paths)) {
    if (signal?.aborted) break;
    const filed = await fileFolder(app, folder, only, signal);
    outcome.filed.push(...filed.filed);
    outcome.unchanged += filed.unchanged;
    outcome.problems.push(...filed.problems);
    done?.(basename(folder));
  }
  return outcome;
}

/** Which papers to file, each with the stories to file of it, or with all of them. */
function foldersOf({ settings }: AppContext, paths: string[]): Map<string, Set<string> | undefined> {
  const folders = new Map<string, Set<string> | undefined>();
  if (paths.length === 0) {
    if (!existsSync(settings.contentDir)) return folders;
    for (const entry of readdirSync(settings.contentDir, { withFileTypes: true })) {
      if (entry.isDirectory() && !entry.name.startsWith('.'))
        folders.set(join(settings.contentDir, entry.name), undefined);
    }
    return folders;
  }
  for (const given of paths) {
    const path = resolve(givenPath(given));
    if (!existsSync(path)) {
      throw new Fault('not_found', `${given} is not there; name a paper's folder or a story's file`);
    }
    const folder = paperFolder(path);
    if (folder === null) {
      throw new Fault(
        'invalid_request',
        `${given} belongs to no paper: no folder above it has a paper.yaml; put it under content/<paper>/`,
      );
    }
    if (statSync(path).isDirectory()) folders.set(folder, undefined);
    else if (!folders.has(folder)) folders.set(folder, new Set([path]));
    else folders.get(folder)?.add(path);
  }
  return folders;
}

function paperFolder(path: string): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'paper.yaml'))) return folder;
    if (dirname(folder) === folder) return null;
  }
}

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Fault } from '../../shared/fault.ts';
import { pushAll } from '../../shared/push-all.ts';
import { DeskFolder, type Filed } from './desk-folder.ts';
import { applyFacts } from './fact-files.ts';
import type { Intake } from './intake.ts';
import { applyRecords } from './record-files.ts';
import { Stories } from './stories.ts';

/** `signal` stops between two stories; `filed` is called for each paper. Throws `not_found`, `invalid_request`. */
export async function fileContent(
  intake: Intake,
  paths: string[] = [],
  { signal, filed: onFiled }: { signal?: AbortSignal; filed?: (paper: string) => void } = {},
): Promise<Filed> {
  const outcome: Filed = { filed: [], unchanged: 0, problems: [], without_file: [] };
  const folders =
    paths.length > 0
      ? foldersOf(paths)
      : new Map(paperFolders(intake.settings.contentDir).map((folder) => [folder, undefined]));
  for (const [folder, only] of folders) {
    if (signal?.aborted) break;
    const filed = await fileFolder(intake, folder, only, signal);
    pushAll(outcome.filed, filed.filed);
    outcome.unchanged += filed.unchanged;
    pushAll(outcome.problems, filed.problems);
    pushAll(outcome.without_file, filed.without_file);
    onFiled?.(basename(folder));
  }
  return outcome;
}

/** Reports rejected files and continues. `only` restricts the stories; `signal` stops between two stories. */
export async function fileFolder(
  intake: Intake,
  folder: string,
  only?: Set<string>,
  signal?: AbortSignal,
): Promise<Filed> {
  const at = new DeskFolder(intake, folder);
  if (!(await applyRecords(at))) return at.result;
  const { result } = at;
  const records = result.problems.length;
  await new Stories(at).file(only, signal);
  const stories = result.problems.length;
  const { unchanged } = result;
  const isAsked = only === undefined || [...only].some((path) => path.startsWith(join(folder, 'facts')));
  if (!isAsked || applyFacts(at) === 0 || stories === records) return result;
  // Files the stories again: a rejected one may cite a version of a fact that this run has created.
  result.problems.splice(records, stories - records);
  result.without_file.length = 0;
  await new Stories(at).file(only, signal);
  result.unchanged = unchanged;
  return result;
}

/** The papers' folders in the content folder, including links, which are rejected; empty when it does not exist. */
export function paperFolders(contentDir: string): string[] {
  if (!existsSync(contentDir)) return [];
  return readdirSync(contentDir, { withFileTypes: true })
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => join(contentDir, name));
}

/** The papers' folders that contain the paths, each with the story files to file; undefined means all of them. */
function foldersOf(paths: string[]): Map<string, Set<string> | undefined> {
  const folders = new Map<string, Set<string> | undefined>();
  for (const given of paths) {
    const path = resolve(given);
    if (!existsSync(path))
      throw new Fault('not_found', `${given} does not exist; name a paper's folder or a story's file`);
    const folder = paperFolder(path);
    if (folder === null) {
      const message = `${given} belongs to no paper: no folder above it has a paper.yaml; put it under content/<paper>/`;
      throw new Fault('invalid_request', message);
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

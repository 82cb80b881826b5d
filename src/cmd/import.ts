import { basename } from 'node:path';
import { Command, Option } from 'commander';
import { type Mapping, NO_MAPPING, SYSTEMS, type System } from '../../packages/import/src/index.ts';
import { type ImportNote, importLines, type RefusedLine } from '../desk/ingest/import-archive.ts';
import { type ArchiveLines, jsonLines } from '../desk/ingest/import-lines.ts';
import { askMapping, mediaFetch, openOther, otherLines, readMapping } from '../desk/ingest/other-systems.ts';
import { pressThenPrint } from '../operate/publish/press-progress.ts';
import { type AppContext, intakeOf, withAppContext } from '../server/context.ts';
import { readSettings } from '../server/env.ts';
import { Fault } from '../shared/fault.ts';
import { isAnswering, withAnswers } from '../shared/terminal/ask.ts';
import { printError, printResult } from '../shared/terminal/output.ts';
import { withProgress } from '../shared/terminal/progress.ts';
import { givenPath } from '../shared/terminal/project-folder.ts';

interface Options {
  paper: string;
  create?: boolean;
  persona?: string;
  air?: boolean;
  from?: System;
  site?: string;
  map?: string;
  section?: string;
  dryRun?: boolean;
  yes?: boolean;
  press: boolean;
  json?: boolean;
}

export function command(): Command {
  return new Command('import')
    .description(
      'file an archive: JSON Lines, a feed, or an export of WordPress, Ghost, Substack, Hugo, Jekyll or Eleventy',
    )
    .argument('<archive>', 'a file, or the folder of a site')
    .requiredOption('--paper <slug>', 'the paper to file with')
    .option('--create', 'create the paper, its sections and a persona where they are missing')
    .option('--persona <slug>', 'the persona that signs (default: the paper’s only one, or archive-desk)')
    .option('--air', 'put each piece on air at its own published_at')
    .addOption(
      new Option('--from <system>', 'the system that the archive comes from (default: detected)').choices(SYSTEMS),
    )
    .option('--site <url>', 'the address at which the archive was published, for links and pictures')
    .option('--map <file>', 'a YAML file that maps categories to sections and names authors')
    .option('--section <name>', 'the section for pieces whose category is not mapped')
    .option('--dry-run', 'file nothing, and show what would be filed, what would not, and why')
    .option('--yes', 'do not ask for sections')
    .option('--no-press', 'do not press afterwards')
    .option('--json', 'print the outcome as JSON')
    .action(async (given: string, options: Options) => {
      const path = givenPath(given);
      const mapping = mappingOf(options);
      if (options.site !== undefined) requireAddress(options.site);
      // Opened before a database is created for it.
      const source = await openOther(path, options.from);
      try {
        await withAppContext(readSettings(), async (app) => {
          if (source === null) return run(app, jsonLines(path), options);
          const sections = app.store.desk.paper(options.paper)?.sections ?? [];
          const isAsking =
            isAnswering() &&
            !options.yes &&
            !options.json &&
            options.map === undefined &&
            options.section === undefined;
          const asked = isAsking ? await withAnswers((ask) => askMapping(ask, source, mapping, sections)) : mapping;
          const { paper, dryRun, site: siteUrl = null } = options;
          const fetch = dryRun ? null : mediaFetch(app.settings.webhookPrivate);
          const how = { paper, mapping: asked, siteUrl, fetch };
          await run(app, otherLines(intakeOf(app), source, how), options);
        });
      } finally {
        source?.close();
      }
    });
}

function mappingOf({ map, section }: Options): Mapping {
  const mapping = map === undefined ? NO_MAPPING : readMapping(givenPath(map));
  return section === undefined ? mapping : { ...mapping, section };
}

function requireAddress(site: string): void {
  if (/^https?:$/.test(URL.parse(site)?.protocol ?? '')) return;
  throw new Fault(
    'invalid_request',
    `--site ${JSON.stringify(site)} is not an address; write one such as https://example.org`,
  );
}

async function run(app: AppContext, lines: ArchiveLines, options: Options): Promise<void> {
  const { paper, dryRun = false } = options;
  const notes: ImportNote[] = [];
  const onRefused = (line: RefusedLine) => refusedLines(line).forEach(printError);
  const onNote = (note: ImportNote) => {
    if (options.json) notes.push(note);
    else
      printError(`${basename(note.where)}${note.title === '' ? '' : ` ${JSON.stringify(note.title)}`}: ${note.note}`);
  };
  const outcome = await withProgress((step) => {
    const onProgress = (count: number) => step(`import ${paper}`, count, null, '');
    return importLines(intakeOf(app), lines, { ...options, onRefused, onNote, onProgress });
  });
  const isThere = app.store.desk.hasPaper(paper);
  const mayPress = options.press && isThere && !dryRun;
  await pressThenPrint(app, mayPress ? { paper } : null, (pressed, reports) =>
    printResult(options.json, { ...outcome, notes, pressed: Object.fromEntries(reports) }, [
      `${outcome.filed} ${dryRun ? 'would be filed' : 'filed'}, ${outcome.unchanged} unchanged, ${outcome.refused.length} refused${outcome.skipped === 0 ? '' : `, ${outcome.skipped} skipped`}`,
      ...(isThere || dryRun ? [] : [`the paper ${paper} was not created: nothing was filed`]),
      ...pressed,
    ]),
  );
  if (outcome.refused.length > 0 || (!isThere && !dryRun)) process.exitCode = 1;
}

function refusedLines({ where, slug, problems }: RefusedLine): string[] {
  const named = `${basename(where)}${slug === null ? '' : ` ${slug}`}`;
  return problems.map(({ field, message }) => `${named} ${field}: ${message}`);
}

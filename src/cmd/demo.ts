import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { DEMO_PAPERS, folderDigest } from '../desk/ingest/demo-papers.ts';
import { demoGuide, demoVariables, prepareDemo } from '../records/demo-records.ts';
import { startDemoNameServer } from '../records/probe/demo-name-server.ts';
import { demoAnswer } from '../records/probe/demo-zone.ts';
import { type AppContext, withAppContext } from '../server/context.ts';
import { readSettings, setVariable } from '../server/env.ts';
import { Fault } from '../shared/fault.ts';
import { databaseFile } from '../shared/files/data-folder.ts';
import { isAnswering, withAnswers } from '../shared/terminal/ask.ts';
import { printResult } from '../shared/terminal/output.ts';
import { isFree, makeDemoPast } from './demo-past.ts';
import { secondsOf } from './frame.ts';
import { removalLines, remove } from './paper.ts';
import { serve } from './serve.ts';

export function command(): Command {
  return new Command('demo')
    .description('the demo papers, and the demonstration of the domain records')
    .addCommand(records())
    .addCommand(demoRemoval());
}

function records(): Command {
  return new Command('records')
    .description(
      'serve two dozen invented names with ninety days of history, in a folder of their own, without a network',
    )
    .option('--every <time>', 'how often names change and are probed: 1s to 60m', '60s')
    .action(async ({ every }: { every: string }) => {
      const seconds = secondsOf(every);
      const step = () => Math.floor(Date.now() / (seconds * 1_000));
      // Reads .env too, which the demonstration then overrides.
      const given = readSettings();
      const names = await startDemoNameServer((name, type) => demoAnswer(name, type, step()));
      try {
        const variables = demoVariables(given, names.port, seconds);
        // A real service of this machine may listen at the default port.
        if (given.assumed.dataOrigin && !(await isFree(given.recordsPort, given.host))) variables.RECORDS_PORT = '0';
        // In the environment, because the process that archives reads them, too.
        for (const [name, value] of Object.entries(variables)) setVariable(name, value);
        const settings = readSettings();
        makeDemoPast(settings, Date.now());
        const key = await withAppContext(settings, async (app) => {
          if (settings.archiveUrl !== null) await openDemoArchive(app, settings.archiveUrl);
          return prepareDemo(app);
        });
        const guide = { server: names.port, every: seconds, key };
        await serve(settings, {
          onReady: (app) => void process.stdout.write(`${demoGuide(app, guide).join('\n')}\n`),
        });
      } finally {
        names.close();
      }
    });
}

/** Checks the archive before anything is signed: it may be that of an earlier demonstration, with other keys. */
async function openDemoArchive(app: AppContext, url: string): Promise<void> {
  const { archiveAddress } = await import('../shared/storage/archive-place.ts');
  const { lookAtArchive } = await import('../records/jobs/archive-look.ts');
  const address = archiveAddress(url, app.settings);
  // Only the last folder is created: if its parent is missing, the disk may not be mounted.
  if (address.kind === 'folder' && existsSync(dirname(address.folder))) mkdirSync(address.folder, { recursive: true });
  await lookAtArchive(app).catch((error: unknown) => {
    const cure = 'the demonstration would archive there: remove what an earlier one left, or unset ARCHIVE_URL';
    throw error instanceof Fault ? new Fault(error.code, `${error.message}; ${cure}`) : error;
  });
}

function demoRemoval(): Command {
  return new Command('remove')
    .description('remove the two demo papers, and their folders unless something in them was changed')
    .option('--yes', 'do not ask for confirmation')
    .action(async ({ yes }: { yes?: boolean }) => {
      if (!yes) await confirm();
      const settings = readSettings();
      const lines: string[] = [];
      if (existsSync(databaseFile(settings))) {
        await withAppContext(settings, async (app) => {
          for (const { slug, nameplate } of DEMO_PAPERS) {
            // A paper with another nameplate only has the same slug.
            if (app.store.desk.paper(slug)?.nameplate !== nameplate) continue;
            const { done, files } = await remove(app, slug);
            lines.push(...removalLines(slug, done, files));
          }
        });
      }
      for (const { slug, digest } of DEMO_PAPERS) {
        const folder = join(settings.contentDir, slug);
        const found = folderDigest(folder);
        if (found === digest) {
          rmSync(folder, { recursive: true });
          lines.push(`deleted ${folder}`);
        } else if (found !== null) {
          lines.push(
            `${folder} was changed, so it was kept; delete it yourself, or it is refused whenever content/ is filed`,
          );
        }
      }
      printResult(false, null, lines.length === 0 ? ['there are no demo papers; nothing was removed'] : lines);
    });
}

async function confirm(): Promise<void> {
  if (!isAnswering()) throw new Fault('invalid_request', 'this takes the demo papers off the air; add --yes');
  const question = 'This takes both demo papers off the air, and deletes their folders. Continue? [y/N] ';
  const answer = await withAnswers((ask) => ask(question));
  if (!/^y(?:es)?$/i.test(answer ?? '')) throw new Fault('invalid_request', 'nothing was removed');
}

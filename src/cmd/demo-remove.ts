import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { databaseFile, withAppContext } from '../app/context.ts';
import { readSettings } from '../env.ts';
import { Fault } from '../fault.ts';
import { DEMO_PAPERS, folderDigest } from '../ingest/demo-papers.ts';
import { isAnswering, withAnswers } from '../terminal/ask.ts';
import { printResult } from '../terminal/output.ts';
import { removalLines, remove } from './paper-remove.ts';

/** `demo remove` */
export function demoRemoval(): Command {
  return new Command('remove')
    .description('remove the two demo papers, and their folders unless something in them was changed')
    .option('--yes', 'do not ask')
    .action(async ({ yes }: { yes?: boolean }) => {
      if (!yes) await confirm();
      const settings = readSettings();
      const lines: string[] = [];
      if (existsSync(databaseFile(settings))) {
        await withAppContext(settings, async (app) => {
          for (const { slug, nameplate } of DEMO_PAPERS) {
            // A paper of another name has nothing of the demo but its slug.
            if (app.store.paper(slug)?.nameplate !== nameplate) continue;
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
            `${folder} was changed and stays; delete it yourself, or it is refused whenever content/ is filed`,
          );
        }
      }
      printResult(false, null, lines.length === 0 ? ['there are no demo papers here'] : lines);
    });
}

async function confirm(): Promise<void> {
  if (!isAnswering()) throw new Fault('invalid_request', 'this takes the demo papers off the air; add --yes');
  const question = 'This takes both demo papers off the air, and deletes their folders. Go on? [y/N] ';
  const answer = await withAnswers((ask) => ask(question));
  if (!/^y(?:es)?$/i.test(answer ?? '')) throw new Fault('invalid_request', 'nothing was removed');
}

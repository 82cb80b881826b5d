import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { requirePaper, withExistingData } from '../app/context.ts';
import { pressPapers } from '../app/press-run.ts';
import { publishAfterPress } from '../app/publish-run.ts';
import type { Removal } from '../desk/removal.ts';
import { removePaper, restorePaper } from '../desk/removal.ts';
import { readSettings } from '../env.ts';
import { Fault, messageOf } from '../fault.ts';
import { plural } from '../plural.ts';
import { isAnswering, withAnswers } from '../terminal/ask.ts';
import { printError, printResult } from '../terminal/output.ts';

/** `paper remove` */
export function removal(): Command {
  return new Command('remove')
    .description('remove a paper: its files go, its addresses answer 410, its readers’ addresses are erased')
    .argument('<slug>', 'the paper')
    .option('--yes', 'do not ask')
    .option('--json', 'print {slug, withdrawn, receipts, readers, keys, files}')
    .action((slug: string, { yes, json }: { yes?: boolean; json?: boolean }) =>
      withExistingData(readSettings(), async (app) => {
        requirePaper(app, slug);
        if (!yes) await confirm(app, slug);
        const { done, files } = await remove(app, slug);
        const folder = join(app.settings.contentDir, slug);
        const stays = existsSync(folder)
          ? [
              `${folder} stays, and is not filed again; delete it, or bring the paper back with \`paper restore ${slug}\``,
            ]
          : [];
        printResult(json, { slug, ...done, files }, [...removalLines(slug, done, files), ...stays]);
      }),
    );
}

/** `paper restore` */
export function restoral(): Command {
  return new Command('restore')
    .description('bring a removed paper back; its pieces stay withdrawn until they are put on air again')
    .argument('<slug>', 'the paper')
    .action((slug: string) =>
      withExistingData(readSettings(), async (app) => {
        const { nameplate } = restorePaper(app, slug);
        const { withdrawn } = app.store.pieces.stateCounts(slug);
        await pressed(app, slug);
        printResult(false, null, [
          `${nameplate} (${slug}) is back, with ${plural(withdrawn, 'piece')} withdrawn`,
          `put a piece on air with \`npm run -s broadsheet -- air PIECE --paper ${slug}\`, and make new keys: the old ones stay revoked`,
        ]);
      }),
    );
}

/** Removes a paper and its tree. `files` is null when the tree is left to the next press. */
export async function remove(app: AppContext, slug: string): Promise<{ done: Removal; files: number | null }> {
  app.openSigningKey();
  const done = removePaper(app, slug, 'cli');
  return { done, files: await pressed(app, slug) };
}

/** The removal is in the ledger: if the disk refuses, the next press completes it. */
async function pressed(app: AppContext, slug: string): Promise<number | null> {
  try {
    const removed = (await pressPapers(app, { paper: slug })).get(slug)?.removed ?? 0;
    await publishAfterPress(app);
    return removed;
  } catch (error) {
    printError(`${slug}: ${messageOf(error)}; the next press or start finishes it`);
    return null;
  }
}

/** What a removal did, for a terminal. */
export function removalLines(
  slug: string,
  { withdrawn, receipts, readers, keys }: Removal,
  files: number | null,
): string[] {
  return [
    `removed ${slug}: ${plural(withdrawn, 'piece')} withdrawn, ${files === null ? 'its files wait for the next press' : `${plural(files, 'file')} removed`}, addresses of ${plural(readers, 'reader')} erased, ${plural(keys, 'key')} revoked`,
    `its addresses answer 410; ${plural(receipts, 'receipt')} of it ${receipts === 1 ? 'stays' : 'stay'} in the ledger and in the log`,
  ];
}

async function confirm(app: AppContext, slug: string): Promise<void> {
  const { on_air } = app.store.pieces.stateCounts(slug);
  if (!isAnswering()) {
    throw new Fault('invalid_request', `this takes ${slug} off the air (${plural(on_air, 'piece')}); add --yes`);
  }
  const question = `This takes ${slug} off the air, with ${plural(on_air, 'piece')}. Type its name to go on: `;
  const answer = await withAnswers((ask) => ask(question));
  if (answer !== slug) throw new Fault('invalid_request', `${slug} was not removed`);
}

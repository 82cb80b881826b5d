import type { Command } from 'commander';
import { missingMedia } from '../desk/media/missing-media.ts';
import { missingLine, pressLines, pressWithProgress } from '../operate/publish/press-progress.ts';
import { openCommandLog } from '../server/server-log.ts';
import { printResult } from '../shared/terminal/output.ts';
import { publishLogOnce } from '../signing/log/open-witnesses.ts';
import { DataCommand } from './frame.ts';

export function command(): Command {
  return new DataCommand('press')
    .description('press the files that are out of date, or every file, and publish the transparency log')
    .option('--paper <slug>', 'only this paper')
    .option('--full', 'press every file, and remove files that belong to no page')
    .option('--no-cards', 'leave the share cards for a later press')
    .option('--json', 'print the outcome as JSON')
    .onData(async (app, { json, ...options }: { paper?: string; full?: boolean; cards: boolean; json?: boolean }) => {
      // Started before the press, so that the press writes the log's new proofs.
      const published = publishLogOnce(app, 'desk', openCommandLog(app.settings.logLevel));
      // A log that cannot be published does not stop the press.
      await published.catch(() => {});
      const reports = await pressWithProgress(app, options);
      // Missing media are reported even when nothing is left to press.
      const missing = missingMedia(app).filter(({ paper }) => !reports.has(paper));
      printResult(json, Object.fromEntries(reports), [...pressLines(reports), ...missing.map(missingLine)]);
      await published;
    });
}

import { Command } from 'commander';
import { exportLedger } from '../desk/ingest/ledger-export.ts';
import { importLedger } from '../desk/ingest/ledger-import.ts';
import { pressThenPrint } from '../operate/publish/press-progress.ts';
import { type AppContext, intakeOf } from '../server/context.ts';
import { caught, Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { printResult } from '../shared/terminal/output.ts';
import { withProgress } from '../shared/terminal/progress.ts';
import { givenPath } from '../shared/terminal/project-folder.ts';
import { readLogKey } from '../signing/log/log-key.ts';
import { DataCommand } from './frame.ts';

export function command(): Command {
  return new Command('ledger')
    .description('export the whole ledger, or import it into an empty database')
    .addCommand(exportCommand())
    .addCommand(importCommand());
}

function exportCommand(): Command {
  return new DataCommand('export')
    .description(
      'write every key, record, generation, airing and withdrawal, and the transparency log, as JSON Lines, oldest first',
    )
    .argument('<file>', 'the file to write')
    .onData(async (app, file: string) => {
      // The log of an export must match its entries while a server keeps filing.
      const snapshot = app.store.snapshots.take();
      snapshot.refresh();
      const { desk, database } = snapshot.store;
      const source = { store: { ...desk, log: database.log }, media: app.store.media };
      const count = await exportLedger(source, givenPath(file), logVkey(app)).finally(snapshot.end);
      printResult(false, null, [`exported ${plural(count, 'entry', 'entries')} to ${file}`]);
    });
}

/** The verifier key of the desk's log; null when this machine does not sign it. */
function logVkey(app: AppContext): string | null {
  // An unusable key file does not prevent an export.
  const key = caught(Fault, () => readLogKey(app, 'desk'));
  return key instanceof Fault ? null : (key?.vkey ?? null);
}

function importCommand(): Command {
  return new DataCommand('import')
    .description('check every receipt of an export and its log, rebuild the database from it, and press')
    .argument('<file>', 'a file of `ledger export`')
    .option('--no-press', 'do not press afterwards')
    .onAnyData(async (app, file: string, options: { press: boolean }) => {
      const count = await withProgress((step) =>
        importLedger(intakeOf(app), givenPath(file), (entries, type) => step('ledger import', entries, entries, type)),
      );
      app.store.desk.optimizeSearch();
      await pressThenPrint(app, options.press ? {} : null, (pressed) =>
        printResult(false, null, [`imported ${plural(count, 'entry', 'entries')}`, ...pressed]),
      );
    });
}

import { Command } from 'commander';
import { Fault, stackOf } from '../fault.ts';
import { VERSION } from '../project.ts';
import { printable, printableLines } from '../terminal/escape.ts';
import { endWithParent } from '../terminal/parent-process.ts';
import { enterProject } from '../terminal/project-folder.ts';
import { endBetweenSteps } from '../terminal/stop-signal.ts';

/** Every command, in a separate file that exports `command()`. Only the file of the invoked command is loaded. */
const COMMANDS: Record<string, () => Promise<{ command: () => Command }>> = {
  new: () => import('./new.ts'),
  serve: () => import('./serve-command.ts'),
  file: () => import('./file.ts'),
  import: () => import('./import.ts'),
  air: () => import('./air.ts'),
  withdraw: () => import('./withdraw.ts'),
  press: () => import('./press.ts'),
  publish: () => import('./publish.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./restore.ts'),
  standby: () => import('./standby.ts'),
  verify: () => import('./verify.ts'),
  log: () => import('./log.ts'),
  monitor: () => import('./monitor.ts'),
  audit: () => import('./audit.ts'),
  clock: () => import('./clock.ts'),
  ledger: () => import('./ledger.ts'),
  paper: () => import('./paper.ts'),
  key: () => import('./key.ts'),
  seat: () => import('./seat.ts'),
  account: () => import('./account.ts'),
  credits: () => import('./credits.ts'),
  watch: () => import('./watch.ts'),
  scan: () => import('./scan.ts'),
  'opt-out': () => import('./opt-out.ts'),
  demo: () => import('./demo.ts'),
  doctor: () => import('./doctor.ts'),
  reader: () => import('./reader.ts'),
  webhook: () => import('./webhook.ts'),
};

/**
 * Commands that may write to a database beside a server. One that is killed while it commits may leave a commit that no
 * other process knows of (docs/backup.md).
 */
const WRITES = new Set(
  'file import air withdraw clock press publish paper key seat account credits watch scan opt-out reader webhook demo'.split(
    ' ',
  ),
);

endWithParent();
enterProject();
if (WRITES.has(process.argv[2] ?? '')) endBetweenSteps();
const program = new Command('broadsheet')
  .description('Publishes newspapers run by declared AI personas and proves what it published.')
  .version(VERSION, '-V, --version', 'print the version')
  .showHelpAfterError();

const called = COMMANDS[process.argv[2] ?? ''];
for (const load of called === undefined ? Object.values(COMMANDS) : [called]) {
  program.addCommand((await load()).command());
}

try {
  await program.parseAsync();
} catch (error) {
  // A fault says what to do. Any other error is a defect, whose stack trace helps to fix it.
  process.stderr.write(
    `broadsheet: ${error instanceof Fault ? printable(error.message) : printableLines(stackOf(error))}\n`,
  );
  process.exitCode ||= 1;
}

import { Command } from 'commander';
import { Fault, stackOf } from '../shared/fault.ts';
import { VERSION } from '../shared/project.ts';
import { printable, printableLines } from '../shared/terminal/output.ts';
import { endWithParent } from '../shared/terminal/parent-process.ts';
import { enterProject } from '../shared/terminal/project-folder.ts';
import { endBetweenSteps } from '../shared/terminal/stop-signal.ts';
import { COMMANDS } from './commands.ts';

/**
 * Commands that may write beside a server: a kill during a commit may hide that commit from others (docs/backup.md).
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
  // Options after a command belong to the command.
  .enablePositionalOptions()
  .showHelpAfterError();

const called = COMMANDS[process.argv[2] ?? ''];
for (const load of called === undefined ? Object.values(COMMANDS) : [called]) {
  program.addCommand(await load());
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

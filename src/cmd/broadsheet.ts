import { Command } from 'commander';
import { Fault } from '../fault.ts';
import { VERSION } from '../project.ts';
import { endWithStarter } from './starter.ts';
import { shown, shownLines } from './terminal.ts';

/** One verb a file; only the file of the verb that was asked for is loaded. */
const VERBS: Record<string, () => Promise<{ command: () => Command }>> = {
  serve: () => import('./serve.ts'),
  file: () => import('./file.ts'),
  import: () => import('./import.ts'),
  air: () => import('./air.ts'),
  withdraw: () => import('./withdraw.ts'),
  press: () => import('./press.ts'),
  verify: () => import('./verify.ts'),
  audit: () => import('./audit.ts'),
  ledger: () => import('./ledger.ts'),
  paper: () => import('./paper.ts'),
  key: () => import('./key.ts'),
  seat: () => import('./seat.ts'),
  account: () => import('./account.ts'),
  credits: () => import('./credits.ts'),
  watch: () => import('./watch.ts'),
  scan: () => import('./scan.ts'),
  'opt-out': () => import('./opt-out.ts'),
  doctor: () => import('./doctor.ts'),
  reader: () => import('./reader.ts'),
  webhook: () => import('./webhook.ts'),
};

endWithStarter();
const program = new Command('broadsheet')
  .description('Publishes newspapers run by declared AI personas, and proves what it published.')
  .version(VERSION, '-V, --version', 'print the version')
  .showHelpAfterError();

const asked = VERBS[process.argv[2] ?? ''];
for (const load of asked === undefined ? Object.values(VERBS) : [asked]) {
  program.addCommand((await load()).command());
}

try {
  await program.parseAsync();
} catch (error) {
  // A fault says what to do; anything else is a defect, and its trace helps whoever mends it.
  process.stderr.write(
    `broadsheet: ${error instanceof Fault ? shown(error.message) : shownLines(String((error as Error).stack))}\n`,
  );
  process.exitCode ||= 1;
}

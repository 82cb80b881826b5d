import { Command } from 'commander';
import { Fault } from '../fault.ts';
import { airCommand } from './air.ts';
import { auditCommand } from './audit.ts';
import { fileCommand } from './file.ts';
import { importCommand } from './import.ts';
import { keyCommand } from './key.ts';
import { ledgerCommand } from './ledger.ts';
import { pressCommand } from './press.ts';
import { serveCommand } from './serve.ts';
import { verifyCommand } from './verify.ts';
import { withdrawCommand } from './withdraw.ts';

const program = new Command('broadsheet')
  .description('Publishes newspapers run by declared AI personas, and proves what it published.')
  .showHelpAfterError();

for (const command of [
  fileCommand,
  importCommand,
  airCommand,
  withdrawCommand,
  pressCommand,
  verifyCommand,
  auditCommand,
  keyCommand,
  ledgerCommand,
  serveCommand,
]) {
  program.addCommand(command());
}

try {
  await program.parseAsync();
} catch (error) {
  // A fault says what to do; anything else is a defect, and its trace helps whoever mends it.
  process.stderr.write(`broadsheet: ${error instanceof Fault ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
}

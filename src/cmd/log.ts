import { Command } from 'commander';
import { LOG_SERVICES } from '../desk/log-leaves.ts';
import { logSource, readPolicyAt } from '../operate/audit/log/served-log.ts';
import { verifiedLogLines, verifyLog } from '../operate/audit/log/verify-log.ts';
import { exitUnchecked, NOT_CHECKED, printResult } from '../shared/terminal/output.ts';
import { withProgress } from '../shared/terminal/progress.ts';
import { givenAddress } from '../shared/terminal/project-folder.ts';
import { logStatus, logStatusLines } from '../signing/log/log-status.ts';
import { signerLines, signerStatus } from '../signing/signer.ts';
import { DataCommand } from './frame.ts';

export function command(): Command {
  return new Command('log')
    .description('show and check transparency logs')
    .addCommand(statusCommand())
    .addCommand(verifyCommand());
}

function statusCommand(): Command {
  return new DataCommand('status')
    .description('show the size, the head and the witnesses of each log, and whether it is signed')
    .option('--json', 'print the state as JSON')
    .onData(async (app, { json }: { json?: boolean }) => {
      const logs = LOG_SERVICES.map((log) => logStatus(app, log));
      const signer = await signerStatus(app);
      printResult(json, { signer, logs }, [...signerLines(signer), ...logs.flatMap(logStatusLines)]);
    });
}

function verifyCommand(): Command {
  return new Command('verify')
    .description('read a whole log: every leaf, every tile and the checkpoint’s root')
    .argument('<where>', 'the folder or the address in which the log’s checkpoint is')
    .option('--policy <file or address>', 'require the log’s signature and the quorum of this tlog-policy')
    .option('--json', 'print the outcome as JSON')
    .exitOverride(exitUnchecked)
    .addHelpText('after', '\nExit code 0: everything holds; 1: something does not; 2: nothing could be checked.')
    .action(async (where: string, { policy, json }: { policy?: string; json?: boolean }) => {
      process.exitCode = NOT_CHECKED;
      const trusted = policy === undefined ? null : await readPolicyAt(givenAddress(policy));
      const source = logSource(givenAddress(where));
      const checked = await withProgress((step) =>
        verifyLog(source, trusted, (done, total) => step('verify', done, total, '')),
      );
      printResult(json, checked, verifiedLogLines(checked));
      process.exitCode = checked.faults.length > 0 ? 1 : 0;
    });
}

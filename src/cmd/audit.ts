import { Command } from 'commander';
import { auditApp } from '../app/audit.ts';
import { withExistingData } from '../app/context.ts';
import { readSettings } from '../env.ts';
import { plural } from '../plural.ts';
import { printResult } from '../terminal/output.ts';
import { progressTo } from '../terminal/progress.ts';

export function command(): Command {
  return new Command('audit')
    .description('check the ledger, the tables derived from it, the transparency logs, and every pressed file on disk')
    .option('--deep', 'render every page and draw every card again, and compare every file byte for byte')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', '\nExit code 0: no faults; 1: there are faults.')
    .action(({ deep, json }: { deep?: boolean; json?: boolean }) =>
      withExistingData(readSettings(), async (app) => {
        const progress = progressTo();
        const audit = await auditApp(app, { deep, progress: progress.step }).finally(progress.end);
        const observed = audit.observations > 0 ? `, ${plural(audit.observations, 'observation')}` : '';
        const logged = audit.leaves > 0 ? `, ${plural(audit.leaves, 'leaf', 'leaves')}` : '';
        printResult(json, audit, [
          ...audit.faults,
          `${plural(audit.generations, 'generation')}${observed}${logged} and ${plural(audit.files, 'file')} audited, ${plural(audit.faults.length, 'fault')}`,
        ]);
        if (audit.faults.length > 0) process.exitCode = 1;
      }),
    );
}

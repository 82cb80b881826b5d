import { Command } from 'commander';
import { examine } from '../operate/doctor/examine.ts';
import type { Finding } from '../operate/doctor/finding.ts';
import { planUpgrade, upgradeLines } from '../operate/doctor/upgrade.ts';
import { readSettings } from '../server/env.ts';
import { plural } from '../shared/plural.ts';
import { printResult } from '../shared/terminal/output.ts';

const LABELS: Record<Finding['state'], string> = { holds: 'ok   ', open: '-    ', fault: 'FAULT' };

export function command(): Command {
  return new Command('doctor')
    .description(
      'check settings, database, keys, logs, disk, mail, resolvers, payments, the running server and its queues, and say what to do',
    )
    .option('--json', 'print the findings as JSON')
    .option('--upgrade', 'only show what this version will change in an older database and its pages; change nothing')
    .addHelpText('after', '\nExit code 0: no faults; 1: there are faults.')
    .action(async ({ json, upgrade }: { json?: boolean; upgrade?: boolean }) => {
      if (upgrade === true) {
        const plan = planUpgrade(readSettings());
        printResult(json, plan, upgradeLines(plan));
        if (!plan.ready) process.exitCode = 1;
        return;
      }
      const findings = await examine(readSettings);
      const faults = findings.filter(({ state }) => state === 'fault').length;
      const lines = findings.flatMap(({ name, state, found, cure }) => [
        `${LABELS[state]} ${name}: ${found}`,
        ...(cure === undefined ? [] : [`      ${cure}`]),
      ]);
      printResult(json, { healthy: faults === 0, findings }, [...lines, plural(faults, 'fault')]);
      if (faults > 0) process.exitCode = 1;
    });
}

import type { Command } from 'commander';
import { auditApp } from '../operate/audit/audit.ts';
import { acceptDamage } from '../operate/audit/records.ts';
import { Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { printResult } from '../shared/terminal/output.ts';
import { withProgress } from '../shared/terminal/progress.ts';
import { DataCommand } from './frame.ts';

type AuditOptions = { deep?: boolean; archive?: boolean; json?: boolean; acceptDamage?: string[]; reason?: string };

export function command(): Command {
  return new DataCommand('audit')
    .description('check the ledger, the tables derived from it, the transparency logs, and every pressed file on disk')
    .option('--deep', 'render every page and draw every card again, and compare every file byte for byte')
    .option('--archive', 'read every object of the archive, and check what it holds as if it were in the database')
    .option('--accept-damage <seq...>', 'mark observations whose values an older version cut at U+0000, then audit')
    .option('--reason <text>', 'why they are marked; stored with the time')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', '\nExit code 0: no faults; 1: there are faults.')
    .onData(async (app, { deep, archive, json, acceptDamage: seqs, reason }: AuditOptions) => {
      if (seqs !== undefined) acceptDamage(app, seqs.map(seqOf), reason ?? '');
      const audit = await withProgress((progress) => auditApp(app, { deep, archive, progress }));
      const observed = audit.observations > 0 ? `, ${plural(audit.observations, 'observation')}` : '';
      const damaged = audit.damaged > 0 ? ` (${audit.damaged} marked damaged)` : '';
      const archived =
        audit.archived === 0
          ? ''
          : archive
            ? `, ${plural(audit.archived, 'observation')} in the archive`
            : ` (${plural(audit.archived, 'observation')} in the archive not read; give --archive)`;
      const logged = audit.leaves > 0 ? `, ${plural(audit.leaves, 'leaf', 'leaves')}` : '';
      printResult(json, audit, [
        ...audit.faults,
        `${plural(audit.generations, 'generation')}${observed}${damaged}${archived}${logged} and ${plural(audit.files, 'file')} audited, ${plural(audit.faults.length, 'fault')}`,
      ]);
      if (audit.faults.length > 0) process.exitCode = 1;
    });
}

function seqOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new Fault(
    'invalid_request',
    `${JSON.stringify(text)} is not the number of an observation; take it from the audit`,
  );
}

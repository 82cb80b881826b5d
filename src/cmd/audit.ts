import { Command } from 'commander';
import { loadBuild } from '../app/build.ts';
import type { AppContext } from '../app/context.ts';
import { planOf } from '../app/press-run.ts';
import type { Audit } from '../audit/audit.ts';
import { auditAll } from '../audit/audit.ts';
import type { AuditParts } from '../audit/parts.ts';
import { counted } from '../counted.ts';
import { progressTo } from './progress.ts';
import { say, withAppContext } from './run.ts';

interface Options {
  deep?: boolean;
  json?: boolean;
}

export function command(): Command {
  return new Command('audit')
    .description(
      'check the ledger, what follows from it, and that every file which it asks for is on disk as it must be',
    )
    .option('--deep', 'render every page and draw every picture anew, and compare every file byte for byte')
    .option('--json', 'print the outcome as JSON')
    .action((options: Options) =>
      withAppContext(async (app) => {
        const progress = progressTo();
        const audit = await auditApp(app, { ...options, progress: progress.step }).finally(progress.end);
        const observed = audit.observations > 0 ? `, ${counted(audit.observations, 'observation')}` : '';
        say(options.json, audit, [
          ...audit.faults,
          `${counted(audit.generations, 'generation')}${observed} and ${counted(audit.files, 'file')} audited, ${counted(audit.faults.length, 'fault')}`,
        ]);
        if (audit.faults.length > 0) process.exitCode = 1;
      }),
    );
}

/** Audits all that a workshop has. */
export function auditApp(
  app: AppContext,
  { deep = false, progress = () => {} }: { deep?: boolean; progress?: AuditParts['progress'] } = {},
): Promise<Audit> {
  const parts: AuditParts = {
    store: app.store,
    distDir: app.settings.distDir,
    mediaFile: app.media.pathOf,
    loadBuild,
    planOf: (paper, build) => planOf(app, paper, build),
    now: app.now,
    progress,
  };
  return auditAll(parts, { deep });
}

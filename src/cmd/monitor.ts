import { Command } from 'commander';
import { readPolicyAt } from '../operate/audit/log/served-log.ts';
import { findingLine } from '../operate/audit/monitor/log-memory.ts';
import { type MonitorRun, monitor } from '../operate/audit/monitor/monitor.ts';
import { isAddress } from '../operate/audit/verify-sources.ts';
import { Fault } from '../shared/fault.ts';
import { plural } from '../shared/plural.ts';
import { exitUnchecked, NOT_CHECKED, printResult } from '../shared/terminal/output.ts';
import { withProgress } from '../shared/terminal/progress.ts';
import { givenAddress, givenPath } from '../shared/terminal/project-folder.ts';

/** The most lines about what could not be checked: a site that is down has one for each page. */
const LISTED_MAX = 10;

export function command(): Command {
  return new Command('monitor')
    .description('watch a paper and its transparency log from outside, from cron for instance')
    .argument('<url...>', 'the addresses of papers, or of a host with all its papers; all must share one log')
    .requiredOption('--policy <file or address>', 'the tlog-policy that names the log, its witnesses and the quorum')
    .requiredOption('--state <file>', 'the file with what the last run saw; updated for the next run')
    .option('--verbose', 'also say that all is well')
    .option('--json', 'print the outcome as JSON')
    .exitOverride(exitUnchecked)
    .addHelpText(
      'after',
      '\nPrints nothing when all is well, except each correction of the clock, once. Exit code 0: consistent with the last run, with no contradictions; 1: something was found; 2: something could not be checked.',
    )
    .action(async (urls: string[], options: { policy: string; state: string; verbose?: boolean; json?: boolean }) => {
      const { policy, state, verbose = false, json } = options;
      process.exitCode = NOT_CHECKED;
      const sites = urls.map(siteOf);
      const trusted = await readPolicyAt(givenAddress(policy));
      const task = { sites, policy: trusted, file: givenPath(state), now: Date.now };
      const run = await withProgress((step) =>
        monitor({ ...task, progress: (label, done, total) => step(label, done, total, '') }),
      );
      printResult(json, run, linesOf(run, verbose));
      process.exitCode = codeOf(run);
    });
}

function siteOf(url: string): string {
  if (isAddress(url) && URL.canParse(url)) return url;
  throw new Fault('invalid_request', `${url} is not an address; give one such as https://papers.example/tide-table/`);
}

function codeOf({ findings, unchecked }: MonitorRun): number {
  if (findings.length > 0) return 1;
  return unchecked.length > 0 ? NOT_CHECKED : 0;
}

function linesOf(run: MonitorRun, verbose: boolean): string[] {
  const { log, leaves_read, pages_read, pages_waiting, findings, corrections, unchecked } = run;
  const waiting = pages_waiting > 0 ? `, ${plural(pages_waiting, 'page')} not in the log yet` : '';
  const read = `${plural(leaves_read, 'new leaf', 'new leaves')} and ${plural(pages_read, 'page')} read${waiting}`;
  return [
    ...findings.map(findingLine),
    ...corrections,
    ...unchecked.slice(0, LISTED_MAX).map((line) => `not checked: ${line}`),
    ...(unchecked.length > LISTED_MAX ? [`not checked: ${unchecked.length - LISTED_MAX} more`] : []),
    ...(verbose && log !== null ? [`${log.origin}: ${plural(log.size, 'leaf', 'leaves')}; ${read}`] : []),
  ];
}

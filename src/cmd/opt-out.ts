import { Command } from 'commander';
import { withAppContext } from '../app/context.ts';
import { readSettings } from '../env.ts';
import { plural } from '../plural.ts';
import { parseHostname } from '../records/hostname.ts';
import { optOutReason } from '../records/require-host.ts';
import { printResult } from '../terminal/output.ts';

export function command(): Command {
  return new Command('opt-out')
    .description('stop probing a hostname and its subdomains, and hide them everywhere; receipts stay')
    .argument('<hostname>', 'such as example.org')
    .requiredOption('--reason <text>', 'the reason, in one line')
    .option('--json', 'print {hostname, hidden}')
    .action((name: string, options: { reason: string; json?: boolean }) =>
      withAppContext(readSettings(), ({ store, now }) => {
        const reason = optOutReason(options.reason, '--reason');
        const host = parseHostname(name);
        const hidden = store.records.optOut(host, reason, 'cli', now());
        printResult(options.json, { hostname: host.hostname, hidden }, [
          `${host.hostname} and its subdomains are opted out; ${plural(hidden.length, 'watched name')} hidden`,
        ]);
      }),
    );
}

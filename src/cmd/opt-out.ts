import { Command } from 'commander';
import { counted } from '../counted.ts';
import { parseHostname } from '../records/hostname.ts';
import { optOutReason } from '../records/opt-out.ts';
import { say, withAppContext } from './run.ts';

export function command(): Command {
  return new Command('opt-out')
    .description('look at a hostname and all below it no more, and show them nowhere; receipts stay')
    .argument('<hostname>')
    .requiredOption('--reason <text>', 'why, in one line')
    .option('--json', 'print the names that went out of sight')
    .action((name: string, options: { reason: string; json?: boolean }) =>
      withAppContext(({ store, now }) => {
        const reason = optOutReason(options.reason, '--reason');
        const host = parseHostname(name);
        const hidden = store.records.optOut(host, reason, 'cli', now());
        say(options.json, { hostname: host.hostname, hidden }, [
          `${host.hostname} and all below it are opted out; ${counted(hidden.length, 'watched name')} went out of sight`,
        ]);
      }),
    );
}

import { Command } from 'commander';
import { Fault } from '../fault.ts';
import { isLine } from '../ledger/door.ts';
import { parseHostname } from '../records/hostname.ts';
import { say, withWorkshop } from './run.ts';

/** The longest reason, in UTF-16 units. */
const REASON_MAX = 1_000;

export function command(): Command {
  return new Command('opt-out')
    .description('look at a hostname and all below it no more, and show them nowhere; receipts stay')
    .argument('<hostname>')
    .requiredOption('--reason <text>', 'why, in one line')
    .option('--json', 'print the names that went out of sight')
    .action((name: string, options: { reason: string; json?: boolean }) =>
      withWorkshop(({ store, now }) => {
        const reason = options.reason.normalize('NFC').trim();
        if (reason === '' || reason.length > REASON_MAX || !isLine(reason)) {
          throw new Fault('invalid_request', `--reason wants one line of 1 to ${REASON_MAX} characters`, {
            field: 'reason',
          });
        }
        const host = parseHostname(name);
        const hidden = store.records.optOut(host, reason, 'cli', now());
        say(options.json, { hostname: host.hostname, hidden }, [
          `${host.hostname} and all below it are opted out; ${hidden.length} watched names went out of sight`,
        ]);
      }),
    );
}

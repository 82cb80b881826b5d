import type { Command } from 'commander';
import { parseHostname } from '../records/hostname.ts';
import { optOutReason } from '../records/require-host.ts';
import { plural } from '../shared/plural.ts';
import { printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

const SAID = {
  added: 'is under watch',
  already: 'was already under watch',
  resumed: 'is under watch again',
  opted_out: 'has opted out and is not probed',
};

export function watch(): Command {
  return new DataCommand('watch')
    .description('put hostnames under watch; they are probed at once')
    .argument('<hostname...>', 'such as example.org')
    .option('--json', 'print the outcomes as JSON')
    .onAnyData(({ store, clock: { now } }, names: string[], options: { json?: boolean }) => {
      const outcomes = store.records.watch(names.map(parseHostname), now());
      printResult(
        options.json,
        outcomes,
        outcomes.map(({ hostname, outcome }) => `${hostname} ${SAID[outcome]}`),
      );
      if (outcomes.some(({ outcome }) => outcome === 'opted_out')) process.exitCode = 1;
    });
}

export function optOut(): Command {
  return new DataCommand('opt-out')
    .description('stop probing a hostname and its subdomains, and hide them everywhere; receipts stay')
    .argument('<hostname>', 'such as example.org')
    .requiredOption('--reason <text>', 'the reason, in one line')
    .option('--json', 'print {hostname, hidden}')
    .onAnyData(({ store, clock: { now } }, name: string, options: { reason: string; json?: boolean }) => {
      const reason = optOutReason(options.reason, '--reason');
      const host = parseHostname(name);
      const hidden = store.records.optOut(host, reason, 'cli', now());
      printResult(options.json, { hostname: host.hostname, hidden }, [
        `${host.hostname} and its subdomains are opted out; ${plural(hidden.length, 'watched name')} hidden`,
      ]);
    });
}

import { Command } from 'commander';
import { withAppContext } from '../app/context.ts';
import { readSettings } from '../env.ts';
import { parseHostname } from '../records/hostname.ts';
import { printResult } from '../terminal/output.ts';

const SAID = {
  added: 'is under watch',
  already: 'was already under watch',
  resumed: 'is under watch again',
  opted_out: 'has opted out and is not probed',
};

export function command(): Command {
  return new Command('watch')
    .description('put hostnames under watch; they are probed at once')
    .argument('<hostname...>', 'such as example.org')
    .option('--json', 'print the outcomes as JSON')
    .action((names: string[], options: { json?: boolean }) =>
      withAppContext(readSettings(), ({ store, now }) => {
        const outcomes = store.records.watch(names.map(parseHostname), now());
        printResult(
          options.json,
          outcomes,
          outcomes.map(({ hostname, outcome }) => `${hostname} ${SAID[outcome]}`),
        );
        if (outcomes.some(({ outcome }) => outcome === 'opted_out')) process.exitCode = 1;
      }),
    );
}

import { Command } from 'commander';
import { parseHostname } from '../records/hostname.ts';
import { say, withAppContext } from './run.ts';

const SAID = {
  added: 'is under watch',
  already: 'was under watch before',
  resumed: 'is under watch again',
  opted_out: 'opted out, and is not looked at',
};

export function command(): Command {
  return new Command('watch')
    .description('put hostnames under watch; they are due at once')
    .argument('<hostname...>')
    .option('--json', 'print the outcomes as JSON')
    .action((names: string[], options: { json?: boolean }) =>
      withAppContext(({ store, now }) => {
        const outcomes = store.records.watch(names.map(parseHostname), now());
        say(
          options.json,
          outcomes,
          outcomes.map(({ hostname, outcome }) => `${hostname} ${SAID[outcome]}`),
        );
        if (outcomes.some(({ outcome }) => outcome === 'opted_out')) process.exitCode = 1;
      }),
    );
}

import { Command } from 'commander';
import type { AppContext } from '../app/context.ts';
import { requirePaper } from '../app/context.ts';
import { Fault } from '../fault.ts';
import type { Address } from '../readers/address.ts';
import { readAddress } from '../readers/address.ts';
import { dossierOf, erase, suppress } from '../readers/dossier.ts';
import { dossierRecord } from '../readers/record.ts';
import { say, withAppContext } from './run.ts';
import { shownJson } from './terminal.ts';

export function command(): Command {
  return new Command('reader')
    .description('what a paper keeps of one mail address')
    .addCommand(
      verb('export', 'print everything that is kept of an address, as JSON', ({ app, paper, address }) => {
        const { sections } = app.store.archive(paper).paper();
        const record = dossierRecord(address.email, dossierOf(app.store.readers, paper, address), sections);
        process.stdout.write(`${shownJson(record, 2)}\n`);
      }),
    )
    .addCommand(
      verb('erase', 'forget an address; that it had unsubscribed stays known, by a hash', (asked) => {
        erase(asked.app.store, asked.paper, asked.address);
        say(false, null, [`${asked.paper} keeps nothing of ${asked.address.email} any more`]);
      }),
    )
    .addCommand(
      verb('suppress', 'end what an address gets; a new order has it asked, once in 30 days', (asked) => {
        const { app, paper, address, complained } = asked;
        suppress(app.store, paper, address, { reason: complained ? 'complained' : 'by_hand', now: app.now() });
        say(false, null, [
          `${asked.paper} does not write to ${asked.address.email}; its reader’s own confirmation lifts that`,
        ]);
      }).option('--complained', 'the reader called a mail spam, as the provider of the mail server tells'),
    );
}

interface Asked {
  app: AppContext;
  paper: string;
  address: Address;
  complained: boolean;
}

function verb(name: string, description: string, work: (asked: Asked) => void): Command {
  return new Command(name)
    .description(description)
    .argument('<email>')
    .requiredOption('--paper <slug>', 'the paper')
    .action((email: string, { paper, complained = false }: { paper: string; complained?: boolean }) =>
      withAppContext((app) => {
        requirePaper(app, paper);
        const address = readAddress(email);
        if ('problem' in address) {
          throw new Fault(
            'invalid_request',
            `${JSON.stringify(email.slice(0, 80))} ${address.problem}; give a mail address`,
          );
        }
        work({ app, paper, address, complained });
      }),
    );
}

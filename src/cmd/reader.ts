import { Command } from 'commander';
import { recordCommand } from '../desk/papers/record-command.ts';
import { requirePaper } from '../desk/papers/require-paper.ts';
import { dossierOf, dossierRecord, erase, suppress } from '../desk/readers/subscribe.ts';
import type { AppContext } from '../server/context.ts';
import { Fault } from '../shared/fault.ts';
import { type Address, readAddress } from '../shared/outbound/mail-address.ts';
import { printableJson, printResult } from '../shared/terminal/output.ts';
import { DataCommand } from './frame.ts';

export function command(): Command {
  return new Command('reader')
    .description('what a paper stores about a mail address')
    .addCommand(
      verb('export', 'print everything that is stored about an address, as JSON', ({ app, paper, address }) => {
        const { sections } = app.store.desk.archive(paper).paper();
        const record = dossierRecord(address.email, dossierOf(app.store.desk.readers, paper, address), sections);
        process.stdout.write(`${printableJson(record, 2)}\n`);
      }),
    )
    .addCommand(
      verb('erase', 'erase an address; only a hash remembers that it unsubscribed', (asked) => {
        asked.app.store.database.transact(() => {
          erase(asked.app.store.desk, asked.paper, asked.address, asked.app.clock.now());
          recordCommand(asked.app, asked.paper, { action: 'subscriber.erased' });
        });
        printResult(false, null, [`${asked.paper} no longer stores anything about ${asked.address.email}`]);
      }),
    )
    .addCommand(
      verb(
        'suppress',
        'stop all mail to an address; to subscribe again it must confirm, and is asked at most once in 30 days',
        (asked) => {
          const reason = asked.complained ? 'complained' : 'by_hand';
          asked.app.store.database.transact(() => {
            suppress(asked.app.store.desk, asked.paper, asked.address, { reason, now: asked.app.clock.now() });
            recordCommand(asked.app, asked.paper, { action: 'subscriber.suppressed', detail: { reason } });
          });
          printResult(false, null, [
            `${asked.paper} no longer writes to ${asked.address.email} until the reader confirms a new subscription`,
          ]);
        },
      ).option('--complained', 'the reader reported a mail as spam to the mail provider'),
    );
}

interface Asked {
  app: AppContext;
  paper: string;
  address: Address;
  complained: boolean;
}

function verb(name: string, description: string, work: (asked: Asked) => void): Command {
  return new DataCommand(name)
    .description(description)
    .argument('<email>', 'the reader’s mail address')
    .requiredOption('--paper <slug>', 'the paper')
    .onData((app, email: string, { paper, complained = false }: { paper: string; complained?: boolean }) => {
      requirePaper(app, paper);
      const address = readAddress(email);
      if ('problem' in address) {
        throw new Fault(
          'invalid_request',
          `${JSON.stringify(email.slice(0, 80))} ${address.problem}; give a mail address such as ana@example.org`,
        );
      }
      work({ app, paper, address, complained });
    });
}
